"""How well will it generalise? The bound, leave-one-out, and the error at other numbers of rows."""

import math
from statistics import mean

import torch
from torch import Tensor

from widenet.audit.findings import Bound, Complexity, Estimate, LeaveOneOutSummary, Outside
from widenet.audit.settings import DEFAULT_KERNEL
from widenet.audit.spectral import LabelSpectrum
from widenet.data.dataset import Dataset
from widenet.data.points import Points
from widenet.kernels.kernel import Kernel
from widenet.predict.learning_curve import (
    LearningCurve,
    constant_error,
    mistakes,
    predict_learning_curve,
    squared_errors,
)
from widenet.predict.loo import LeaveOneOut
from widenet.theory.fine_grained.bounds import generalisation_bound

DELTA = 0.01  # failure probability that the bound is stated for
MOST_UNKNOWN = 0.5  # share of an estimated error that its bar may take,
LITTLE = 0.01  # or share of the error of predicting the mean
GROWTH = (2, 4)  # multiples of n at which the learning curve is extrapolated


def unbiased_predictions(dataset: Dataset, points: Points, loo: LeaveOneOut) -> Tensor:
    """Leave-one-out predictions whose squared errors are right on average, shape (n, c).

    Where the precision is C (1 + e) about the C that is taken for it, the mean of the squared residual
    (α / (C (1 + e)))² is larger than (α / C)² by the factor 1 + 3 E[e²].
    """
    fitted = _fitted(dataset, points)
    return fitted + (loo.predictions - fitted) * (1 + 3 * loo.precision_error.square()).sqrt()[:, None]


def _fitted(dataset: Dataset, points: Points) -> Tensor:
    """What all rows would fit at each: ȳ, the mean target of its point, shape (n, c)."""
    return points.means(dataset.Y)[points.place]


def loo_summary(dataset: Dataset, points: Points, loo: LeaveOneOut | None) -> LeaveOneOutSummary:
    """Mean squared leave-one-out error and the share of rows misclassified, with their standard errors."""
    is_classes = dataset.labels is not None
    baseline, constant = (constant_error(dataset.Y, classes) for classes in (False, is_classes))
    if loo is None:
        return _untold(dataset.n, Estimate.NOT_CONVERGED, constant, baseline)
    errors = squared_errors(unbiased_predictions(dataset, points, loo), dataset.Y)
    error, error_bar = float(errors.mean()), _error_of_estimates(points, loo, errors)
    if not error_bar <= max(MOST_UNKNOWN * error, LITTLE * baseline):
        return _untold(dataset.n, Estimate.TOO_ROUGH, constant, baseline)
    wrong = mistakes(loo.predictions, dataset.Y) if is_classes else None
    auc, auc_error = _ranking(dataset, points, loo)
    return LeaveOneOutSummary(
        error=error,
        standard_error=points.mean_error(errors),
        error_bar=error_bar,
        misclassified=None if wrong is None else expected_share(dataset, points, loo),
        misclassified_standard_error=None if wrong is None else share_error(points, wrong),
        rows=dataset.n,
        method=Estimate.ESTIMATED if loo.sampling_error.any() else Estimate.CLOSED_FORM,
        constant=constant,
        baseline=baseline,
        auc=auc,
        auc_standard_error=auc_error,
    )


def _untold(n: int, method: Estimate, constant: float, baseline: float) -> LeaveOneOutSummary:
    return LeaveOneOutSummary(None, None, None, None, None, n, method, constant, baseline)


def _error_of_estimates(points: Points, loo: LeaveOneOut, errors: Tensor) -> float:
    """By how much the mean of squared errors (n,) may be off, because precisions C are estimated.

    By as much as samples of C scatter, and by all that `unbiased_predictions` add, because no row tells
    whether C is scattered as these assume.
    """
    sampled = 2 * points.sums((errors * loo.sampling_error)[:, None]).norm() / len(errors)
    return float(sampled + 3 * (errors * loo.precision_error.square()).mean())


def _ranking(dataset: Dataset, points: Points, loo: LeaveOneOut) -> tuple[float, float] | tuple[None, None]:
    """How the predictions rank two classes, where there are rows of both."""
    is_first = dataset.Y[:, 0] > 0
    if dataset.task != "binary" or is_first.all() or not is_first.any():
        return None, None
    return area_under_curve(points, loo.predictions[:, 0], is_first)


def area_under_curve(points: Points, scores: Tensor, is_first: Tensor) -> tuple[float, float]:
    """The share of pairs of the first class and the second that scores rank rightly, and its standard error.

    It is the mean over either class of the share of the other that a row is on the right side of, and varies
    by both [DeLong et al. 1988]; rows at one point vary together.

    Args:
        points: The points of the rows.
        scores: Higher for rows that look like the first class, shape (n,).
        is_first: Which rows are of it, bool, shape (n,); some, and not all.
    """
    first, second = scores[is_first], scores[~is_first]
    auc = _share_below(first, second).mean()
    spread = torch.empty_like(scores)
    spread[is_first] = (_share_below(first, second) - auc) * len(scores) / len(first)
    spread[~is_first] = (1 - _share_below(second, first) - auc) * len(scores) / len(second)
    return float(auc), points.mean_error(spread)


def _share_below(values: Tensor, others: Tensor) -> Tensor:
    """For each of the values (p,) the share of the others (q,) below it, equal ones counted by half."""
    ascending, values = others.sort().values, values.contiguous()
    ends = (torch.searchsorted(ascending, values, right=right) for right in (False, True))
    return sum(ends, start=torch.zeros(len(values), dtype=torch.int64)).to(values.dtype) / (2 * len(others))


def expected_share(dataset: Dataset, points: Points, loo: LeaveOneOut) -> float:
    """The share of rows misclassified, in the mean over what the precision C may be.

    Two values stand for its distribution, an error above and an error below; they are the same where C is
    exact.
    """
    found = loo.within_error(_fitted(dataset, points))
    return mean(float(mistakes(predictions, dataset.Y).mean()) for predictions in found)


def share_error(points: Points, wrong: Tensor) -> float:
    """Standard error of a share of rows; even where no row is wrong it is that of half a point of u + 1."""
    return max(points.mean_error(wrong), math.sqrt(0.5 / (points.num * (points.num + 1))))


def learning_curve(
    dataset: Dataset,
    points: Points,
    kernel: Kernel,
    ridge: float,
    loo: LeaveOneOut | None,
    *,
    generator: torch.Generator,
    device: torch.device,
    today: int | None = None,
) -> LearningCurve:
    """Errors measured on subsets of the rows and extrapolated to twice and four times as many.

    Where these are a sample of `today` rows, it is extrapolated to all of them and to twice as many, too.
    """
    sizes = {factor * dataset.n for factor in GROWTH} | ({today, 2 * today} if today else set())
    anchor = _anchor(dataset, points, loo)
    return predict_learning_curve(
        kernel,
        dataset.X.to(device),
        dataset.Y.to(device),
        sorted(sizes),
        classification=dataset.labels is not None,
        generator=generator,
        ridge=ridge,
        anchor=None if anchor is None else anchor.to(device),
        place=points.place.to(device),
        today=today,
    )


def _anchor(dataset: Dataset, points: Points, loo: LeaveOneOut | None) -> Tensor | None:
    """Predictions whose error is that of the curve at all rows; None where it is not known."""
    if loo is None or loo_summary(dataset, points, loo).error is None:
        return None
    return unbiased_predictions(dataset, points, loo)


def population_bound(
    dataset: Dataset, kernel_name: str, spectrum: LabelSpectrum, complexity: Complexity, diagonal: Tensor
) -> Bound:
    """Theorem 5.1's bound for the hardest target column, and whether the theorem speaks of this case."""
    hardest = max(complexity.columns, key=lambda column: column.lower)
    if hardest.upper is None or hardest.value is None or spectrum.floor <= 0:
        return Bound(None, {}, DELTA, vacuous=True, reasons=(Outside.NOT_CERTIFIED,))
    quadratic, trace = hardest.upper**2 * dataset.n / 2, float(diagonal.sum())
    bound = generalisation_bound(quadratic, trace, dataset.n, delta=DELTA)
    reasons = _outside(dataset, kernel_name, spectrum, repeated=spectrum.shuffled_unfittable > 0)
    return Bound(bound.value, bound.terms, DELTA, bound.value >= 1, reasons)


def _outside(
    dataset: Dataset, kernel_name: str, spectrum: LabelSpectrum, repeated: bool
) -> tuple[Outside, ...]:
    """Reasons why Theorem 5.1 does not speak of this case as it stands."""
    found = {
        Outside.OTHER_KERNEL: kernel_name != DEFAULT_KERNEL,
        Outside.SEVERAL_OUTPUTS: dataset.Y.shape[1] > 1,
        Outside.LARGE_TARGETS: float(dataset.Y.abs().max()) > 1,
        Outside.REPEATED: repeated and spectrum.unfittable == 0,
        Outside.CONFLICTS: spectrum.unfittable > 0,
    }
    return tuple(reason for reason, holds in found.items() if holds)
