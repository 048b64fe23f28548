"""Is the difference real? Paired tests on the folds that allow for their overlapping training parts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from scipy.stats import norm, rankdata, t as student

LEVEL = 0.05
DIVISION_LEVEL = 0.1  # on either side, by which other divisions may be further off
RULE_OF_THREE = 3.0  # where none of n rows differs, a share of 3/n may still differ, with 95% confidence
SAME = 1e-9  # spread of the folds, as a share of their mean, below which it is a rounding error


@dataclass(frozen=True)
class FoldRows:
    """What the errors on the folds are made of."""

    train: int  # n1, rows to train on
    test: int  # n2, rows to test on
    counted: bool  # whether an error is a share of rows, as misclassified rows are
    rounding: float = 0.0  # differences of errors up to this are rounding errors
    folds: int | None = None  # of one division of the rows; None where they were divided once


class Finding(Enum):
    """What a test says of its first method beside the second."""

    BETTER = "better"
    WORSE = "worse"
    NOT_SHOWN = "not shown"  # the difference may be due to chance
    OPEN = "open"  # other divisions of the rows into folds could say otherwise


@dataclass(frozen=True)
class PairedTest:
    """Whether the errors of two methods differ by more than chance.

    `low`, `high` and `p` are of this test alone. `adjusted`, `joint_low` and `joint_high` allow for all tests
    that were made together (Bonferroni) and belong to each other: `adjusted` is below 5% exactly where the
    joint interval leaves 0 out.

    Attributes:
        first: Name of a method or family.
        second: Name of the other.
        difference: Mean over the folds of the error of the first minus that of the second.
        low: Lower end of its 95% interval.
        high: Upper end.
        p: Two-sided p-value of no difference.
        adjusted: The same, times the number of tests that were made together, and at most 1.
        joint_low: Lower end of its interval, when those of all these tests hold at once with 95% confidence.
        joint_high: Upper end.
        same: Whether the errors are equal on every fold.
        significant: Whether `adjusted` is below 5%.
        division_error: How far the difference may be, with 80% confidence, from its mean over all divisions
            of the rows into folds; None where they were divided once.
        finding: What the test says, if other divisions would say the same.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    adjusted: float
    joint_low: float
    joint_high: float
    same: bool
    significant: bool
    division_error: float | None
    finding: Finding


def corrected_t_test(
    differences: Sequence[float], test_share: float, *, level: float = LEVEL, least_variance: float = 0.0
) -> tuple[float, float, float, float]:
    """The corrected resampled t-test [nadeau2003inference, equation 9].

    The J folds share most of their training rows, so their differences are correlated, and a plain t-test
    finds differences too often. With n1 rows to train on and n2 to test on, the variance of the mean is taken
    as (1/J + n2/n1) times that of a fold, with J − 1 degrees of freedom. This assumes independent rows,
    differences that are nearly normal, and a correlation between folds of n2/(n1 + n2); for folds of repeated
    cross-validation it is the test of [bouckaert2004evaluating].

    Where a fold's variance is known to be at least v, a z-test with v is made as well, and of interval and
    p-value the more cautious is taken. Without v, equal differences would tell nothing of their spread, which
    is then taken to be as large as their mean.

    Args:
        differences: Differences of the error on each of at least two folds.
        test_share: n2/n1.
        level: The interval has a confidence of 1 − level.
        least_variance: v, 0 where none is known.

    Returns:
        The mean, the ends of its interval, and the two-sided p-value.
    """
    values = np.asarray(differences)
    mean, spread = float(values.mean()), float(values.std(ddof=1))
    if least_variance == 0 and spread <= SAME * abs(mean):
        spread = abs(mean)
    widening = math.sqrt(1 / len(values) + test_share)
    reach, p = 0.0, 1.0 if mean == 0 else 0.0
    for error, law in ((spread, student(len(values) - 1)), (math.sqrt(least_variance), norm)):
        if error > 0:
            reach = max(reach, float(law.ppf(1 - level / 2)) * widening * error)
            p = max(p, float(2 * law.sf(abs(mean) / (widening * error))))
    return mean, mean - reach, mean + reach, p


def counting_variance(mean: float, rows: FoldRows) -> float:
    """The least variance that the mean over n2 rows of −1, 0 and 1 can have, from its mean.

    Rows that average to δ differ in a share of at least |δ|, so each has a variance of at least |δ| − δ².
    The spread between few small folds is often less, by luck, or because classes have the same shares in all
    of them. Where |δ| is below 3/n, that share may still differ.
    """
    share = max(abs(mean), min(1.0, RULE_OF_THREE / (rows.train + rows.test)))
    return max(share - mean**2, 0.0) / rows.test


def fold_interval(
    values: Sequence[float], rows: FoldRows, level: float = LEVEL
) -> tuple[float, float, float, float]:
    """The corrected test of an error, or of a difference of errors: mean, ends of its interval, p-value."""
    share = rows.test / rows.train
    if not rows.counted:
        return corrected_t_test(values, share, level=level)
    least = counting_variance(float(np.mean(values)), rows)
    mean, low, high, p = corrected_t_test(values, share, level=level, least_variance=least)
    return mean, max(low, -1.0), min(high, 1.0), p


def division_error(differences: Sequence[float], rows: FoldRows) -> float | None:
    """How far the mean over R divisions into folds may lie from that over all divisions: t·s/√R.

    s is the standard deviation between the means of the divisions, and t the quantile of Student's law with
    R − 1 degrees of freedom that leaves 10% on either side. The division is our choice, not a part of the
    data, so what depends on it is not an answer. Of counted rows a division can always change one.

    Args:
        differences: Differences of the error on each fold, those of a division next to each other.
        rows: What they are made of.
    """
    num_folds = rows.folds or len(differences)
    num_divisions = len(differences) // num_folds
    if num_divisions < 2:
        return None
    means = np.asarray(differences).reshape(num_divisions, num_folds).mean(axis=1)
    least = 1 / (rows.train + rows.test) if rows.counted else 0.0
    quantile = float(student(num_divisions - 1).ppf(1 - DIVISION_LEVEL))
    return quantile * max(float(means.std(ddof=1)), least) / math.sqrt(num_divisions)


def finding_of(difference: float, reach: float, error: float | None) -> Finding:
    """What a difference says whose joint interval reaches so far to either side.

    It is open where the difference over all divisions could lie on the other side of what chance explains.
    """
    if error is not None and abs(abs(difference) - reach) <= error:
        return Finding.OPEN
    if abs(difference) <= reach:
        return Finding.NOT_SHOWN
    return Finding.BETTER if difference < 0 else Finding.WORSE


def paired_tests(
    pairs: Sequence[tuple[str, Sequence[float], str, Sequence[float]]], rows: FoldRows
) -> tuple[PairedTest, ...]:
    """Tests of pairs (name, errors on the folds, other name, its errors), corrected together.

    Bonferroni's correction and not Holm's: it has intervals that agree with it, and these tell the direction
    of a difference as surely as that there is one.
    """
    tests = []
    for first, own, second, other in pairs:
        differences = [one - two for one, two in zip(own, other, strict=True)]
        differences = [0.0 if abs(each) <= rows.rounding else each for each in differences]
        mean, low, high, p = fold_interval(differences, rows)
        adjusted = min(1.0, len(pairs) * p)
        _, joint_low, joint_high, _ = fold_interval(differences, rows, LEVEL / len(pairs))
        same, error = not any(differences), division_error(differences, rows)
        reach = max(joint_high - mean, mean - joint_low)  # the longer one, where the other is cut off at ±1
        tests.append(
            PairedTest(
                first=first,
                second=second,
                difference=mean,
                low=low,
                high=high,
                p=p,
                adjusted=adjusted,
                joint_low=joint_low,
                joint_high=joint_high,
                same=same,
                significant=adjusted < LEVEL,
                division_error=error,
                finding=Finding.NOT_SHOWN if same else finding_of(mean, reach, error),
            )
        )
    return tuple(tests)


def average_ranks(errors: np.ndarray) -> np.ndarray:
    """Mean rank of each method over the folds, 1 the best, ties sharing theirs; errors (methods, folds)."""
    return rankdata(errors, axis=0).mean(axis=1)


def wins(errors: np.ndarray) -> np.ndarray:
    """On how many folds no other method has a smaller error; ties count for all of them."""
    return (errors == errors.min(axis=0)).sum(axis=1)
