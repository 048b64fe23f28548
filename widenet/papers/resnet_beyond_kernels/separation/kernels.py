"""Kernels with oracle weights on the cube: the best that any weights could do, over the whole class at once.

The cube has 2^d₁ points, so the distance of a function from the span of K(·, x_1), …, K(·, x_N) in L2 is a
projection in R^{2^d₁}. One orthonormal basis of the span serves all functions of the class.
"""

import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import torch
from torch import Tensor

from widenet.kernels.kernel import Kernel

PARITIES = "parities"  # name of `ParityKernel`
EMPHASIS = 1e3  # of the coordinates over the parities in `ParityKernel`, so that they come first
NEGLIGIBLE = 1e-12  # share of the longest direction below which another is a rounding error
PILOT_SIZE = 64  # samples at most of what is timed for the forecast


def cube(d1: int) -> Tensor:
    """All points of {±1/√d₁}^d₁, shape (2^d₁, d₁), float64."""
    bits = torch.arange(2**d1)[:, None] >> torch.arange(d1) & 1
    return (1 - 2 * bits).to(torch.float64) / math.sqrt(d1)


def subsets(d1: int, k: int) -> Tensor:
    """All sets of k of d₁ coordinates, shape (C(d₁, k), k)."""
    return torch.tensor(list(itertools.combinations(range(d1), k)))


def parities(points: Tensor, sets: Tensor) -> Tensor:
    """χ_S of every set at every point (P, d₁), each ±1, shape (P, C)."""
    signs = points.sign()
    products = signs[:, sets[:, 0]]
    for column in sets[:, 1:].T:  # all at once would take k times the memory
        products *= signs[:, column]
    return products


@dataclass(frozen=True, eq=False)
class CubeClass:
    """The class (7.1) for d = d₁: a function x ↦ (√d₁ x_j + αχ_S(x))_{j ∈ S} for each set S."""

    points: Tensor  # all points of the cube, shape (P, d₁)
    sets: Tensor  # all sets S, shape (C, k)
    products: Tensor  # χ_S at every point, shape (P, C)
    alpha: float  # α


def cube_class(d1: int, k: int, alpha: float) -> CubeClass:
    """All functions of the class at all points of the cube."""
    points, sets = cube(d1), subsets(d1, k)
    return CubeClass(points, sets, parities(points, sets), alpha)


@dataclass(frozen=True)
class ParityKernel:
    """The kernel made for the class: c Σ_j y_j z_j + Σ_S χ_S(y)χ_S(z) over all S of size k, with y = √d₁ x.

    Its functions are combinations of coordinates and of parities of size k and of nothing else. With a large
    c its span from N ≥ d₁ samples nearly contains the coordinates, and the other N − d₁ dimensions are spent
    on the parities alone, so that its error comes within α²d₁/C(d₁, k) of the bound.
    """

    d1: int
    k: int
    name = PARITIES

    def tile(self, X: Tensor, Z: Tensor) -> Tensor:
        agreement = self.d1 * X @ Z.T
        return EMPHASIS * agreement + self._sums.to(X.dtype)[num_apart(agreement, self.d1)]

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


def cube_values(kernel: Kernel, points: Tensor, samples: Tensor) -> Tensor:
    """Values of a kernel of inner products and norms at points (P, d₁) and samples (N, d₁), shape (P, N).

    They depend on the number of coordinates that differ alone, and are computed once for each number, on a
    circle, where opposite points are opposite to the last digit: an angle near π would lose half of them, and
    the kernel would seem to span directions that it does not.
    """
    d1 = points.shape[1]
    cosines = 1 - 2 * torch.arange(d1 + 1, dtype=points.dtype) / d1
    circle = torch.stack([cosines, (1 - cosines.square()).sqrt()], dim=1)
    values = kernel.tile(circle[:1], circle)[0]
    return values[num_apart(d1 * points @ samples.T, d1)]


def num_apart(agreement: Tensor, d1: int) -> Tensor:
    """Number of coordinates in which points y, z of {±1}^d₁ differ, from ⟨y, z⟩."""
    return ((d1 - agreement) / 2).round().long()


def oracle_errors(values: Tensor, functions: CubeClass, sizes: Sequence[int]) -> tuple[float, ...]:
    """Mean error over the class, per output, of the best function in the span of the first N samples.

    Args:
        values: K(x, x_n) at all points and samples, of any function K, shape (P, at least max(sizes)).
        functions: The class.
        sizes: N, each.
    """
    points = functions.points
    basis, R = torch.linalg.qr(values[:, : max(sizes)])
    scale = math.sqrt(len(points))
    on_products = basis.T @ functions.products / scale  # coordinates of each χ_S in the basis
    on_coordinates = basis.T @ points.sign() / scale
    errors = []
    for size in sizes:
        turned = numerical_range(R[:size, :size]).T
        projections = turned @ on_products[:size], turned @ on_coordinates[:size]
        errors.append(_mean_error(*projections, functions))
    return tuple(errors)


def oracle_seconds(
    kernels: Sequence[Kernel], functions: CubeClass, samples: Tensor, sizes: Sequence[int]
) -> float:
    """Seconds of `oracle_errors` of all kernels, from few samples and the numbers of operations."""
    pilot = (min(max(sizes), PILOT_SIZE),)
    start = time.perf_counter()
    for kernel in kernels:
        oracle_errors(cube_values(kernel, functions.points, samples[: pilot[0]]), functions, pilot)
    spent = time.perf_counter() - start
    return spent * num_operations(functions, sizes) / num_operations(functions, pilot)


def num_operations(functions: CubeClass, sizes: Sequence[int]) -> int:
    """Of kernel values, their QR decomposition, its product with the χ_S, and what each size takes, about."""
    (num_points, num_sets), largest = functions.products.shape, max(sizes)
    at_once = num_points * largest * (50 + 4 * largest + 2 * num_sets)
    return at_once + sum(4 * size**3 + 2 * size**2 * num_sets for size in sizes)


def numerical_range(R: Tensor) -> Tensor:
    """Orthonormal columns that span the columns of R, without those that are rounding errors.

    By QR decomposition with pivoting: an SVD need not converge where singular values are repeated, and on the
    cube they are.
    """
    basis, triangle, _ = scipy.linalg.qr(R.numpy(), pivoting=True)
    sizes = np.abs(triangle.diagonal())
    return torch.from_numpy(basis[:, sizes > NEGLIGIBLE * sizes[0]])


def _mean_error(on_products: Tensor, on_coordinates: Tensor, functions: CubeClass) -> float:
    """Mean over S and j ∈ S of ‖y_j + αχ_S‖² − ‖P(y_j + αχ_S)‖², from coordinates (r, C) and (r, d₁) of P."""
    sets, alpha = functions.sets, functions.alpha
    crossed = (on_coordinates.T @ on_products).T.gather(1, sets)  # ⟨Py_j, Pχ_S⟩, shape (C, k)
    of_coordinates = on_coordinates.square().sum(0)[sets]
    of_products = on_products.square().sum(0)[:, None]
    projected = of_coordinates + 2 * alpha * crossed + alpha**2 * of_products
    return max(float((1 + alpha**2 - projected).mean()), 0.0)  # where all is learned, rounding may go below
