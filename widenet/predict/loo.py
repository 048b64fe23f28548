"""Leave-one-out predictions of a kernel method, without refitting.

With A = K + ridge·I, α = A⁻¹ Y and C_i = (A⁻¹)_ii, the ridge regression (the mean of the Gaussian process)
fitted without row i predicts μ_i = y_i - α_i / C_i there, with predictive variance 1 / C_i
[Rasmussen & Williams 2006, equations 5.10-5.12].

Rows that share their inputs are left out together. With D = diag(m) over the distinct points, the regression
on all rows is the one on D^½ K D^½ + ridge·I with targets D^½ ȳ, and leaving a point out of that one leaves
out all of its rows; `by_row` reads the rows' predictions off it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from widenet.base.checkpoint import NOWHERE, Checkpoint
from widenet.base.errors import InputError
from widenet.data.points import Points
from widenet.spectrum.gram import Gram
from widenet.spectrum.solve import conjugate_gradients, nystrom_preconditioner
from widenet.spectrum.trace import rademacher

SOLVE_TOLERANCE = 1e-4  # relative residual of the targets' solves
PROBE_TOLERANCE = 3e-3  # of those of the probes, whose spread is far larger
LEAST_PROBES = 4  # half of which have a variance
SMALL_RESIDUAL = 0.01  # of the typical one: below, residuals count as alike
ENDS = 0.01  # the share of rows at each end that are taken for those next to them
SMALL_BLOCK = 128  # rows of a triangle that are inverted by a solve, which is as fast as by halves


@dataclass(frozen=True)
class LeaveOneOut:
    """What the other rows say about each row.

    Attributes:
        predictions: μ, the prediction for each row by all the other rows, shape (n, c).
        variances: 1 / C, the predictive variance of each row's target in units of the kernel, shape (n,).
        precision_error: Relative standard deviation of C about what is taken for it, shape (n,); 0 where it
            is exact.
        sampling_error: Relative standard error of the samples that C rests on, each row's by themselves, of
            shape (n,); 0 where it is exact. What is fitted to all of them is off for many rows alike, so that
            this tells the error of a mean.
    """

    predictions: Tensor
    variances: Tensor
    precision_error: Tensor
    sampling_error: Tensor

    def within_error(self, Y: Tensor) -> tuple[Tensor, Tensor]:
        """The predictions if C were an error more, and an error less, where all rows would fit Y (n, c)."""
        residuals, error = self.predictions - Y, self.precision_error[:, None]
        return Y + residuals / (1 + error), Y + residuals / (1 - error).clamp_min(0.5)


def exactly_left_out(predictions: Tensor, precision: Tensor) -> LeaveOneOut:
    """What is known of predictions (n, c) where C (n,) is exact."""
    exact = torch.zeros_like(precision)
    return LeaveOneOut(predictions, 1 / precision, exact, exact)


def inverse_root(K: Tensor, ridge: float) -> Tensor:
    """R = L⁻¹ with LLᵀ = K + ridge·I, so that (K + ridge·I)⁻¹ = RᵀR, of a Gram matrix K (n, n).

    It takes 12 n² bytes besides K. Inverting L is several times faster than LAPACK's inverse of LLᵀ, and R
    does as well: C is the sum of squares in its columns, and a quadratic form is ‖Ry‖².
    """
    A = K.clone()
    A.diagonal().add_(ridge)
    return _invert_lower_(torch.linalg.cholesky(A, out=A))


def _invert_lower_(L: Tensor) -> Tensor:
    """The inverse of a lower triangular matrix, in its place, by halves.

    The inverse of [[A, 0], [B, C]] is [[A⁻¹, 0], [−C⁻¹BA⁻¹, C⁻¹]], in two thirds of the
    operations of a solve for all columns of I, most of them products.
    """
    n = len(L)
    if n <= SMALL_BLOCK:
        identity = torch.eye(n, dtype=L.dtype, device=L.device)
        return L.copy_(torch.linalg.solve_triangular(L, identity, upper=False))
    first, last = slice(n // 2), slice(n // 2, n)
    A, B, C = L[first, first], L[last, first], L[last, last]
    B.copy_(_invert_lower_(C) @ (B @ _invert_lower_(A))).neg_()
    return L


def left_out(root: Tensor, Y: Tensor) -> LeaveOneOut:
    """Leave every row out once, with R (n, n) of `inverse_root` at hand, for targets Y (n, c)."""
    precision = root.square().sum(0)
    alpha = root.T @ (root @ Y)
    return exactly_left_out(Y - alpha / precision[:, None], precision)


def leave_one_out(K: Tensor, Y: Tensor, ridge: float) -> LeaveOneOut:
    """Leave every row out once, in closed form.

    >>> K, Y = torch.tensor([[1.0, 0.5], [0.5, 1.0]]), torch.tensor([[1.0], [-1.0]])
    >>> leave_one_out(K, Y, ridge=1.0).predictions  # K_12 y_2 / (K_22 + ρ) for the first row
    tensor([[-0.2500],
            [ 0.2500]])

    Args:
        K: Gram matrix, positive semi-definite, float64, shape (n, n).
        Y: Targets, shape (n, c).
        ridge: ρ ≥ 0, added to the diagonal of K.
    """
    return left_out(inverse_root(K, ridge), Y)


def by_row(loo: LeaveOneOut, points: Points, ridge: float) -> LeaveOneOut:
    """For each of n rows what all rows at other points say, from leaving out points of D^½ K D^½, D^½ ȳ.

    A point's target there, √m ȳ, is predicted with m times the variance of the function at the point, plus ρ.
    """
    predictions = loo.predictions / points.counts.sqrt()[:, None]
    variances = (loo.variances - ridge) / points.counts + ridge
    place = points.place
    return LeaveOneOut(
        predictions[place], variances[place], loo.precision_error[place], loo.sampling_error[place]
    )


def estimated_leave_one_out(
    gram: Gram,
    Y: Tensor,
    ridge: float,
    nearby: Tensor,
    *,
    num_probes: int,
    rank: int,
    generator: torch.Generator,
    progress: Callable[[int], None] = lambda done: None,
    checkpoint: Checkpoint = NOWHERE,
    sketched: Checkpoint = NOWHERE,
) -> LeaveOneOut:
    """Leave every row out once where no factorisation fits into memory, by conjugate gradients.

    Args:
        gram: Operator of K.
        Y: Targets, shape (n, c).
        ridge: ρ ≥ 0.
        nearby: Numbers below C, such as `nearby_precision`, shape (n,).
        num_probes: Random sign vectors, at least 4: half of them tell how noisy the others are.
        rank: Rank of the preconditioner.
        generator: Draws probes and preconditioner.
        progress: Called with the number of products made.
        checkpoint: Where the solves are kept on the way.
        sketched: Where the preconditioner is kept until they are done.
    """
    if num_probes < LEAST_PROBES:
        raise InputError(f"`num_probes` is {num_probes}, but must be at least {LEAST_PROBES}.")
    # Of their own, so that later draws do not depend on whether the sketch was made or had been kept.
    own = torch.Generator().manual_seed(int(torch.randint(2**62, (), generator=generator)))
    probes = rademacher(gram.n, num_probes, generator=own, dtype=Y.dtype, device=Y.device)
    sketch = partial(nystrom_preconditioner, gram, ridge, rank=rank, generator=own, checkpoint=sketched)
    tolerances = Y.new_tensor([SOLVE_TOLERANCE] * Y.shape[1] + [PROBE_TOLERANCE] * num_probes)
    solution = conjugate_gradients(
        gram,
        torch.cat([Y, probes], dim=1),
        ridge=ridge,
        preconditioner=sketch,
        rtol=tolerances,
        progress=progress,
        checkpoint=checkpoint,
    )
    sketched.drop()
    alpha, solved = solution.Z[:, : Y.shape[1]], solution.Z[:, Y.shape[1] :]
    return left_out_by_probes(Y, alpha, probes, solved, gram.diag() + ridge, nearby)


def left_out_by_probes(
    Y: Tensor, alpha: Tensor, probes: Tensor, solved: Tensor, diagonal: Tensor, nearby: Tensor
) -> LeaveOneOut:
    """Leave every row out once, with C = diag(A⁻¹) from z ∘ A⁻¹z of random signs z and from rows nearby.

    The mean of z ∘ A⁻¹z is C, with a spread that falls slowly [Bekas, Kokiopoulou & Saad 2007]. What rows
    nearby tell is too low, by a factor that depends little on the row: on what they tell, and on how large
    its residual is. That is fitted to the samples of all rows. Each C is the mean of the fit and of its own
    samples, weighted by how far true factors are scattered about the fit, and its samples about the truth.

    Args:
        Y: Targets, shape (n, c).
        alpha: A⁻¹Y, same shape.
        probes: Random signs z, shape (n, s).
        solved: A⁻¹z of each, same shape.
        diagonal: That of A, shape (n,).
        nearby: Numbers below C, positive, shape (n,).
    """
    # Laid out as what comes back from a checkpoint, so that both round alike.
    alpha, samples = alpha.contiguous(), (probes * solved).contiguous()
    diagonal, nearby = diagonal.to(Y.dtype), nearby.to(Y.dtype)
    samples = samples / nearby[:, None]
    expected = _fitted(_known(alpha, diagonal, nearby), samples.mean(1)).clamp_min(1)
    samples = samples / expected[:, None]
    deviations, noise = samples.mean(1) - 1, samples.var(1) / samples.shape[1]
    scatter = _scatter(samples)
    weight = torch.where(noise > 0, scatter / (scatter + noise), 1.0)
    precision = nearby * (expected * (1 + weight * deviations)).clamp_min(1)
    return LeaveOneOut(Y - alpha / precision[:, None], 1 / precision, (weight * noise).sqrt(), noise.sqrt())


def _scatter(samples: Tensor) -> float:
    """The variance of what rows of samples (n, s) have as their means about 1, without that of s samples.

    Rows that repeat often have noisy samples, so the others count more. Which these are, half of the samples
    tell, and the other half how noisy they are, because noise that happens to be small must not count more.
    The variance is not taken to be less than by how much n rows leave it open.
    """
    n, num_samples = samples.shape
    deviations = samples.mean(1) - 1
    noise, other = (half.var(1) / num_samples for half in (samples[:, ::2], samples[:, 1::2]))
    precise = 1 / (other + other.median().clamp_min(torch.finfo(other.dtype).tiny))
    found = (precise * (deviations.square() - noise)).sum() / precise.sum()
    return max(float(found), float(noise.median()) * (2 / n) ** 0.5)


def _known(alpha: Tensor, diagonal: Tensor, nearby: Tensor) -> Tensor:
    """What is known of each row: logarithms of its precision nearby and of its residual, shape (n, 2).

    Both in units of its diagonal, which is larger where rows repeat. Rows that are hard to predict have
    neighbours of other classes, and so a geometry of their own. The few rows at the ends are taken for those
    next to them: a quadratic through all would follow the noise of what is far from the others.
    """
    residuals = alpha.norm(dim=1) / nearby / diagonal.sqrt()
    typical = residuals.square().mean().sqrt().clamp_min(torch.finfo(nearby.dtype).tiny)
    known = torch.stack([(nearby * diagonal).log(), (residuals / typical + SMALL_RESIDUAL).log()], dim=1)
    return known.clamp(*known.quantile(known.new_tensor([ENDS, 1 - ENDS]), dim=0))


def _fitted(known: Tensor, values: Tensor) -> Tensor:
    """The quadratic in the columns of `known` (n, 2) that is nearest to the values (n,), at each row."""
    centred = known - known.mean(0)
    x, y = (centred / centred.abs().amax(0).clamp_min(torch.finfo(known.dtype).eps)).T
    terms = torch.stack([torch.ones_like(x), x, y, x * x, x * y, y * y], dim=1)
    # Some are combinations of others where rows are alike.
    return terms @ (torch.linalg.pinv(terms.T @ terms, hermitian=True) @ (terms.T @ values))
