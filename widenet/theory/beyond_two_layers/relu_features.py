"""Functions out of random ReLU neurons: q with E[σ(⟨w, x⟩ + b) q(⟨w, w*⟩, b)] = φ(⟨w*, x⟩).

It is lemma 6.3 of [beyond-two-layers] with the ReLU in place of its sign. With z = ⟨w*, x⟩, α = ⟨w, x⟩ and
α₁ = ⟨w, w*⟩ as in `hermite`, E[h_i(α₁)σ(α + b) | b] = zⁱ r_i(b), and one integration by parts makes
r_i(b) = ∫_{−b}^∞ h_{i−1}ϕ = p_{i−1}(b) for i ≥ 1, while r_0(b) = bP(α ≥ −b) + ϕ(b). So
q = Σ_i c_i r_i(b)/E[r_i²] h_i(α₁) has the mean φ, and the least mean square among such q.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.theory.beyond_two_layers.hermite import (
    FARTHEST,
    gated_means,
    hermite,
    legendre,
    mean_squares,
    normal_density,
)


@dataclass(frozen=True)
class ReluHermite:
    """q(α, b) = Σ_i g_i(b) h_i(α) for φ(z) = Σ_i c_i zⁱ, i = 0 to the degree."""

    coefficients: tuple[float, ...]

    @property
    def degree(self) -> int:
        return len(self.coefficients) - 1

    @cached_property
    def squares(self) -> tuple[float, ...]:
        """E[r_i(b)²]/i!."""
        return relu_squares(self.degree)

    def __call__(self, alpha: Tensor, b: Tensor) -> Tensor:
        """q(α, b) of two tensors of one shape."""
        gains = [c / square for c, square in zip(self.coefficients, self.squares, strict=True)]
        gates = relu_means(b, self.degree) * b.new_tensor(gains).view(-1, *[1] * b.dim())
        return (gates * hermite(alpha, self.degree)).sum(0)

    @property
    def mean_square(self) -> float:
        """E[q(α, b)²] = Σ_i c_i² i!/E[r_i²]."""
        return sum(c**2 / square for c, square in zip(self.coefficients, self.squares, strict=True))


def relu_hermite(coefficients: Sequence[float]) -> ReluHermite:
    """The q of φ(z) = Σ_i c_i zⁱ."""
    return ReluHermite(tuple(float(c) for c in coefficients))


def relu_means(b: Tensor, degree: int) -> Tensor:
    """r_i(b)/√i! for i = 0 to `degree`, shape (degree + 1, *b.shape)."""
    first = (b * torch.special.ndtr(b) + normal_density(b))[None]
    if degree == 0:
        return first
    orders = torch.arange(1, degree + 1, dtype=b.dtype).view(-1, *[1] * b.dim())
    return torch.cat([first, gated_means(b, degree - 1) / orders.sqrt()])


def relu_squares(degree: int) -> tuple[float, ...]:
    """E[r_i(b)²]/i! for i = 0 to `degree`; for i ≥ 1 it is E[p_{i−1}²]/(i−1)!, over i."""
    b, weights = legendre(-FARTHEST, FARTHEST, 200)
    first = float((weights * relu_means(b, 0)[0].square() * normal_density(b)).sum())
    later = mean_squares(max(degree - 1, 0))[:degree]
    return (first, *(square / i for i, square in enumerate(later, 1)))


def scaled_coefficients(coefficients: Sequence[float], scale: float) -> list[float]:
    """Coefficients of φ(scale·z)."""
    values = [float(c) * scale**i for i, c in enumerate(coefficients)]
    if not all(map(math.isfinite, values)):
        raise InputError(f"A coefficient of Φ(κz) at κ = {scale:g} is too large for a float; scale Φ down.")
    return values
