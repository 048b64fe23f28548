"""Which labels are wrong? Rows ranked by how badly their labels fit what all other rows say about them.

Three stages, so that the middle one can be done at any size: choose a kernel and a ridge by leave-one-out
likelihood on some rows; leave every row out (`widenet.predict.loo`); judge the labels by these predictions.
"""

from dataclasses import dataclass

import torch
from scipy.stats import chi2
from torch import Tensor

from widenet.base.errors import InputError
from widenet.data.targets import class_columns
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.predict.noise_rate import INTERVAL_WIDTH, fit_noise_model, gather_evidence, log_joint

LABEL_KERNELS = ("relu2-all", "relu3-all", "relu5-all", "relu9-all")
LABEL_RIDGES = torch.logspace(-3, 2, 26, dtype=torch.float64)  # over the mean of the kernel's diagonal
CHOICE_ROWS = 1500  # on which the model is chosen; the best ridge is a variance and does not grow with n


@dataclass(frozen=True)
class LabelModel:
    """The kernel and the ridge under which each row is predicted best by the others."""

    kernel: str  # name of the kernel
    ridge: float  # ρ, in units of the kernel
    log_likelihood: float  # leave-one-out log predictive density per target, up to a constant


@dataclass(frozen=True)
class LabelQuality:
    """How well each target fits the rest, and how much noise there is.

    Attributes:
        score: A higher one is more suspicious, shape (n,). Classes: the probability that the label is wrong.
            Regression: the leave-one-out residual in robust standard deviations.
        suggested: Most probable class index, shape (n,), or predicted targets, shape (n, c).
        estimate: Share of labels that are wrong; regression: share of the target's variance that is noise.
        low, high: Ends of its interval.
    """

    score: Tensor
    suggested: Tensor
    estimate: float
    low: float
    high: float


def choose_label_model(
    X: Tensor, labels: Tensor, num_classes: int, *, generator: torch.Generator
) -> LabelModel:
    """The model of most leave-one-out likelihood for class labels.

    Args:
        X: Prepared inputs, shape (n, d).
        labels: Class indices, shape (n,).
        num_classes: Number of classes c.
        generator: Draws the rows to choose on, where there are more than CHOICE_ROWS.
    """
    return choose_target_model(X, class_columns(labels, num_classes), generator=generator)


def choose_target_model(X: Tensor, Y: Tensor, *, generator: torch.Generator) -> LabelModel:
    """The model of most leave-one-out likelihood for the targets Y, shape (n, c), of a regression."""
    chosen = torch.randperm(len(X), generator=generator)[:CHOICE_ROWS]
    X, Y = X[chosen], Y[chosen]
    models = []
    for name in LABEL_KERNELS:
        K = gram_matrix(kernel_by_name(name), X)
        ridges = LABEL_RIDGES * K.diagonal().mean()
        likelihoods = leave_one_out_likelihoods(K, Y, ridges)
        best = int(likelihoods.argmax())
        models.append(LabelModel(name, float(ridges[best]), float(likelihoods[best])))
    return max(models, key=lambda model: model.log_likelihood)


def judge_labels(predictions: Tensor, variances: Tensor, labels: Tensor, num_classes: int) -> LabelQuality:
    """Judge class labels by the predictions of the other rows, with the model of `predict.noise_rate`.

    Args:
        predictions: Leave-one-out predictions of one-hot targets, shape (n, c), or of ±1 with +1 for the
            first of two classes, shape (n, 1).
        variances: Their predictive variances, in any unit, shape (n,).
        labels: Given class indices, shape (n,).
        num_classes: Number of classes c.
    """
    if predictions.shape[1] not in ({1, 2} if num_classes == 2 else {num_classes}):
        raise InputError(
            f"Predictions have {predictions.shape[1]} columns for {num_classes} classes; give one per class."
        )
    noise = fit_noise_model(gather_evidence(predictions, variances, labels))
    joint = log_joint(noise.log_prior, noise.log_transition, labels)
    given = torch.nn.functional.one_hot(labels, num_classes).bool()
    log_odds = torch.logsumexp(joint.masked_fill(given, -torch.inf), 1) - joint[given]
    return LabelQuality(
        score=torch.sigmoid(log_odds),
        suggested=joint.argmax(1),
        estimate=noise.estimate,
        low=noise.low,
        high=noise.high,
    )


def judge_targets(
    predictions: Tensor, variances: Tensor, Y: Tensor, *, ridge: float | None = None
) -> LabelQuality:
    """Judge the targets of a regression by the predictions of the other rows.

    As a Gaussian process, row i is predicted with variance s² v_i, of which s² ρ is the noise of its target.
    The leave-one-out error holds that noise and the predictor's own error, so it bounds the noise from above.

    Args:
        predictions: Leave-one-out predictions, shape (n, c).
        variances: v, their predictive variances in units of the kernel, shape (n,).
        Y: Targets, shape (n, c); a row with several is judged by all of them together.
        ridge: ρ of the predictor, in units of the kernel. Without it the smallest of the variances, which is
            ρ / (1 - leverage) of the most central row, stands for it in the estimate, and `low` is 0.
    """
    errors = (Y - predictions).square().sum(1)
    squares, variance = errors / variances, Y.var(0).sum()
    standardised = squares.sqrt()
    robust_scale = (squares.median() / chi2.median(Y.shape[1])).sqrt()
    relative_error = INTERVAL_WIDTH * float(squares.std() / squares.mean()) / len(Y) ** 0.5
    unpredicted, unit = float(errors.mean() / variance), float(squares.mean() / variance)
    return LabelQuality(
        score=standardised / robust_scale.clamp_min(torch.finfo(Y.dtype).tiny),
        suggested=predictions,
        estimate=min(unit * (float(variances.min()) if ridge is None else ridge), unpredicted, 1.0),
        low=max(0.0, unit * (ridge or 0.0) * (1 - relative_error)),
        high=min(1.0, unpredicted * (1 + relative_error)),
    )


def leave_one_out_likelihoods(K: Tensor, Y: Tensor, ridges: Tensor) -> Tensor:
    """Mean log density of each target under the prediction by all other rows, for every ridge at once.

    With the eigenvectors V of K all ridges share one factorisation; the scale s² of the Gaussian process that
    fits best is put in [Rasmussen & Williams 2006, equation 5.10], and constants are left out.

    Args:
        K: Gram matrix, shape (n, n).
        Y: Targets, shape (n, c).
        ridges: Shape (r,).

    Returns:
        Shape (r,).
    """
    eigenvalues, V = torch.linalg.eigh(K)
    shrinkage = 1 / (eigenvalues.clamp_min(0)[:, None] + ridges)
    precisions, components = V.square() @ shrinkage, V.T @ Y
    likelihoods = []
    for weights, precision in zip(shrinkage.T, precisions.T, strict=True):
        alpha = V @ (weights[:, None] * components)
        scale = (alpha.square() / precision[:, None]).mean()  # of residual² / variance
        likelihoods.append((precision.log().mean() - scale.log()) / 2)
    return torch.stack(likelihoods)
