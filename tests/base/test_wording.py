from widenet.base.wording import LONGEST, counted, listed, natural_key, near_names, shown


def test_values_are_shown_on_one_line_without_control_characters():
    assert shown("a\nb\x1b[31m") == r"'a\nb\x1b[31m'"
    assert len(shown("x" * 1000)) <= LONGEST + 2


def test_lists_are_kept_short():
    assert listed("abc", limit=2) == "'a', 'b' and 1 more"


def test_near_names():
    assert near_names("Speceis", ("species", "width")) == "did you mean 'species'?"
    assert near_names("zzz", ("species", "width")) == "there are 'species', 'width'."


def test_numbers_sort_by_value():
    words = ["b", "a10", "a9", "10", "9", "a", "²"]
    assert sorted(words, key=natural_key) == ["9", "10", "a", "a9", "a10", "b", "²"]


def test_counted():
    assert counted(1, "row") == "1 row"
    assert counted(2000, "row") == "2,000 rows"
