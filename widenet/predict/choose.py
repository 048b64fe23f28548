"""Which wide network suits this data: the kernel's depth and ridge of most leave-one-out likelihood."""

from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.threads import threads
from widenet.data.points import Points, points_of
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.predict.loo import by_row, exactly_left_out

KERNELS = ("relu2-all", "relu3-all", "relu5-all", "relu9-all")
RIDGES = torch.logspace(-3, 2, 26, dtype=torch.float64)  # over the mean of the kernel's diagonal
CHOICE_ROWS = 1000  # on which the model is chosen; the best ridge is a variance and does not grow with n


@dataclass(frozen=True)
class KernelModel:
    """The kernel and the ridge under which each row is predicted best by the others."""

    kernel: str  # name of the kernel
    ridge: float  # ρ, in units of the kernel
    log_likelihood: float  # leave-one-out log predictive density per target, up to a constant


def choose_model(X: Tensor, Y: Tensor, *, place: Tensor, generator: torch.Generator) -> KernelModel:
    """The model of most leave-one-out likelihood.

    Args:
        X: Prepared inputs, shape (n, d).
        Y: Targets, shape (n, c).
        place: For each row the index of its point, shape (n,); rows at one point are left out together.
        generator: Draws the rows to choose on, where there are more than CHOICE_ROWS.
    """
    chosen = torch.randperm(len(X), generator=generator)[:CHOICE_ROWS]
    with threads() as (pool, _):
        models = list(pool.map(lambda name: best_ridge(name, X[chosen], Y[chosen], place[chosen]), KERNELS))
    return max(models, key=lambda model: model.log_likelihood)


def best_ridge(kernel: str, X: Tensor, Y: Tensor, place: Tensor) -> KernelModel:
    """The ridge of most leave-one-out likelihood for a kernel; see `choose_model`."""
    points = points_of(place)
    K = gram_matrix(kernel_by_name(kernel), X[points.first])
    ridges = RIDGES.to(K.device) * K.diagonal().mean()
    likelihoods = leave_one_out_likelihoods(K, Y, points, ridges)
    best = int(likelihoods.argmax())
    return KernelModel(kernel, float(ridges[best]), float(likelihoods[best]))


def leave_one_out_likelihoods(K: Tensor, Y: Tensor, points: Points, ridges: Tensor) -> Tensor:
    """Mean log density of each target under the prediction by all rows at other points, for every ridge.

    With the eigenvectors V of D^½ K D^½ all ridges share one factorisation; the scale s² of the Gaussian
    process that fits best is put in [Rasmussen & Williams 2006, equation 5.10], and constants are left out.
    The decomposition is in float32, which takes half the time: it is exact for a matrix that is off by some
    6·10⁻⁸ λ_max, at most 10⁻⁴ of the mean diagonal for CHOICE_ROWS rows, as if the smallest of RIDGES were
    off by a tenth. The next one is larger by more than half.

    Args:
        K: Gram matrix of the points, shape (u, u).
        Y: Targets of the rows, shape (n, c).
        points: The points of the rows.
        ridges: Shape (r,).

    Returns:
        Shape (r,).
    """
    weights = points.counts.sqrt()[:, None]
    targets = weights * points.means(Y)
    eigenvalues, V = (part.to(K.dtype) for part in torch.linalg.eigh((weights * K * weights.T).float()))
    shrinkage = 1 / (eigenvalues.clamp_min(0)[:, None] + ridges)
    precisions, components = V.square() @ shrinkage, V.T @ targets
    likelihoods = []
    for factors, precision, ridge in zip(shrinkage.T, precisions.T, ridges.tolist(), strict=True):
        predictions = targets - V @ (factors[:, None] * components) / precision[:, None]
        at_points = exactly_left_out(predictions, precision)
        loo = by_row(at_points, points, ridge)
        scale = ((Y - loo.predictions).square() / loo.variances[:, None]).mean()
        likelihoods.append(-(loo.variances.log().mean() + scale.log()) / 2)
    return torch.stack(likelihoods)
