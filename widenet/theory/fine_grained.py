"""Theorems of `fine-grained` that can be evaluated on data."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class GeneralisationBound:
    """A bound on the population loss, and the terms that it is the sum of."""

    value: float
    terms: dict[str, float]


def generalisation_bound(
    quadratic: float, trace: float, n: int, *, floor: float, delta: float
) -> GeneralisationBound:
    """Theorem 5.1 with the constants of its proof (D.3), for a network of unbounded width and vanishing κ.

    The trained function lies in a ball of radius B = √(yᵀH⁻¹y), whose Rademacher complexity is at most
    B √(tr H) / n; for H∞ this is B / √(2n), and twice it is the complexity (10). The proof rounds B up to a
    whole number i ≤ √(n/λ₀) + 1, pays for the choice of i by a union bound over Theorem B.1, and allows a
    training loss of 1/√n.

    Args:
        quadratic: yᵀH⁻¹y.
        trace: tr H.
        n: Number of rows.
        floor: λ₀, a lower bound on λ_min(H).
        delta: Failure probability δ of the statement; a third of it is spent on the sampling of the rows.
    """
    radius = math.sqrt(quadratic)
    per_radius = 2 * math.sqrt(trace) / n
    num_radii = math.ceil(math.sqrt(n / floor)) + 1
    terms = {
        "complexity": per_radius * radius,
        "whole radius": per_radius * (math.ceil(radius) - radius),
        "training loss": 1 / math.sqrt(n),
        "confidence": 3 * math.sqrt(math.log(2 * num_radii * 3 / delta) / (2 * n)),
    }
    return GeneralisationBound(sum(terms.values()), terms)
