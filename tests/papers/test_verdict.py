"""Verdicts from numbers on both sides, within the margin, missing, and with seeds that disagree."""

import math

import pytest

from widenet.papers.verdict import Check, Verdict, agreed, compared, together

HELD, NOT_HELD, NOT_DECIDED = Verdict.HELD, Verdict.NOT_HELD, Verdict.NOT_DECIDED


@pytest.mark.parametrize(
    ("smaller", "larger", "verdict"),
    [
        ((1.0, 1.5), (2.0, 2.0), HELD),
        ((2.5, 3.0), (2.0, 2.0), NOT_HELD),
        ((1.0, 3.0), (2.0, 2.0), NOT_DECIDED),  # seeds disagree
        ((1.0, 1.9), (2.0, 2.0), NOT_DECIDED),  # one seed within the margin below
        ((2.5, 2.1), (2.0, 2.0), NOT_DECIDED),  # one seed within the margin above
        ((1.0, 1.0), (1.1, 1.1), HELD),  # exactly the margin
        ((1.1, 1.1), (1.0, 1.0), NOT_HELD),
        ((1.0,), (2.0,), NOT_DECIDED),  # one seed agrees with itself
        ((), (), NOT_DECIDED),
        ((1.0, math.nan), (2.0, 2.0), NOT_DECIDED),
        ((1.0, 1.0), (2.0, math.nan), NOT_DECIDED),
        ((1.0, 1.0), (math.inf, math.inf), NOT_DECIDED),  # what it is compared with diverged: a bad grid
        ((math.inf, math.inf), (1.0, 1.0), NOT_HELD),
        ((math.inf, math.inf), (math.inf, math.inf), NOT_DECIDED),
        ((0.0, 0.0), (0.0, 0.0), NOT_DECIDED),
        ((0.0, 0.0), (1e-9, 1e-9), HELD),
    ],
)
def test_numbers_on_both_sides(smaller, larger, verdict):
    assert compared(smaller, larger, margin=0.1) is verdict


def test_what_no_draw_decides_needs_no_second_seed():
    assert compared((1.0,), (2.0,), margin=0.1, fewest=1) is HELD
    check = Check("a", "b", (1.0,), (1.0,), (2.0,), (2.0,), is_random=False)
    assert check.verdict(0.1, at_last=False) is HELD


def test_above_is_below_the_other_way_round():
    values, bounds = (3.0, 4.0), (2.0, 2.0)
    below = Check("a", "b", values, values, bounds, bounds)
    above = Check("a", "b", values, values, bounds, bounds, is_below=False)
    assert below.verdict(0.1, at_last=False) is NOT_HELD
    assert above.verdict(0.1, at_last=False) is HELD


def test_best_and_last_epochs_are_judged_apart():
    check = Check("a", "b", (1.0, 1.0), (3.0, 3.0), (2.0, 2.0), (2.0, 2.0))
    assert check.verdict(0.1, at_last=False) is HELD
    assert check.verdict(0.1, at_last=True) is NOT_HELD


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ((HELD, HELD), HELD),
        ((HELD, NOT_DECIDED), NOT_DECIDED),
        ((HELD, NOT_DECIDED, NOT_HELD), NOT_HELD),
        ((), NOT_DECIDED),
    ],
)
def test_a_claim_of_several_parts(parts, verdict):
    assert together(parts) is verdict


def test_epochs_that_differ_leave_it_undecided():
    assert agreed(HELD, HELD) is HELD
    assert agreed(NOT_HELD, NOT_HELD) is NOT_HELD
    assert agreed(HELD, NOT_HELD) is NOT_DECIDED
    assert agreed(HELD, NOT_DECIDED) is NOT_DECIDED
