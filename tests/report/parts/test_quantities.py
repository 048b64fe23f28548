import math

import pytest

from widenet.report.parts.quantities import duration, literal, memory, number, percent, row_list


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


def test_names_are_on_one_line_and_cut():
    assert literal("a\x1b[31m\nb") == "a\\x1b[31m\\nb"
    assert literal("naïve 猫") == "naïve 猫"
    assert literal("x" * 61) == "x" * 59 + "…"
    assert len(literal("\n" * 61)) <= 61


def test_row_list():
    assert row_list((3,), 5) == "3"
    assert row_list((3, 17, 40), 5) == "3, 17 and 40"
    assert row_list(tuple(range(1, 9)), 5) == "1, 2, 3, 4, 5 and 3 more"
