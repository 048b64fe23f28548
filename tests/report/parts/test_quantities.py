from widenet.report.parts.quantities import literal, rounded_down, rounded_up, row_list


def test_names_are_on_one_line_and_cut():
    assert literal("a\x1b[31m\nb") == "a\\x1b[31m\\nb"
    assert literal("naïve 猫") == "naïve 猫"
    assert literal("x" * 61) == "x" * 59 + "…"
    assert len(literal("\n" * 61)) <= 61


def test_row_list():
    assert row_list((3,), 5) == "3"
    assert row_list((3, 17, 40), 5) == "3, 17 and 40"
    assert row_list(tuple(range(1, 9)), 5) == "1, 2, 3, 4, 5 and 3 more"


def test_bounds_are_rounded_to_the_side_on_which_they_hold():
    assert rounded_down(0.72727, 2) == "0.72"
    assert rounded_down(4.999992e-06) == "4.99e-06"
    assert rounded_up(0.8123451, 6) == "0.812346"
    assert rounded_down(1234.9, 3) == "1.23e+03"
    assert (rounded_down(0.5), rounded_up(0.5), rounded_down(0.0)) == ("0.5", "0.5", "0")
