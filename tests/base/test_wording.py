import math

import pytest

from widenet.base.wording import (
    LONGEST,
    counted,
    duration,
    listed,
    memory,
    natural_key,
    near_names,
    number,
    percent,
    shown,
)


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
    alike = ["0.1 ppm", "0.01 ppm", "0.001 ppm"]  # the same numbers around the point
    assert len({natural_key(word) for word in alike}) == len(alike)


def test_counted():
    assert counted(1, "row") == "1 row"
    assert counted(2000, "row") == "2,000 rows"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.38020, "0.38"),
        (3.86154, "3.86"),
        (-12.34, "-12.3"),
        (999.7, "1,000"),
        (999.4, "999"),
        (1234.5, "1,234"),
        (9876543.0, "9,876,543"),
        (1.5e9, "1.5e+09"),
        (0.000315, "0.000315"),
        (3.15e-7, "3.2e-07"),
        (math.inf, "unbounded"),
        (math.nan, "undefined"),
    ],
)
def test_number(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0%"),
        (0.01, "1%"),
        (0.012, "1.2%"),
        (0.004, "0.4%"),
        (0.123, "12%"),
        (0.9964, "99.6%"),
        (1.0, "100%"),
        (1e-9, "less than 0.001%"),
    ],
)
def test_percent(share, text):
    assert percent(share) == text


def test_memory_and_duration():
    assert [memory(n) for n in (512, 2048, 3 * 2**20, 1000 * 2**20, 20 * 2**30)] == [
        "512 bytes",
        "2 KiB",
        "3 MiB",
        "1000 MiB",
        "20 GiB",
    ]
    assert [duration(s) for s in (0.01, 4.25, 42.3, 300, 9000)] == [
        "less than 0.1 seconds",
        "4.2 seconds",
        "42 seconds",
        "5 minutes",
        "2.5 hours",
    ]
