"""Errors as people read them."""

import math
from dataclasses import replace

import pytest

from widenet.report.audit.words import best_constant, spoken_error, told_curve, told_error, twice_the_rows


def test_classes_have_shares(result_of):
    result = result_of("binary")
    known = told_error(result, result.chosen.loo)
    assert (known.value, known.deviation, known.constant) == (0.025, 0.003, 0.5)
    assert (
        told_curve(result, result.chosen.learning_curve).middle == result.chosen.learning_curve.misclassified
    )


def test_numbers_have_roots_in_the_units_of_the_data(result_of):
    result = result_of("regression")
    known = told_error(result, result.chosen.loo)
    assert known.value == pytest.approx(7 * math.sqrt(0.1))
    assert best_constant(result) == known.constant == 7.0
    step = 1e-6  # the standard error is carried over by the root's slope
    slope = (math.sqrt(0.1 + step) - math.sqrt(0.1 - step)) / (2 * step)
    assert known.deviation == pytest.approx(7 * slope * 0.02)
    curve = result.chosen.learning_curve
    for values, squared in zip(
        vars(told_curve(result, curve)).values(),
        (curve.error, curve.error_low, curve.error_high),
        strict=True,
    ):
        assert values == pytest.approx([7 * math.sqrt(error) for error in squared])


def test_errors_in_units_have_three_digits(result_of):
    result = result_of("regression")
    told = [spoken_error(result, error) for error in (0.0123456, 2.2136, 999.7, 214755.3, 21475530.0, 2e13)]
    assert told == ["0.0123", "2.21", "1,000", "215,000", "21,500,000", "2.0e+13"]


def test_twice_the_rows_and_today(result_of):
    ahead = twice_the_rows(result_of("multiclass"))
    assert (ahead.n, ahead.now, ahead.error, ahead.helps) == (120, 0.1, 0.05, True)


def test_an_unknown_error_stays_unknown(result_of):
    result = result_of("regression")
    assert told_error(result, replace(result.chosen.loo, error=None)) is None
    exact = told_error(result, replace(result.chosen.loo, error=0.0, standard_error=0.0))
    assert (exact.value, exact.deviation) == (0.0, 0.0)
