"""Rows -> the error that the kernel predictor has on fewer of them, and would have on more.

Up to n the curve is measured: the predictor is fitted on random subsets of n, n/2, n/4, ... rows and judged
on every row without that row's help (`subsets`). Beyond n it is extrapolated (`extrapolate`). It is the curve
of this kernel with this ridge, whatever the number of rows: a ridge that was chosen on n rows is kept at
all sizes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.kernels.kernel import Kernel
from widenet.predict.extrapolate import (
    ERROR_PRIOR,
    NUMBER_PRIOR,
    SHARE_PRIOR,
    CurvePosterior,
    LogCurve,
    fit_curve,
    log_error_curve,
    log_share_curve,
    row_covariance,
)
from widenet.predict.subsets import TRAIN_ROWS, subset_predictions

Z = 1.96  # normal quantile of 95% intervals
WORTHWHILE = 0.1  # least share of today's error that twice the rows must save for more data to help


@dataclass(frozen=True)
class Gain:
    """What twice as many rows would save of today's error, that with as many as there are.

    The interval is of the change itself: it is far narrower than the two errors' intervals, whose common
    uncertainty it leaves out.

    Attributes:
        value: Share of today's error that is saved; below 0 where the error grows.
        low, high: Ends of its interval.
        over_constant: Lower end for the share of the best constant's error that is then saved.
    """

    value: float
    low: float
    high: float
    over_constant: float


@dataclass(frozen=True)
class LearningCurve:
    """Errors of one kernel and ridge at growing numbers of rows, with 95% intervals.

    Every interval is for the error to expect on new rows, at new points, of a predictor fitted on so many.

    Attributes:
        n: Numbers of rows, ascending.
        measured: True where the error was measured, False where it is extrapolated.
        error: Mean over rows of the squared error, summed over the columns of Y.
        error_low, error_high: Ends of its intervals.
        misclassified: Share of rows whose sign or argmax is wrong; None for regression.
        misclassified_low, misclassified_high: Ends of its intervals; None for regression.
        gain: What twice the rows of today would save, of the misclassified share where there is one, else of
            the squared error; None where that was not asked. Today's are the last that are measured, or more
            where only a sample was.
    """

    n: tuple[int, ...]
    measured: tuple[bool, ...]
    error: tuple[float, ...]
    error_low: tuple[float, ...]
    error_high: tuple[float, ...]
    misclassified: tuple[float, ...] | None
    misclassified_low: tuple[float, ...] | None
    misclassified_high: tuple[float, ...] | None
    gain: Gain | None = None


def more_rows_help(curve: LearningCurve) -> bool:
    """Whether twice the rows surely give less error, by the best guess at least WORTHWHILE of today's.

    The error must then surely be less than the best constant's, too: more rows improve a predictor that fits
    noise, but never beyond a constant.
    """
    gain = curve.gain
    return gain is not None and min(gain.low, gain.over_constant) > 0 and gain.value >= WORTHWHILE


def squared_errors(predictions: Tensor, Y: Tensor) -> Tensor:
    """Σ_columns (prediction - Y)² of each row, shape (..., n), for predictions of shape (..., n, c)."""
    return (predictions - Y).square().sum(-1)


def mistakes(predictions: Tensor, Y: Tensor) -> Tensor:
    """1 where the sign (one column of ±1) or the argmax (one-hot columns) is not that of Y, else 0."""
    if Y.shape[1] == 1:
        return (predictions * Y <= 0).squeeze(-1).to(Y.dtype)
    return (predictions.argmax(-1) != Y.argmax(-1)).to(Y.dtype)


def predict_learning_curve(
    kernel: Kernel,
    X: Tensor,
    Y: Tensor,
    sizes: Sequence[int],
    *,
    classification: bool,
    generator: torch.Generator,
    ridge: float = 0.0,
    anchor: Tensor | None = None,
    place: Tensor | None = None,
    today: int | None = None,
) -> LearningCurve:
    """Measure the learning curve of this kernel and ridge up to n rows and extrapolate it to more.

    Args:
        kernel: The kernel of the predictor.
        X: Inputs, shape (n, d).
        Y: Targets, float64, shape (n, c): ±1 in one column or one-hot columns where `classification`.
        sizes: Numbers of rows to predict the error for, each above those at which it is measured.
        classification: Whether the sign or argmax of a prediction names a class.
        generator: Draws the subsets.
        ridge: Added to the kernel's diagonal, the same at every size.
        anchor: Leave-one-out predictions from all n rows, shape (n, c), where they are known already; without
            them the curve is measured up to at most TRAIN_ROWS rows.
        place: Index of each row's point, shape (n,): rows at one point do not help to predict each other. By
            default every row is a point of its own.
        today: Rows that there are, where X is a sample of them: the gain is that of twice as many. By default
            those up to which the curve is measured.
    """
    n = X.shape[0]
    if n < 2:
        raise InputError(f"A learning curve needs at least 2 rows, but there is {n}; add rows.")
    last = n if anchor is not None else min(n, TRAIN_ROWS)
    if any(size <= last for size in sizes):
        raise InputError(f"The curve is measured up to {last} rows; give larger sizes than {min(sizes)}.")
    place = torch.arange(n, device=X.device) if place is None else place
    rows, predictions = subset_predictions(kernel, X, Y, place, ridge, generator=generator, anchor=anchor)
    # What is fitted to the errors is small, and on the CPU.
    errors = {size: squared_errors(P, Y[rows]).cpu() for size, P in predictions.items()}
    wrong = {size: mistakes(P, Y[rows]).cpu() for size, P in predictions.items()} if classification else None
    constant, doublings = constant_error(Y, classification), math.log2((today or last) / last)
    return assemble(errors, wrong, place[rows].cpu(), sorted(sizes), constant, doublings)


def constant_error(Y: Tensor, classification: bool) -> float:
    """The error of the best constant: the share outside the most frequent class, or the targets' variance."""
    if not classification:
        return float(Y.var(0, correction=0).sum())
    shares = (Y > 0).double().mean(0)
    return float(1 - torch.cat([shares, 1 - shares]).max()) if len(shares) == 1 else float(1 - shares.max())


def assemble(
    errors: dict[int, Tensor],
    wrong: dict[int, Tensor] | None,
    place: Tensor,
    sizes: Sequence[int],
    constant: float,
    since: float = 0.0,
) -> LearningCurve:
    """Put measured and extrapolated points, and their intervals, in one curve.

    Args:
        errors: For each size the squared errors of each fitted subset at each row, shape (num_subsets, t).
        wrong: The mistakes likewise; None for regression.
        place: Index of each row's point, shape (t,).
        sizes: Numbers of rows beyond the measured ones, ascending.
        constant: Error of the best constant: squared for regression, else the misclassified share.
        since: Doublings from the last measured size to the rows that there are.
    """
    errors_now = log_error_curve(errors, place)
    posterior = fit_curve(errors_now, NUMBER_PRIOR if wrong is None else ERROR_PRIOR)
    spread = Z * errors_now.covariance.diagonal().sqrt()
    now = torch.stack([errors_now.values - spread, errors_now.values, errors_now.values + spread]).exp()
    low, error, high = map(floats, torch.cat([now, beyond(errors_now, posterior, sizes)], 1))
    share_low = share = share_high = None
    if wrong is not None:
        shares_now = log_share_curve(wrong, place)
        posterior = fit_curve(shares_now, SHARE_PRIOR)
        today = share_intervals(wrong, place)
        ahead = beyond(shares_now, posterior, sizes).clamp_max(1)
        # Half a mistake was added to each count; where none was made, that alone may not foretell any.
        ahead[:2] = torch.where(today[1, -1] > 0, ahead[:2], 0.0)
        share_low, share, share_high = map(floats, torch.cat([today, ahead], 1))
    return LearningCurve(
        n=(*sorted(errors), *sizes),
        measured=(True,) * len(errors) + (False,) * len(sizes),
        error=error,
        error_low=low,
        error_high=high,
        misclassified=share,
        misclassified_low=share_low,
        misclassified_high=share_high,
        gain=gain_of_twice(posterior, constant, since),
    )


def beyond(measured: LogCurve, posterior: CurvePosterior, sizes: Sequence[int]) -> Tensor:
    """Lower ends, medians and upper ends at `sizes`, shape (3, f)."""
    doublings = torch.log2(torch.tensor(sizes, dtype=measured.sizes.dtype) / measured.sizes[-1])
    return torch.stack(posterior.values(doublings).interval()).exp()


def gain_of_twice(posterior: CurvePosterior, constant: float, since: float) -> Gain:
    """What a doubling of the rows saves of today's error and of the best constant's.

    Args:
        posterior: Of the curve.
        constant: Error of the best constant.
        since: Doublings from the last measured size to the rows that there are.
    """
    doubling = torch.ones(1, dtype=torch.float64)
    change = posterior.changes(doubling, since=since)
    most, median, least = (float(-torch.expm1(log)) for log in change.interval())
    error = float(posterior.values(since + doubling).quantile(0.975).exp())
    return Gain(median, low=least, high=most, over_constant=1 - error / constant if constant else 0.0)


def share_intervals(wrong: dict[int, Tensor], place: Tensor) -> Tensor:
    """Lower ends, measured shares and upper ends, shape (3, s)."""
    rows = torch.stack([wrong[size].mean(0) for size in sorted(wrong)], 1)
    share, variance = rows.mean(0), row_covariance(rows, place).diagonal()
    # Rows at one point err together, so that they count for fewer independent ones.
    num_points = place.unique().numel()
    independent = torch.where(variance > 0, share * (1 - share) / variance, num_points).clamp_max(len(rows))
    low, high = wilson_interval(share, independent)
    return torch.stack([low, share, high])


def wilson_interval(rate: Tensor, num_rows: Tensor) -> tuple[Tensor, Tensor]:
    """Wilson's score interval for a share that was `rate` (s,) among `num_rows` (s,)."""
    centre = (rate + Z**2 / (2 * num_rows)) / (1 + Z**2 / num_rows)
    half = Z / (1 + Z**2 / num_rows) * (rate * (1 - rate) / num_rows + Z**2 / (4 * num_rows**2)).sqrt()
    return (centre - half).clamp_min(0), (centre + half).clamp_max(1)


def floats(values: Tensor) -> tuple[float, ...]:
    """The entries of a vector."""
    return tuple(float(value) for value in values)
