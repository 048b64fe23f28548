"""Which labels are wrong? Rows ranked by how badly their labels fit what all other rows say about them.

Before this come the choice of a model (`widenet.predict.choose`) and its leave-one-out predictions
(`widenet.predict.loo`), which can be made at any size and on any device. Labels are judged on the CPU.
"""

from dataclasses import dataclass

import torch
from scipy.special import chdtri, stdtrit
from torch import Tensor

from widenet.base.errors import InputError
from widenet.data.points import Points, every_row, points_of
from widenet.predict.noise_model import class_means, fit_noise_models, gather_evidence, log_odds_wrong
from widenet.predict.noise_rate import LEVEL, noise_rate

FEWEST_POINTS = 20  # an error of fewer is hardly known
FEWEST_REPEATS = 10  # rows that repeat another, for their differences to tell of noise
ROUNDING = 1e-9  # a share of the variance that repeated inputs can leave by rounding alone


@dataclass(frozen=True)
class LabelQuality:
    """How well each target fits the rest, and how much noise there is.

    Attributes:
        score: A higher one is more suspicious, shape (n,). Classes: the probability that the label is wrong.
            Regression: the leave-one-out residual in robust standard deviations.
        suggested: What the other rows predict: class index, shape (n,), or targets, shape (n, c).
        estimate: Share of labels that are wrong; regression: share of the target's variance that is noise.
            0 where none is detected, that is where `low` is 0.
        low, high: Ends of its interval.
        level: How often such an interval holds the true share, at least, where its assumptions hold.
        decided: Whether the interval tells anything.
        contradicting: How many rows have a label other than the suggested one; None for regression.
    """

    score: Tensor
    suggested: Tensor
    estimate: float
    low: float
    high: float
    level: float
    decided: bool
    contradicting: int | None


def judge_labels(
    predictions: Tensor, variances: Tensor, labels: Tensor, num_classes: int, *, place: Tensor | None = None
) -> LabelQuality:
    """Judge class labels by the predictions of the other rows.

    The score is the posterior of `predict.noise_model`; the interval is that of `predict.noise_rate`.

    Args:
        predictions: Leave-one-out predictions of one-hot targets, shape (n, c), or of ±1 with +1 for the
            first of two classes, shape (n, 1).
        variances: Their predictive variances, in any unit, shape (n,).
        labels: Given class indices, shape (n,).
        num_classes: Number of classes c.
        place: For each row the index of its point, shape (n,), where rows coincide.
    """
    if predictions.shape[1] not in ({1, 2} if num_classes == 2 else {num_classes}):
        raise InputError(
            f"Predictions have {predictions.shape[1]} columns for {num_classes} classes; give one per class."
        )
    means, variances, labels = class_means(predictions).cpu(), variances.cpu(), labels.cpu()
    suggested = means.argmax(1)
    models = fit_noise_models(gather_evidence(means, variances, labels))
    points = every_row(len(labels)) if place is None else points_of(place.cpu())
    rate = noise_rate(means, labels, points)
    return LabelQuality(
        score=torch.sigmoid(log_odds_wrong(models, labels)),
        suggested=suggested,
        estimate=rate.estimate,
        low=rate.low,
        high=rate.high,
        level=LEVEL,
        decided=rate.decided,
        contradicting=int((suggested != labels).sum()),
    )


def judge_targets(predictions: Tensor, variances: Tensor, Y: Tensor, *, place: Tensor) -> LabelQuality:
    """Judge the targets of a regression by the predictions of the other rows.

    The leave-one-out error holds the noise of the targets and the predictor's own error, so it bounds the
    noise from above. From below only repeated inputs bound it: no function of the inputs tells their
    targets apart, whereas any unrepeated target may be what a rougher function would predict.

    Args:
        predictions: Leave-one-out predictions, shape (n, c).
        variances: v, their predictive variances in units of the kernel, shape (n,).
        Y: Targets, shape (n, c); a row with several is judged by all of them together.
        place: For each row the index of its point, shape (n,).
    """
    errors, points = (Y - predictions).square().sum(1), points_of(place)
    squares, variance = errors / variances, float(Y.var(0).sum())
    robust_scale = (squares.median() / chdtri(Y.shape[1], 0.5)).sqrt()
    estimate, low = (noise / variance for noise in pure_error(Y, points))
    high = min(1.0, upper_mean(errors, points) / variance)
    detected = ROUNDING < low <= high
    return LabelQuality(
        score=squares.sqrt() / robust_scale.clamp_min(torch.finfo(Y.dtype).tiny),
        suggested=predictions,
        estimate=min(estimate, high) if detected else 0.0,
        low=low if detected else 0.0,
        high=high,
        level=LEVEL,
        decided=detected or (high < 0.5 and points.num >= FEWEST_POINTS),
        contradicting=None,
    )


def pure_error(Y: Tensor, points: Points) -> tuple[float, float]:
    """Variance of the targets (n, c) of rows that share their inputs, and a lower end for that of all rows.

    With normal noise of variance σ² in each column, Σ (y - ȳ)² / σ² is χ² with c (n - u) degrees of freedom.
    Of rows that are not repeated nothing is known, so they count as free of noise in the lower end. A few
    rows that differ may be a mistake in one of them, and tell nothing of the others.
    """
    within, degrees = float((Y - points.means(Y)[points.place]).square().sum()), points.num_repeated
    if degrees < FEWEST_REPEATS:
        return 0.0, 0.0
    c, shared = Y.shape[1], float((points.counts[points.place] > 1).double().mean())
    least = c * within / float(chdtri(c * degrees, (1 - LEVEL) / 2))
    return within / degrees, shared * least


def upper_mean(values: Tensor, points: Points) -> float:
    """Upper end of the mean of values (n,), by Student's t over the points."""
    quantile = float(stdtrit(max(points.num - 1, 1), (1 + LEVEL) / 2))
    return float(values.mean()) + quantile * points.mean_error(values)
