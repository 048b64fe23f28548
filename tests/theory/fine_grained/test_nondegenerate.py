"""Definition 5.1: limits that hold as often as they say, and λ₀ on data."""

import math

import numpy as np
import pytest
import torch

from widenet.theory.fine_grained.nondegenerate import clopper_pearson, definition_5_1, fewest_trials
from widenet.theory.fine_grained.rows import h_infinity, independent_samples


def tail(p: float, trials: int, most: int) -> float:
    """P(at most `most` failures), summed."""
    return sum(math.comb(trials, f) * p**f * (1 - p) ** (trials - f) for f in range(most + 1))


@pytest.mark.parametrize(("failures", "trials"), [(0, 20), (3, 20), (19, 20)])
def test_limits_are_where_the_binomial_has_them(failures, trials):
    low, high = clopper_pearson(failures, trials, 0.9)
    assert tail(high, trials, failures) == pytest.approx(0.1)
    if failures:
        assert 1 - tail(low, trials, failures - 1) == pytest.approx(0.1)
    assert clopper_pearson(20, 20, 0.9)[1] == 1.0
    assert clopper_pearson(0, 20, 0.9)[0] == 0.0


@pytest.mark.parametrize("p", [0.02, 0.3, 0.9])
def test_limits_hold_as_often_as_they_say(p):
    """The coverage by all outcomes of 30 trials: never below the confidence."""
    chances = [math.comb(30, f) * p**f * (1 - p) ** (30 - f) for f in range(31)]
    limits = [clopper_pearson(f, 30, 0.8) for f in range(31)]
    assert sum(chance for chance, (_, high) in zip(chances, limits, strict=True) if high >= p) >= 0.8
    assert sum(chance for chance, (low, _) in zip(chances, limits, strict=True) if low <= p) >= 0.8


def test_fewest_trials():
    for delta, confidence in ((0.05, 0.95), (0.3, 0.99)):
        T = int(fewest_trials(delta, confidence))
        assert clopper_pearson(0, T, confidence)[1] <= delta < clopper_pearson(0, T - 1, confidence)[1]


def test_failures_are_counted_as_they_are():
    """A λ₀ at the median of λ_min over the same samples fails half of them."""
    generator = torch.Generator().manual_seed(3)
    smallest = sorted(
        float(torch.linalg.eigvalsh(h_infinity(X))[0])
        for X in independent_samples("three-sines", 15, 40, generator=generator)
    )
    middle = (smallest[19] + smallest[20]) / 2
    found = definition_5_1("three-sines", 15, middle, num_samples=40, seed=3)
    assert found.terms["with λ_min < λ₀ as computed"] == 20
    assert found.terms["with λ_min ≥ λ₀ proven"] == 20
    assert found.terms["smallest λ_min"] == pytest.approx(smallest[0])
    assert found.value == pytest.approx(clopper_pearson(20, 40, 0.95)[1])
    assert found.applies is False


def test_the_limit_covers_what_fresh_samples_show():
    few = definition_5_1("three-sines", 10, 0.03, num_samples=60, seed=1)
    many = definition_5_1("three-sines", 10, 0.03, num_samples=300, seed=2)
    share = many.terms["with λ_min < λ₀ as computed"] / 300
    assert few.terms["δ at least"] < share < few.value


def test_enough_samples_without_failure_are_inside():
    found = definition_5_1("three-sines", 8, 1e-6, num_samples=59)
    assert found.applies
    assert found.value <= 0.05
    assert definition_5_1("three-sines", 8, 1e-6, num_samples=58).applies is False


def test_repeated_rows_fail(tmp_path):
    rows = np.random.default_rng(0).normal(size=(20, 3))
    path = tmp_path / "twice.npz"
    np.savez(path, X=np.concatenate([rows, rows]), y=np.arange(40.0))
    found = definition_5_1(str(path), 40, 1e-9)
    assert found.terms["samples"] == 1
    assert found.terms["with λ_min ≥ λ₀ proven"] == 0
    assert found.value == 1.0
