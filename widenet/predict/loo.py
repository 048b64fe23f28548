"""Leave-one-out predictions of a kernel method, without refitting.

With A = K + ridge·I, α = A⁻¹ Y and C_i = (A⁻¹)_ii, the ridge regression (the mean of the Gaussian process)
fitted without row i predicts μ_i = y_i - α_i / C_i there, with predictive variance 1 / C_i
[Rasmussen & Williams 2006, equations 5.10-5.12].

Rows that share their inputs are left out together. With D = diag(m) over the distinct points, the regression
on all rows is the one on D^½ K D^½ + ridge·I with targets D^½ ȳ, and leaving a point out of that one leaves
out all of its rows; `by_row` reads the rows' predictions off it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from widenet.base.checkpoint import NOWHERE, Checkpoint
from widenet.data.points import Points
from widenet.spectrum.gram import Gram
from widenet.spectrum.solve import conjugate_gradients, nystrom_preconditioner
from widenet.spectrum.trace import rademacher

SOLVE_TOLERANCE = 1e-4  # relative residual of the targets' solves
NUM_SPLITS = 6  # of the probes into halves
PROBE_TOLERANCE = 3e-3  # of those of the probes, whose spread is far larger
SMALL_BLOCK = 128  # rows of a triangle that are inverted by a solve, which is as fast as by halves


@dataclass(frozen=True)
class LeaveOneOut:
    """What the other rows say about each row.

    Attributes:
        predictions: μ, the prediction for each row by all the other rows, shape (n, c).
        variances: 1 / C, the predictive variance of each row's target in units of the kernel, shape (n,).
        precision_error: Relative standard error of C, shape (n,); 0 where it is exact.
        halves: C by half of the random vectors that estimate it, over C by all, for several halves, shape
            (n, h); 1 where it is exact. What the error of C adds to a quantity is twice as much by half.
    """

    predictions: Tensor
    variances: Tensor
    precision_error: Tensor
    halves: Tensor

    def by_halves(self, Y: Tensor) -> Iterator[Tensor]:
        """The predictions by each half, where all rows would fit Y (n, c), each of this shape."""
        return (Y + (self.predictions - Y) / share[:, None] for share in self.halves.T)


def exactly_left_out(predictions: Tensor, precision: Tensor) -> LeaveOneOut:
    """What is known of predictions (n, c) where C (n,) is exact."""
    exact = torch.zeros_like(precision)
    return LeaveOneOut(predictions, 1 / precision, exact, 1 + exact[:, None])


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
    return LeaveOneOut(predictions[place], variances[place], loo.precision_error[place], loo.halves[place])


def estimated_leave_one_out(
    gram: Gram,
    Y: Tensor,
    ridge: float,
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
        num_probes: Random sign vectors; the error of C falls as their root.
        rank: Rank of the preconditioner.
        generator: Draws probes and preconditioner.
        progress: Called with the number of products made.
        checkpoint: Where the solves are kept on the way.
        sketched: Where the preconditioner is kept until they are done.
    """
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
    return left_out_by_probes(Y, alpha, probes, solved, gram.diag() + ridge)


def left_out_by_probes(
    Y: Tensor, alpha: Tensor, probes: Tensor, solved: Tensor, diagonal: Tensor
) -> LeaveOneOut:
    """Leave every row out once, with C = diag(A⁻¹) from the mean of z ∘ A⁻¹z over random signs z.

    The spread of the samples gives `precision_error` [Bekas, Kokiopoulou & Saad 2007].

    Args:
        Y: Targets, shape (n, c).
        alpha: A⁻¹Y, same shape.
        probes: Random signs z, shape (n, s).
        solved: A⁻¹z of each, same shape.
        diagonal: That of A, shape (n,).
    """
    samples = probes * solved
    smallest = 1 / diagonal.to(Y.dtype)  # (A⁻¹)_ii A_ii ≥ 1, by Cauchy and Schwarz
    precision = samples.mean(1).maximum(smallest)
    error = samples.std(1) / samples.shape[1] ** 0.5 / precision
    halves = [samples[:, half].mean(1).maximum(smallest) / precision for half in _halves(samples.shape[1])]
    return LeaveOneOut(Y - alpha / precision[:, None], 1 / precision, error, torch.stack(halves, dim=1))


def _halves(num: int) -> list[Tensor]:
    """Several ways to take half of `num` ≥ 2 vectors, and the other half: a window that moves around."""
    around = [torch.arange(num).roll(-(split * num) // (2 * NUM_SPLITS)) for split in range(NUM_SPLITS)]
    return [half for order in around for half in order.tensor_split(2)]
