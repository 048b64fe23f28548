"""Paired tests, ranks and wins against scipy and against their definitions."""

import itertools

import numpy as np
import pytest
from scipy import stats

from widenet.compare.significance import (
    Finding,
    FoldRows,
    average_ranks,
    corrected_t_test,
    counting_variance,
    division_error,
    finding_of,
    fold_interval,
    paired_tests,
    wins,
)


def test_without_overlap_it_is_the_paired_t_test():
    rng = np.random.default_rng(0)
    first, second = rng.normal(1.0, 1.0, size=12), rng.normal(0.5, 1.0, size=12)
    expected = stats.ttest_rel(first, second)
    interval = expected.confidence_interval(0.95)
    found = corrected_t_test(first - second, test_share=0.0)
    assert found == pytest.approx((np.mean(first - second), interval.low, interval.high, expected.pvalue))


def test_overlap_widens_the_variance():
    differences = np.random.default_rng(1).normal(0.3, 1.0, size=10)
    mean, low, high, p = corrected_t_test(differences, test_share=0.25)
    error = np.std(differences, ddof=1) * np.sqrt(1 / 10 + 1 / 4)
    assert p == pytest.approx(2 * stats.t.cdf(-abs(mean) / error, df=9))
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, 9) * error)


def test_equal_differences_are_no_certainty():
    """They tell nothing of the spread, so the difference is not known to the last digit."""
    assert corrected_t_test([0.0, 0.0, 0.0], 0.25) == (0.0, 0.0, 0.0, 1.0)
    mean, low, high, p = corrected_t_test([0.5, 0.5, 0.5], 0.25)
    assert mean == 0.5
    assert low < 0 < high
    assert p > 0.05


def test_a_row_more_in_each_of_five_small_folds_is_not_significant():
    """An exact sign test of 5 rows that all differ in one direction has p = 1/16."""
    rows = FoldRows(train=24, test=6, counted=True)
    *_, p = fold_interval([1 / 6] * 5, rows)
    assert p > stats.binomtest(0, 5).pvalue > 0.05


@pytest.mark.parametrize(("folds", "repeats"), [(5, 1), (10, 1), (2, 1), (5, 10), (100, 1)])
@pytest.mark.parametrize("level", [0.05, 0.025])
def test_no_difference_on_n_rows_leaves_the_share_open_that_an_exact_interval_does(folds, repeats, level):
    n = 1000
    rows = FoldRows(train=n - n // folds, test=n // folds, counted=True)
    mean, low, high, p = fold_interval([0.0] * (folds * repeats), rows, level)
    exact = stats.binomtest(0, n).proportion_ci(1 - level).high
    assert (mean, p) == (0.0, 1.0)
    assert high == -low >= 0.97 * exact


def test_the_counting_variance_is_the_least_of_all_rows_with_that_mean():
    rows = FoldRows(train=8, test=4, counted=True)
    for values in itertools.product((-1, 0, 1), repeat=4):
        mean = np.mean(values)
        if abs(mean) >= 3 / 12:
            assert counting_variance(mean, rows) <= np.var(values) / 4 + 1e-12
    assert counting_variance(0.5, rows) == pytest.approx(np.var([1, 1, 0, 0]) / 4)


def test_shares_stay_between_minus_one_and_one():
    rows = FoldRows(train=10, test=10, counted=True)
    assert fold_interval([0.1, 0.9], rows)[1:3] == (-1.0, 1.0)


def test_pairs_are_corrected_together_and_intervals_agree_with_p():
    base = [0.1, 0.2, 0.15, 0.12, 0.18]
    close = [0.11, 0.19, 0.16, 0.12, 0.17]
    far = [1.1, 1.21, 1.15, 1.13, 1.18]
    rows = FoldRows(train=80, test=20, counted=False)
    near_test, far_test = paired_tests([("close", close, "base", base), ("far", far, "base", base)], rows)
    assert not near_test.significant
    assert far_test.significant
    assert far_test.adjusted == pytest.approx(2 * far_test.p)
    assert near_test.adjusted == pytest.approx(min(1.0, 2 * near_test.p))
    assert far_test.difference == pytest.approx(np.mean(far) - np.mean(base))
    differences = np.subtract(far, base)
    error = np.std(differences, ddof=1) * np.sqrt(1 / 5 + 1 / 4)
    assert far_test.joint_high - far_test.difference == pytest.approx(stats.t.ppf(1 - 0.025 / 2, 4) * error)
    assert far_test.high - far_test.difference == pytest.approx(stats.t.ppf(0.975, 4) * error)


def test_the_joint_interval_leaves_0_out_exactly_where_the_adjusted_p_is_below_the_level():
    rng, rows = np.random.default_rng(0), FoldRows(train=80, test=20, counted=True)
    found = set()
    for _ in range(60):
        shift, base = rng.uniform(0, 0.2), rng.binomial(20, 0.3, size=5) / 20
        pairs = [(name, rng.binomial(20, 0.3 + shift, size=5) / 20, "base", base) for name in "abc"]
        for test in paired_tests(pairs, rows):
            assert test.significant == (test.joint_low > 0 or test.joint_high < 0)
            assert test.joint_low <= test.low <= test.difference <= test.high <= test.joint_high
            found.add(test.significant)
    assert found == {True, False}


def test_rounding_errors_are_no_difference():
    rows = FoldRows(train=80, test=20, counted=False, rounding=1e-12)
    (test,) = paired_tests([("a", [1e-15, 2e-15, 3e-15], "b", [0.0, 0.0, 0.0])], rows)
    assert test.same
    assert (test.difference, test.adjusted) == (0.0, 1.0)


def test_ranks_and_wins_share_ties():
    errors = np.array([[0.1, 0.3, 0.2], [0.1, 0.1, 0.3], [0.4, 0.2, 0.1]])
    assert average_ranks(errors) == pytest.approx([(1.5 + 3 + 2) / 3, (1.5 + 1 + 3) / 3, (3 + 2 + 1) / 3])
    assert wins(errors).tolist() == [1, 2, 1]


def test_the_error_of_divisions_is_that_of_a_mean():
    """Against the interval that scipy has for the mean of the divisions."""
    rng = np.random.default_rng(0)
    divisions = rng.normal(0.1, 0.02, size=(4, 5))
    rows = FoldRows(80, 20, counted=False, folds=5)
    expected = stats.ttest_1samp(divisions.mean(axis=1), 0.0).confidence_interval(0.8)
    found = division_error(divisions.flatten().tolist(), rows)
    assert found == pytest.approx((expected.high - expected.low) / 2)


@pytest.mark.slow
def test_the_mean_over_all_divisions_is_within_its_error_in_80_percent():
    rng = np.random.default_rng(0)
    rows, inside = FoldRows(80, 20, counted=False, folds=5), 0
    for _ in range(2000):
        values = rng.normal(0.1, 0.02, size=(3, 1)) + np.zeros((3, 5))
        inside += abs(values.mean() - 0.1) <= division_error(values.flatten().tolist(), rows)
    assert inside / 2000 == pytest.approx(0.8, abs=0.03)


def test_one_division_has_no_error_and_equal_ones_that_of_a_row():
    assert division_error([0.1] * 5, FoldRows(80, 20, counted=True, folds=5)) is None
    assert division_error([0.1] * 5, FoldRows(80, 20, counted=True)) is None
    quantile = stats.t(1).ppf(0.9)
    found = division_error([0.1] * 10, FoldRows(80, 20, counted=True, folds=5))
    assert found == pytest.approx(quantile * 0.01 / 2**0.5)


@pytest.mark.parametrize(
    ("difference", "error", "finding"),
    [
        (-0.3, 0.05, Finding.BETTER),
        (0.3, 0.05, Finding.WORSE),
        (0.3, 0.15, Finding.OPEN),
        (-0.18, 0.05, Finding.OPEN),
        (0.1, 0.05, Finding.NOT_SHOWN),
        (-0.1, None, Finding.NOT_SHOWN),
        (-0.21, None, Finding.BETTER),
    ],
)
def test_a_finding_is_what_other_divisions_would_find(difference, error, finding):
    assert finding_of(difference, 0.2, error) is finding


def test_significance_and_finding_agree_where_rows_were_divided_once():
    rng = np.random.default_rng(1)
    for shift in np.linspace(-0.2, 0.2, 21):
        own, other = rng.normal(0.3 + shift, 0.05, size=5), rng.normal(0.3, 0.05, size=5)
        for counted in (True, False):
            (test,) = paired_tests([("a", own, "b", other)], FoldRows(80, 20, counted=counted))
            assert test.significant == (test.finding is not Finding.NOT_SHOWN)
