from widenet.report.parts.quantities import literal, row_list


def test_names_are_on_one_line_and_cut():
    assert literal("a\x1b[31m\nb") == "a\\x1b[31m\\nb"
    assert literal("naïve 猫") == "naïve 猫"
    assert literal("x" * 61) == "x" * 59 + "…"
    assert len(literal("\n" * 61)) <= 61


def test_row_list():
    assert row_list((3,), 5) == "3"
    assert row_list((3, 17, 40), 5) == "3, 17 and 40"
    assert row_list(tuple(range(1, 9)), 5) == "1, 2, 3, 4, 5 and 3 more"
