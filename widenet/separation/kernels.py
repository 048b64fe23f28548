"""Kernels with oracle weights on the cube: the best that any weights could do, over the whole class at once.

The cube has 2^d₁ points, so the distance of a function from the span of K(·, x_1), …, K(·, x_N) in L2 is a
projection in R^{2^d₁}. One orthonormal basis of the span serves all functions of the class.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.kernels.kernel import Kernel
from widenet.kernels.matrix import cross_matrix

PARITIES = "parities"  # name of `ParityKernel`
EMPHASIS = 1e3  # of the coordinates over the parities in `ParityKernel`, so that they come first


def cube(d1: int) -> Tensor:
    """All points of {±1/√d₁}^d₁, shape (2^d₁, d₁), float64."""
    bits = torch.arange(2**d1)[:, None] >> torch.arange(d1) & 1
    return (1 - 2 * bits).to(torch.float64) / math.sqrt(d1)


def subsets(d1: int, k: int) -> Tensor:
    """All sets of k of d₁ coordinates, shape (C(d₁, k), k)."""
    return torch.tensor(list(itertools.combinations(range(d1), k)))


def parities(points: Tensor, sets: Tensor) -> Tensor:
    """χ_S of every set at every point (P, d₁), each ±1, shape (P, C)."""
    return points.sign()[:, sets].prod(dim=2)


@dataclass(frozen=True)
class ParityKernel:
    """The kernel made for the class: c Σ_j y_j z_j + Σ_S χ_S(y)χ_S(z) over all S of size k, with y = √d₁ x.

    Its functions are combinations of coordinates and of parities of size k and of nothing else. With a large
    c its span from N ≥ d₁ samples nearly contains the coordinates, and the other N − d₁ dimensions are spent
    on the parities alone, so that its error comes within α²d₁/C(d₁, k) of the bound.
    """

    d1: int
    k: int

    @property
    def name(self) -> str:
        return PARITIES

    def tile(self, X: Tensor, Z: Tensor) -> Tensor:
        agreement = self.d1 * X @ Z.T
        apart = ((self.d1 - agreement) / 2).round().long()  # coordinates in which the two differ
        return EMPHASIS * agreement + self._sums.to(X.dtype)[apart]

    def diag(self, X: Tensor) -> Tensor:
        return X.new_full((len(X),), EMPHASIS * self.d1 + math.comb(self.d1, self.k))

    @property
    def _sums(self) -> Tensor:
        """Σ_S χ_S(y)χ_S(z) of points that differ in 0, 1, …, d₁ coordinates: a Krawtchouk polynomial."""
        return torch.tensor(
            [
                sum(
                    (-1) ** odd * math.comb(apart, odd) * math.comb(self.d1 - apart, self.k - odd)
                    for odd in range(self.k + 1)
                )
                for apart in range(self.d1 + 1)
            ],
            dtype=torch.float64,
        )


def oracle_errors(
    kernel: Kernel, points: Tensor, samples: Tensor, sizes: Sequence[int], k: int, alpha: float
) -> tuple[float, ...]:
    """Mean error over the class, per output, of the best function in the span of the first N samples.

    Args:
        kernel: Any kernel.
        points: All points of the cube, shape (P, d₁).
        samples: Points that were sampled, shape (at least max(sizes), d₁).
        sizes: N, each.
        k: Size of the sets S.
        alpha: α.
    """
    sets = subsets(points.shape[1], k)
    basis, R = torch.linalg.qr(cross_matrix(kernel, points, samples[: max(sizes)]))
    scale = math.sqrt(len(points))
    on_parities = basis.T @ parities(points, sets) / scale  # coordinates of each χ_S in the basis
    on_coordinates = basis.T @ points.sign() / scale
    errors = []
    for size in sizes:
        turned = numerical_range(R[:size, :size]).T
        errors.append(_mean_error(turned @ on_parities[:size], turned @ on_coordinates[:size], sets, alpha))
    return tuple(errors)


def numerical_range(R: Tensor) -> Tensor:
    """Orthonormal columns that span the columns of R, without those that are rounding errors."""
    left, values, _ = torch.linalg.svd(R)
    return left[:, values > values[0] * len(R) * torch.finfo(R.dtype).eps]


def _mean_error(on_parities: Tensor, on_coordinates: Tensor, sets: Tensor, alpha: float) -> float:
    """Mean over S and j ∈ S of ‖y_j + αχ_S‖² − ‖P(y_j + αχ_S)‖², from coordinates (r, C) and (r, d₁) of P."""
    crossed = (on_coordinates.T @ on_parities).T.gather(1, sets)  # ⟨Py_j, Pχ_S⟩, shape (C, k)
    of_coordinates = on_coordinates.square().sum(0)[sets]
    of_parities = on_parities.square().sum(0)[:, None]
    projected = of_coordinates + 2 * alpha * crossed + alpha**2 * of_parities
    return float((1 + alpha**2 - projected).mean())
