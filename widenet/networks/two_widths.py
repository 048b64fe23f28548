"""Three layers of two widths, as the lemmas of [beyond-two-layers, section 6] have them: m1 and m2 neurons.

Parameters are those of `ThreeLayers`, with sizes of their own: W (s, m1, d + 1), V (s, m2, m1 + 1) and
A (s, k, m2), biases last. `ThreeLayers` itself, which is trained, has one width, as theorems 2 and 3 do.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.networks.network import Parameters, with_constant, with_ones
from widenet.networks.pseudo import CONSTANTS, Biases


@dataclass(frozen=True, eq=False)
class SignPattern:
    """Which neurons are active at given weights, 0 or 1."""

    first: Tensor  # D_w, shape (s, n, m1)
    second: Tensor  # D_v, shape (s, n, m2)


def draw_two_widths(
    d: int, k: int, m1: int, m2: int, *, generator: torch.Generator, epsilon_a: float = 1.0
) -> Parameters:
    """W, b1 ~ N(0, 1/m1), V, b2 ~ N(0, 1/m2), A ~ N(0, ε_a²), one copy, float64 [beyond-two-layers, 4.1]."""
    scales = {"W": (m1, d + 1, m1**-0.5), "V": (m2, m1 + 1, m2**-0.5), "A": (k, m2, epsilon_a)}
    return {
        name: torch.randn(1, rows, columns, generator=generator, dtype=torch.float64).mul_(scale)
        for name, (rows, columns, scale) in scales.items()
    }


def random_signs(num: int, m1: int, *, generator: torch.Generator) -> Tensor:
    """Diagonals of Σ, each ±1, shape (num, m1), float64."""
    return 2 * torch.randint(2, (num, m1), generator=generator).to(torch.float64) - 1


def layer_inputs(params: Parameters, X: Tensor) -> tuple[Tensor, Tensor]:
    """What goes into the ReLUs of both layers, biases included, shapes (s, n, m1) and (s, n, m2)."""
    first = with_ones(X) @ params["W"].mT
    return first, with_ones(first.relu()) @ params["V"].mT


def sign_pattern(params: Parameters, X: Tensor) -> SignPattern:
    """D_w and D_v at these weights."""
    first, second = layer_inputs(params, X)
    return SignPattern((first > 0).to(X.dtype), (second > 0).to(X.dtype))


def real_outputs(params: Parameters, X: Tensor) -> Tensor:
    """F of every copy for inputs X (n, d), shape (s, n, k)."""
    return layer_inputs(params, X)[1].relu() @ params["A"].mT


def outputs_with_signs(
    signs: SignPattern, params: Parameters, X: Tensor, biases: Biases = "biased"
) -> Tensor:
    """A D_v (V D_w (W x + b₁) + b₂), or without biases, for the given signs, shape (s, n, k)."""
    constant1, constant2 = CONSTANTS[biases]
    first = (with_constant(X, constant1) @ params["W"].mT) * signs.first
    second = (with_constant(first, constant2) @ params["V"].mT) * signs.second
    return second @ params["A"].mT
