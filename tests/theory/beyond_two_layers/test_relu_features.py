"""Functions out of random ReLU neurons: means and sizes by integrals."""

import math

import mpmath
import numpy as np
import pytest
import torch

from widenet.base.errors import InputError
from widenet.theory.beyond_two_layers.relu_features import (
    relu_hermite,
    relu_means,
    relu_squares,
    scaled_coefficients,
)

SIN = [0.2, 1.0, 0.0, -1 / 6, 0.0, 1 / 120]


@pytest.mark.parametrize("i", [0, 1, 2, 5])
def test_means_are_integrals(i):
    """r_i(b) = ∫ h_i(α)σ(α + b)ϕ(α)dα."""
    scale = mpmath.sqrt(2)

    def h(a):
        return mpmath.hermite(i, a / scale) / scale**i * mpmath.npdf(a)

    for b in (-1.3, 0.0, 0.8):
        exact = mpmath.quad(lambda a, b=b: h(a) * (a + b), [-b, 3, 14])
        found = relu_means(torch.tensor([b], dtype=torch.float64), i)[i]
        assert float(found) * math.sqrt(math.factorial(i)) == pytest.approx(float(exact), abs=1e-10)


def test_squares_are_integrals():
    b = torch.linspace(-9, 9, 20_001, dtype=torch.float64)
    density = torch.exp(-(b**2) / 2) / math.sqrt(2 * math.pi)
    exact = torch.trapezoid(relu_means(b, 7).square() * density, b)
    assert relu_squares(7) == pytest.approx(exact.tolist(), rel=1e-8)
    assert relu_squares(0) == relu_squares(7)[:1]


def test_the_mean_is_the_function_and_the_mean_square_is_right(generator):
    q = relu_hermite(SIN)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    mass = torch.from_numpy(np.multiply.outer(weights, weights) / (2 * math.pi))
    alpha1, b = (torch.from_numpy(each.copy()) for each in np.meshgrid(nodes, nodes, indexing="ij"))
    values = q(alpha1, b)
    assert float((mass * values.square()).sum()) == pytest.approx(q.mean_square, rel=1e-6)
    for z in (-0.9, 0.0, 0.4):
        # E σ(zα₁ + √(1−z²)β + b) over β is that of a Gaussian: sϕ(u/s) + uΦ(u/s)
        u, s = z * alpha1 + b, math.sqrt(1 - z**2)
        relu = s * torch.exp(-((u / s) ** 2) / 2) / math.sqrt(2 * math.pi) + u * torch.special.ndtr(u / s)
        exact = sum(c * z**i for i, c in enumerate(SIN))
        assert float((mass * values * relu).sum()) == pytest.approx(exact, abs=1e-6)


def test_a_composition_scales_powers():
    assert scaled_coefficients([1.0, 2.0, 3.0], 10.0) == [1.0, 20.0, 300.0]
    with pytest.raises(InputError, match="too large for a float"):
        scaled_coefficients([0.0, 0.0, 1e300], 1e10)
