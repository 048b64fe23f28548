"""H∞ of rows as they are stored, tile by tile, with a bound on the rounding of every entry.

This does not go through `widenet.kernels`, whose values are good to rounding but come without a bound.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.rounding import TINY, UNIT, gamma

GRID = 2.0**-26  # products of multiples of it are multiples of 2^-52: sums of them below 2 are exact
NORM_TOLERANCE = 1e-3  # how far from 1 a squared norm may be
TILE = 1024


@dataclass(frozen=True)
class BoundedTile:
    """Entries of H∞ and how far each may be off.

    Attributes:
        top: Row of H∞ where it begins.
        left: Column of H∞ where it begins.
        values: As computed, shape (p, q).
        errors: |value − exact| is at most this, same shape.
    """

    top: int
    left: int
    values: Tensor
    errors: Tensor

    @property
    def rows(self) -> slice:
        return slice(self.top, self.top + self.values.shape[0])

    @property
    def columns(self) -> slice:
        return slice(self.left, self.left + self.values.shape[1])


class BoundedGram:
    """H_ij = c_ij (π − arccos c_ij)/2π [fine-grained, eq. 3], c_ij the cosine of rows i and j of X (n, d).

    The rows are those numbers, not numbers near them, and they count as directions: a norm of 1 + 10⁻¹⁶ is
    divided out. Each row is split into multiples of `GRID` and a rest, x = x₁ + x₂. The products x₁·z₁ are
    then exact in any order, fused or not, because all partial sums are multiples of 2⁻⁵² and below 2 by
    Cauchy and Schwarz; the products with a rest are small, and so is their rounding. So 1 − c and 1 + c are
    known to τ, far less than the rounding of c, which is what nearly parallel and nearly opposite rows need.
    """

    def __init__(self, X: Tensor) -> None:
        self.n, d = X.shape
        X = X.to(torch.float64)
        high = (X / GRID).round_().mul_(GRID)
        low = X - high  # exact: a multiple of the last digit of x, and at most half of GRID
        # ‖x‖² − 1; the first term is exact.
        excess = (high.square().sum(1) - 1) + ((X + high) * low).sum(1)
        farthest = float(excess.abs().max()) if self.n else 0.0
        if not farthest <= NORM_TOLERANCE:
            raise InputError(f"Rows must have norm 1, but a squared norm is off by {farthest:.2g}.")
        self.X, self.high, self.low = X, high, low
        self.correction = torch.expm1(torch.log1p(excess) / -2)  # 1/‖x‖ − 1
        rest = 1.01 * float(low.norm(dim=1).max()) if self.n else 0.0
        rho = 1.01 * float(self.correction.abs().max()) if self.n else 0.0
        # With c = (A + B)(1 + ρ_i)(1 + ρ_j) in `cosines`: the rounding of B, of ρ by that of ‖x‖², and of the
        # sums, and the products of small terms that are left out. TINY covers underflow.
        self.tau = 1.01 * (
            5 * gamma(2 * d + 8) * rest + 15 * UNIT * rho + 1.1 * rho**2 + 4.5 * rest * rho + (d + 1) * TINY
        )

    def tiles(self, tile: int = TILE) -> Iterator[BoundedTile]:
        """All tiles; those above the diagonal are those under it, transposed."""
        for top in range(0, self.n, tile):
            for left in range(0, top + 1, tile):
                lower = self.tile(top, min(top + tile, self.n), left, min(left + tile, self.n))
                yield lower
                if left < top:
                    yield BoundedTile(left, top, lower.values.T, lower.errors.T)

    def tile(self, top: int, bottom: int, left: int, right: int) -> BoundedTile:
        """H∞[top:bottom, left:right].

        Let a = √(1 + c) and b = √(1 − c): known to τ/a and τ/b, and to 3u of their size, since vector
        libraries round a root by up to 2u. Then s = π − arccos c = 2 atan2(a, b) is known to 1.03τ(b/a + a/b)
        + 6.1u ab, and to the 4u of atan2. With a rounding each of c, of 1/π and of two products, and since
        ab = sin θ and s + 0.8 sin θ ≤ π, H is off by at most |c| (4u + 1.03τ(b/a + a/b)/2π) + τ/2. The root
        of a number that is known to τ is known to √τ at the worst.
        """
        main, small = self._cosines(top, bottom, left, right)
        a = (main + 1).add_(small).clamp_(min=0).sqrt_()
        b = (1 - main).sub_(small).clamp_(min=0).sqrt_()
        cosines = main.add_(small)
        values = torch.atan2(a, b).mul_(cosines).mul_(1 / math.pi)
        root = math.sqrt(self.tau)
        steepness = b / a.clamp(min=root) + a / b.clamp(min=root)
        errors = cosines.abs_().mul_(steepness.mul_(self.tau / 6).add_(5 * UNIT)).add_(0.6 * self.tau)
        own = torch.arange(max(top, left), max(min(bottom, right), max(top, left)))
        values[own - top, own - left] = 0.5
        errors[own - top, own - left] = 0.0
        return BoundedTile(top, left, values, errors)

    def _cosines(self, top: int, bottom: int, left: int, right: int) -> tuple[Tensor, Tensor]:
        """The cosines, as an unevaluated sum of the exact A = x₁·z₁ and a small B + A (ρ_i + ρ_j)."""
        rows, columns = slice(top, bottom), slice(left, right)
        main = self.high[rows] @ self.high[columns].T
        small = self.low[rows] @ self.X[columns].T
        small.addmm_(self.high[rows], self.low[columns].T)
        small.addcmul_(main, self.correction[rows, None] + self.correction[columns])
        return main, small

    def error_norm(self) -> float:
        """A bound on the spectral norm of values − H∞: the largest sum of a row of the errors."""
        sums = torch.zeros(self.n, dtype=torch.float64)
        for tile in self.tiles():
            sums[tile.rows] += tile.errors.sum(1)
        return 1.01 * float(sums.max())
