"""Lemma 6.3 of beyond-two-layers: h, its means and its sizes."""

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
import torch
from torch.testing import assert_close

from widenet.base.errors import InputError
from widenet.theory.beyond_two_layers.hermite import (
    GatedHermite,
    expectation,
    gated_hermite,
    gated_means,
    hermite,
    indicator_to_function,
    log_hermite,
    mean_squares,
    taylor_degree,
    window,
    window_means,
)
from widenet.theory.smooth.complexity import TWO_LAYER_POWER, c_epsilon, c_s
from widenet.theory.smooth.functions import function_from_text

PHI = {"sin": np.sin, "tanh": np.tanh, "exp": np.exp, "z**2": np.square, "z**3": lambda z: z**3}
GATES = ("window", "least")
EPSILON = 1e-3


def h_of(phi: str, gate: str) -> GatedHermite:
    series = function_from_text(phi)
    degree = taylor_degree(series, EPSILON)
    return gated_hermite([float(c) for c in series.coefficients(degree + 1)], gate, EPSILON)


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("phi", PHI)
def test_the_mean_is_the_function(phi, gate):
    z = torch.linspace(-1, 1, 9, dtype=torch.float64)
    exact = torch.from_numpy(PHI[phi](z.numpy()))
    assert float((expectation(h_of(phi, gate), z) - exact).abs().max()) < EPSILON


@pytest.mark.parametrize("gate", GATES)
def test_the_quadrature_is_that_of_an_integral(gate):
    """In the paper's own variables, where β₁ is integrated out: E[h(α₁, b) P(zα₁ + √(1−z²)β₁ + b ≥ 0)]."""
    h, z = h_of("sin(z) + 1/2", gate), 0.6
    cuts = sorted({-9.0, 0.0, 9.0} | {end for i in range(1, h.degree + 1) for end in window(i)})
    total = 0.0
    for low, high in pairwise(cuts):
        nodes, weights = np.polynomial.legendre.leggauss(60)
        b = torch.from_numpy((low + high) / 2 + (high - low) / 2 * nodes)
        alpha = torch.linspace(-9, 9, 3001, dtype=torch.float64)
        density = torch.exp(-(alpha**2 + b[:, None] ** 2) / 2) / (2 * math.pi)
        passed = torch.special.ndtr((z * alpha + b[:, None]) / 0.8)
        values = h(alpha.expand(60, -1), b[:, None].expand(-1, 3001)) * passed * density
        total += float(torch.from_numpy(weights) @ torch.trapezoid(values, alpha, dim=1)) * (high - low) / 2
    found = expectation(h, torch.tensor([z], dtype=torch.float64))
    assert float(found) == pytest.approx(total, abs=1e-6)


def test_hermite_polynomials_are_those_of_mpmath():
    z = torch.tensor([-3.1, 0.0, 0.4, 2.2], dtype=torch.float64)
    for i, row in enumerate(hermite(z, 30)):
        # H_i of physicists: h_i(z) = 2^{-i/2} H_i(z/√2)
        exact = [
            mpmath.hermite(i, x / mpmath.sqrt(2)) / mpmath.sqrt(2) ** i / mpmath.sqrt(mpmath.factorial(i))
            for x in z.tolist()
        ]
        assert row.tolist() == pytest.approx([float(x) for x in exact], rel=1e-11, abs=1e-13)
    assert log_hermite(60.0, 30) == pytest.approx(
        math.log(float(hermite(torch.tensor([60.0], dtype=torch.float64), 30)[30])), rel=1e-12
    )


@pytest.mark.parametrize("i", [0, 1, 2, 3, 6, 9])
def test_gated_means_are_integrals(i):
    """p_i(b) = ∫_{−b}^∞ h_i(α)ϕ(α)dα, the L of lemma A.7 put together."""
    for b in (-1.3, 0.0, 0.25, 2.0):
        scale = mpmath.sqrt(2)
        exact = mpmath.quad(
            lambda a: mpmath.hermite(i, a / scale) / scale**i * mpmath.npdf(a),  # noqa: B023
            [-b, 3, 14],
        )
        found = gated_means(torch.tensor([b], dtype=torch.float64), i)[i]
        assert float(found) * math.sqrt(math.factorial(i)) == pytest.approx(float(exact), abs=1e-10)


def test_means_over_windows_and_squares_are_integrals():
    found, squares = window_means(12), mean_squares(12)
    assert (found[0], squares[0]) == (0.5, pytest.approx(1 / 3))
    for i in (1, 2, 5, 8, 12):

        def p(b, i=i):
            h = mpmath.hermite(i - 1, -b / mpmath.sqrt(2)) / mpmath.sqrt(2) ** (i - 1)
            return h * mpmath.npdf(b) / mpmath.sqrt(mpmath.factorial(i))

        low, high = window(i)
        exact = mpmath.quad(lambda b, p=p: p(b) * mpmath.npdf(b), [low, high])
        assert found[i] == pytest.approx(float(exact), rel=1e-9)
        exact = mpmath.quad(lambda b, p=p: p(b) ** 2 * mpmath.npdf(b), [-12, -6, -3, 0, 3, 6, 12])
        assert squares[i] == pytest.approx(float(exact), rel=1e-9)


def test_the_constants_of_claim_c1_are_not_too_small():
    """|p'_i| ≥ (i−1)!!/(200 i²), in logarithms."""
    assert (window(3), window(4)) == ((-1 / 6, 1 / 6), (-1 / 8, 0.0))
    for i, mean in enumerate(window_means(60)):
        if i:
            double = sum(math.log(j) for j in range(i - 1, 0, -2))
            log_p = math.log(abs(mean)) + math.lgamma(i + 1) / 2
            assert log_p >= double - math.log(200 * i**2)


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("phi", PHI)
def test_the_mean_square_is_an_integral_and_sizes_are_within_the_lemma(phi, gate):
    """Gauss quadrature over α, exact for the square of a polynomial, and a fine sum over b."""
    h = h_of(phi, gate)
    nodes, weights = np.polynomial.hermite_e.hermegauss(h.degree + 1)
    b = torch.linspace(-8, 8, 20_001, dtype=torch.float64)
    values = h(torch.from_numpy(nodes).expand(len(b), -1), b[:, None].expand(-1, len(nodes)))
    means = values.square() @ torch.from_numpy(weights) / math.sqrt(2 * math.pi)
    density = torch.exp(-(b**2) / 2) / math.sqrt(2 * math.pi)
    assert h.mean_square == pytest.approx(float(torch.trapezoid(means * density, b)), rel=2e-2)
    assert math.log(float(values.abs().max())) <= h.log_largest
    assert math.sqrt(h.mean_square) <= c_s(phi, power=TWO_LAYER_POWER).value
    assert h.log_largest / math.log(10) <= c_epsilon(phi, EPSILON, degree=h.degree).log10


@pytest.mark.parametrize("phi", PHI)
def test_the_least_gates_are_smaller_than_windows(phi):
    assert h_of(phi, "least").mean_square < h_of(phi, "window").mean_square


def test_polynomials_are_constant_beyond_their_clamps():
    h = gated_hermite([0.0, 1.0, 0.5])
    far, b = torch.tensor([h.clamps[2] + 1, 10 * h.clamps[2]], dtype=torch.float64), torch.tensor(-0.1)
    values = h(far, b.expand(2).double())
    assert_close(values[0], values[1])
    near = h(torch.tensor([h.clamps[0], h.clamps[0] + 1e-9], dtype=torch.float64), b.expand(2).double())
    assert_close(near[0], near[1])


def test_as_a_quantity():
    found = indicator_to_function("tanh", gate="least")
    assert found.applies
    assert found.terms["largest error in the mean on [-1, 1]"] < EPSILON
    assert found.value == pytest.approx(math.sqrt(h_of("tanh", "least").mean_square))
    with pytest.raises(InputError, match="converges beyond"):
        indicator_to_function("arctan(z)")
    with pytest.raises(InputError, match="window or least"):
        indicator_to_function("sin(z)", gate="wide")


def test_a_coefficient_beyond_a_float_is_refused():
    with pytest.raises(InputError, match="too large for a float"):
        indicator_to_function("-1e400")


def test_a_polynomial_is_met_to_the_rounding_of_float64():
    found = indicator_to_function("0.3*z**2+0.1*z")
    assert found.terms["largest error in the mean on [-1, 1]"] < 1e-12
