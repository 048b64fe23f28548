"""Two-sided bounds on vᵀf(H)v: from one Lanczos run, or on vᵀH⁻¹v from any solution and one product."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.rounding import UNIT, gamma
from widenet.spectrum.gram import Operator
from widenet.spectrum.lanczos import Krylov, gauss_measure, radau_measure
from widenet.spectrum.powers import UNDERFLOW, ldexp, times_powers_of_2

NUMERICAL_RANK = 1e-10  # Ritz values below this share of λ_max cannot be told from zero


@dataclass(frozen=True)
class Bracket:
    """Bounds on vᵀf(H)v, one per column.

    Attributes:
        lower: Shape (..., p).
        upper: Same shape; None without a certified floor under the spectrum.
    """

    lower: Tensor
    upper: Tensor | None

    def width(self) -> float:
        """Relative width of the bracket of the columns' sum; infinite without an upper bound."""
        if self.upper is None:
            return float("inf")
        lower, upper = float(self.lower.sum()), float(self.upper.sum())
        return (upper - lower) / max(abs(lower), abs(upper), torch.finfo(torch.float64).tiny)


def bracket(krylov: Krylov, function: Callable[[Tensor], Tensor], floor: float | None) -> Bracket:
    """Bound vᵀf(H)v for a completely monotone f, such as 1/λ, (1 − ηλ)^{2k} with η ≤ 1/λ_max, or −log(λ + ρ).

    The derivatives of such f alternate in sign, so the errors of the Gauss and of the left Gauss–Radau rule
    have opposite signs [Golub & Meurant 2010, §6.3].

    Args:
        krylov: The run, started at the columns v.
        function: f, mapping eigenvalues (k,) to (..., k).
        floor: A certified lower bound on λ_min(H), at which f is finite; None leaves only the lower bound.
    """
    lower = gauss_measure(krylov).integrate(function)
    if krylov.exhausted:
        return Bracket(lower, lower)
    if floor is None:
        return Bracket(lower, None)
    return Bracket(lower, radau_measure(krylov, floor).integrate(function))


def inverse_bracket(krylov: Krylov, floor: float) -> Bracket:
    """Bound vᵀH⁻¹v, rounding included; a floor of 0 leaves only the lower bound.

    An exhausted space needs no floor, unless Ritz values are so small that they may stand for zero; these
    are then left out of the lower bound.

    >>> from widenet.spectrum import DenseGram, lanczos
    >>> eigenvalues = torch.arange(1.0, 9.0, dtype=torch.float64)
    >>> H, v = DenseGram(torch.diag(eigenvalues)), torch.ones(8, 1, dtype=torch.float64)
    >>> krylov = lanczos(H, v, num_steps=5)
    >>> found, exact = inverse_bracket(krylov, floor=0.9), (1 / eigenvalues).sum()
    >>> print(f"{float(found.lower):.4f} <= {float(exact):.4f} <= {float(found.upper):.4f}")
    2.7144 <= 2.7179 <= 2.7213
    """
    gauss = gauss_measure(krylov)
    is_known = gauss.nodes > NUMERICAL_RANK * gauss.nodes[-1]
    if floor <= 0 and not (krylov.exhausted and bool(is_known.all())):
        lower = gauss.integrate(lambda nodes: torch.where(is_known, 1 / nodes, 0.0))
        return Bracket(lower * (1 - _rounding(gauss.nodes[is_known])), None)
    upper, rounding = radau_measure(krylov, floor).integrate(torch.reciprocal), _rounding(gauss.nodes)
    return Bracket(gauss.integrate(torch.reciprocal) * (1 - rounding), upper * (1 + rounding))


def _rounding(nodes: Tensor) -> float:
    """How far Σ w/θ may be off, relatively: T is exact up to ε λ_max, which matters against the smallest."""
    return 4 * torch.finfo(nodes.dtype).eps * float(nodes[-1] / nodes[0]) if len(nodes) else 0.0


def residual_bracket(
    gram: Operator, V: Tensor, Z: Tensor, *, floor: float, error: float, off: Tensor | None = None
) -> Bracket:
    """Bound vᵀH⁻¹v for each column by Z ≈ H⁻¹V and one product in float64, rounding included.

    With r = v − Hz, vᵀH⁻¹v = vᵀz + zᵀr + rᵀH⁻¹r, and the last term is between 0 and ‖r‖²/λ_min(H).

    >>> from widenet.spectrum import DenseGram
    >>> H, v = DenseGram(torch.diag(torch.tensor([1.0, 4.0]).double())), torch.ones(2, 1).double()
    >>> found = residual_bracket(H, v, torch.tensor([[1.0], [0.2]]).double(), floor=1.0, error=0.0)
    >>> print(f"{float(found.lower):.4f} <= 1.25 <= {float(found.upper):.4f}")
    1.2400 <= 1.25 <= 1.2804

    Args:
        gram: H, with products in float64.
        V: Shape (n, p).
        Z: Same shape.
        floor: λ₀, a number below λ_min(H), positive.
        error: How far an entry of the product Hz may be off, over Σ|z_j|.
        off: How far the vectors that are meant may be from V, same shape; by default V is meant.
    """
    off = torch.zeros_like(V) if off is None else off
    # In units of its largest entry a column is far from the ends of the range of floats.
    exponents = torch.frexp(V.abs().amax(0)).exponent
    V, Z, off = (ldexp(each, -exponents) for each in (V, Z, off))
    R = V - gram.matmul(Z)
    errors = 1.01 * (error * Z.abs().sum(0) + 2 * UNIT * (V.abs() + R.abs()) + off)  # of the entries of R
    value = (Z * (V + R)).sum(0)
    rounding = 1.01 * (Z.abs() * (errors + off + gamma(gram.n + 3) * (V.abs() + R.abs()))).sum(0)
    rounding += UNDERFLOW * (V != 0).any(0)
    missing = 1.01 * (R.norm(dim=0) + errors.norm(dim=0)).square() / floor
    lower = (value - rounding).clamp(min=0).nan_to_num(nan=0.0, posinf=0.0)
    upper = value + rounding + missing
    upper = torch.where(upper.isfinite(), upper, torch.inf)
    return Bracket(*times_powers_of_2(lower, upper, 2 * exponents))
