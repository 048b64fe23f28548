"""Paired tests, ranks and wins against scipy and against their definitions."""

import numpy as np
import pytest
from scipy import stats

from widenet.compare.significance import average_ranks, corrected_t_test, holm, paired_tests, wins


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


def test_no_variation():
    assert corrected_t_test([0.0, 0.0, 0.0], 0.25)[3] == 1.0
    assert corrected_t_test([0.5, 0.5, 0.5], 0.25)[3] == 0.0


def brute_holm(p_values):
    """Reject the smallest at level/m, the next at level/(m − 1), ...; the least level that rejects each."""
    adjusted = []
    for p in p_values:
        levels = np.linspace(0, 1, 20001)
        rejected = []
        for level in levels:
            ordered, kept = sorted(p_values), set()
            for rank, value in enumerate(ordered):
                if value > level / (len(ordered) - rank):
                    break
                kept.add(value)
            rejected.append(p in kept)
        adjusted.append(levels[rejected.index(True)] if True in rejected else 1.0)
    return adjusted


def test_holm_against_its_definition():
    p_values = [0.04, 0.001, 0.3, 0.02, 0.021]
    assert holm(p_values) == pytest.approx(brute_holm(p_values), abs=1e-4)
    assert holm([]) == []


def test_pairs_are_corrected_together():
    base = [0.1, 0.2, 0.15, 0.12, 0.18]
    close = [0.11, 0.19, 0.16, 0.12, 0.17]
    far = [1.1, 1.21, 1.15, 1.13, 1.18]
    near_test, far_test = paired_tests([("close", close, "base", base), ("far", far, "base", base)], 0.25)
    assert not near_test.significant
    assert far_test.significant
    assert far_test.adjusted == pytest.approx(2 * far_test.p)
    assert near_test.adjusted == pytest.approx(near_test.p)
    assert far_test.difference == pytest.approx(np.mean(far) - np.mean(base))


def test_ranks_and_wins_share_ties():
    errors = np.array([[0.1, 0.3, 0.2], [0.1, 0.1, 0.3], [0.4, 0.2, 0.1]])
    assert average_ranks(errors) == pytest.approx([(1.5 + 3 + 2) / 3, (1.5 + 1 + 3) / 3, (3 + 2 + 1) / 3])
    assert wins(errors).tolist() == [1, 2, 1]
