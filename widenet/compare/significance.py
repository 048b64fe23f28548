"""Is the difference real? Paired tests on the folds that allow for their overlapping training parts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata, t as student

LEVEL = 0.05


@dataclass(frozen=True)
class PairedTest:
    """Whether the errors of two methods differ by more than chance.

    Attributes:
        first: Name of a method or family.
        second: Name of the other.
        difference: Mean over the folds of the error of the first minus that of the second.
        low: Lower end of its 95% interval.
        high: Upper end.
        p: Two-sided p-value of no difference.
        adjusted: The same, corrected by Holm for all tests that were made together.
        significant: Whether `adjusted` is below 5%.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    adjusted: float
    significant: bool


def corrected_t_test(differences: Sequence[float], test_share: float) -> tuple[float, float, float, float]:
    """The corrected resampled t-test [nadeau2003inference, equation 9].

    The J folds share most of their training rows, so their differences are correlated, and a plain t-test
    finds differences too often. With n1 rows to train on and n2 to test on, the variance of the mean is taken
    as (1/J + n2/n1) times that of a fold, with J − 1 degrees of freedom.

    Args:
        differences: Differences of the error on each of at least two folds.
        test_share: n2/n1.

    Returns:
        The mean, the ends of its 95% interval, and the two-sided p-value.
    """
    values = np.asarray(differences)
    mean = float(values.mean())
    error = float(values.std(ddof=1)) * math.sqrt(1 / len(values) + test_share)
    if error == 0:
        return mean, mean, mean, 1.0 if mean == 0 else 0.0
    reach = float(student.ppf(1 - LEVEL / 2, len(values) - 1)) * error
    return mean, mean - reach, mean + reach, float(2 * student.sf(abs(mean) / error, len(values) - 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values: rejecting those below a level is wrong anywhere at most that often [holm1979]."""
    order = np.argsort(p_values, kind="stable")
    adjusted, largest = [0.0] * len(order), 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def paired_tests(
    pairs: Sequence[tuple[str, Sequence[float], str, Sequence[float]]], test_share: float
) -> tuple[PairedTest, ...]:
    """Tests of pairs (name, errors on the folds, other name, its errors), corrected together."""
    found = [
        corrected_t_test([one - two for one, two in zip(first, second, strict=True)], test_share)
        for _, first, _, second in pairs
    ]
    adjusted = holm([p for *_, p in found])
    return tuple(
        PairedTest(first, second, *values, corrected, corrected < LEVEL)
        for (first, _, second, _), values, corrected in zip(pairs, found, adjusted, strict=True)
    )


def average_ranks(errors: np.ndarray) -> np.ndarray:
    """Mean rank of each method over the folds, 1 the best, ties sharing theirs; errors (methods, folds)."""
    return rankdata(errors, axis=0).mean(axis=1)


def wins(errors: np.ndarray) -> np.ndarray:
    """On how many folds no other method has a smaller error; ties count for all of them."""
    return (errors == errors.min(axis=0)).sum(axis=1)
