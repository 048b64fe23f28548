"""Both ends of yᵀH∞⁻¹y by proof: what rounding does is counted, and every result is rounded outward.

For any α with the residual r = y − Hα, yᵀH⁻¹y = yᵀα + αᵀr + rᵀH⁻¹r, and the last term lies between 0 and
‖r‖²/λ₀. How good α is decides how near the ends are to each other, never whether they hold. All of it is
computed on the CPU, wherever the rows are: of its operations it is known how they round.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.rounding import UNIT, gamma
from widenet.kernels.kernel import Kernel
from widenet.kernels.names import kernel_by_name
from widenet.spectrum.bounded import BoundedGram
from widenet.spectrum.floor import cholesky_floor, eigenvalue_floor
from widenet.spectrum.powers import UNDERFLOW, ldexp, times_powers_of_2

PROVED_KERNEL = "relu2-hidden"  # H∞, the one whose rounding `BoundedGram` bounds
GRID = 2.0**-21  # of entries of H in the exact part of Hα
COLUMN_BITS = (
    31  # of a column of α in it; with an entry's 21 and a sum over |H| ≤ 1/2 no more than 53 are needed
)
LEAST_FLOOR = 2.0**-100  # a smaller λ₀ is of no use


@dataclass(frozen=True)
class Enclosure:
    """Both ends of a quantity of each target column, and of its sum over the columns.

    Attributes:
        lower: Proved lower ends, shape (c,).
        upper: Proved upper ends, shape (c,); infinite where nothing is proved.
    """

    lower: Tensor
    upper: Tensor

    def total(self) -> tuple[float, float]:
        """Both ends of the sum over the columns."""
        slack = 2 * gamma(len(self.lower) + 1)
        return float(self.lower.sum()) * (1 - slack), float(self.upper.sum()) * (1 + slack)


def is_provable(kernel: Kernel) -> bool:
    """Whether this module's bounds are about this kernel; those of others hold up to rounding only."""
    return kernel.name == PROVED_KERNEL


def enclose(X: Tensor, Y: Tensor, alpha: Tensor, floor: float, off: Tensor | None = None) -> Enclosure:
    """Both ends of yᵀH∞⁻¹y for each column of Y.

    >>> X = torch.eye(2, dtype=torch.float64)  # H∞ = I/2
    >>> Y = torch.tensor([[3.0], [4.0]], dtype=torch.float64)
    >>> found = enclose(X, Y, alpha=2 * Y, floor=0.4)
    >>> print(f"{float(found.lower):.10f} {float(found.upper):.10f}")
    50.0000000000 50.0000000000

    Args:
        X: Rows of norm 1, no two of them the same, shape (n, d). Rows that coincide are one point, whose
            target is the mean of theirs.
        Y: Targets, shape (n, c).
        alpha: Approximately H∞⁻¹Y, shape (n, c).
        floor: λ₀, a proved number below λ_min(H∞), as from `proved_floor`; 0.0 leaves the upper ends open.
        off: How far the targets that are meant may be from Y, same shape; by default Y is meant.
    """
    X, Y, alpha = X.cpu(), Y.cpu(), alpha.cpu()
    off = torch.zeros_like(Y) if off is None else off.cpu()
    # In units of its largest target a column is far from the ends of the range of floats.
    exponents = torch.frexp(Y.abs().amax(0)).exponent
    Y, alpha, off = (ldexp(each, -exponents) for each in (Y, alpha, off))
    residual, errors = bounded_residual(BoundedGram(X), Y, alpha)
    errors += off
    value = (Y * alpha).sum(0) + (alpha * residual).sum(0)
    sizes = (Y * alpha).abs().sum(0) + (alpha * residual).abs().sum(0)
    rounding = 1.01 * ((alpha.abs() * (errors + off)).sum(0) + gamma(len(Y) + 2) * sizes)
    rounding += UNDERFLOW * (Y != 0).any(0)
    missing = 1.01 * (residual.norm(dim=0) + errors.norm(dim=0)).square() / max(floor, LEAST_FLOOR)
    lower = ((value - rounding) * (1 - 4 * UNIT)).clamp(min=0).nan_to_num(nan=0.0, posinf=0.0)
    upper = (value + (rounding + missing)) * (1 + 4 * UNIT)
    upper = torch.where(upper.isfinite() & (floor > LEAST_FLOOR), upper, torch.inf)
    return Enclosure(*times_powers_of_2(lower, upper, 2 * exponents))


def bounded_residual(gram: BoundedGram, Y: Tensor, alpha: Tensor) -> tuple[Tensor, Tensor]:
    """R = Y − H∞α as computed, and how far each entry may be off, both of shape (n, c).

    H and α are split as rows are in `BoundedGram`, H = H₁ + H₂ and α = α₁ + α₂, so that the sums H₁α₁ are
    exact; those of H₁α₂ + H₂α are small, in whatever order they are made.
    """
    n = gram.n
    sizes = alpha.abs().sum(0)
    step = ldexp(torch.ones_like(sizes), torch.frexp(1.01 * sizes).exponent - COLUMN_BITS)
    high = (alpha / step).round_().mul_(step)
    low = alpha - high
    main, small, errors = torch.zeros_like(Y), torch.zeros_like(Y), torch.zeros_like(Y)
    for tile in gram.tiles():
        high_H = (tile.values / GRID).round_().mul_(GRID)
        low_H = tile.values - high_H
        rows, columns = tile.rows, tile.columns
        main[rows] += high_H @ high[columns]
        small[rows] += high_H @ low[columns] + low_H @ alpha[columns]
        errors[rows] += tile.errors @ alpha[columns].abs()
    fitted = Y - main
    residual = fitted - small
    rounding = gamma(2 * n + 8) * (0.51 * n * step / 2 + GRID / 2 * sizes) * (sizes > 0)
    return residual, 1.01 * (errors + rounding + 2 * UNIT * (fitted.abs() + small.abs()))


def proved_floor(X: Tensor) -> float:
    """λ₀, a number below λ_min(H∞) of rows X (n, d) by proof; 0.0 where none is found.

    Rows that are nearly parallel are beyond `eigenvalue_floor`; H∞ is then factorised, in 4 n² bytes.
    """
    floor = eigenvalue_floor(kernel_by_name(PROVED_KERNEL), X)
    if floor > 0:
        return floor
    gram = BoundedGram(X.cpu())
    return cholesky_floor(lambda *place: gram.tile(*place).values, gram.n, error=gram.error_norm())


def complexity_ends(quadratic: tuple[float, float], n: int) -> tuple[float, float]:
    """Both ends of √(2q/n), the complexity (10), from those of q = yᵀH∞⁻¹y."""
    lower, upper = (math.sqrt(2 * end / n) for end in quadratic)
    return lower * (1 - 4 * UNIT), upper * (1 + 4 * UNIT)
