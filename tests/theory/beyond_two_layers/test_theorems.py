"""Theorems of beyond-two-layers, recomputed with closed forms of the complexities."""

import math

import mpmath
import pytest

from widenet.base.errors import InputError
from widenet.theory.beyond_two_layers import theorems as beyond

STAR = 2.0


def samples(sizes: dict[int, float], R: float) -> float:
    """C_s of a polynomial by its |c_i|."""
    return STAR * sum((i + 1) ** 1.75 * R**i * size for i, size in sizes.items())


def widths(sizes: dict[int, float], R: float, epsilon: float) -> float:
    """C_ε of a polynomial by its |c_i|."""
    x, L = STAR * R, math.log(1 / epsilon)
    return sum((x**i + (math.sqrt(L / i) * x if i else 1) ** i) * size for i, size in sizes.items())


def test_theorem_1():
    with mpmath.workdps(30):
        C_s = 1e4 * float(
            mpmath.nsum(lambda j: (2 * j + 2) ** 1.75 / mpmath.factorial(2 * j + 1), [0, mpmath.inf])
        )
    epsilon = 0.9 / (5 * 2 * C_s)
    found = beyond.theorem_1("sin", 2, 5, epsilon, 1e6, c_eta=3.0)
    assert found.terms["C_s"] == pytest.approx(C_s, rel=1e-10)
    assert found.value == pytest.approx(C_s**2 * 2**3 * 5**2 / epsilon**2, rel=1e-9)
    assert found.terms["eta"] == pytest.approx(3 / (epsilon * 2 * 1e6))
    assert found.terms["largest epsilon"] == pytest.approx(1 / (5 * 2 * C_s))
    assert found.applies
    assert not beyond.theorem_1("sin", 2, 5, 0.1, 1e6).applies


def test_theorem_1_of_a_function_without_complexity():
    found = beyond.theorem_1("tanh(8*z)", 1, 1, 1e-9, 1e6)
    assert found.value == math.inf
    assert found.applies is False
    assert any("diverges" in sentence for sentence in found.why)


def test_theorem_2_and_3_of_polynomials():
    inner, outer = {1: 1.0, 3: 0.5}, {0: 4.0, 1: 4.0, 2: 1.0}
    k, p1, p2, epsilon0, m = 2, 3, 4, 0.01, 1e5
    s = samples(inner, 1)
    epsilon = epsilon0 / (k * p1 * p2**2 * samples(outer, p2 * s) * s**2)
    w = widths(inner, 1, epsilon)
    C = widths(outer, math.sqrt(p2) * w, epsilon)
    second = beyond.theorem_2("z + z**3/2", "(z-2)**2", k, p1, p2, epsilon0, c_star=STAR)
    assert 10 ** second.terms["log10 epsilon"] == pytest.approx(epsilon)
    assert second.value == pytest.approx((C * w * math.sqrt(p2) * p1 * k**2 / epsilon0) ** 2)
    assert second.applies
    assert not beyond.theorem_2("z", "z", 1, 1, 1, 0.011, c_star=STAR).applies  # ε0 ≤ 1/100
    third = beyond.theorem_3("z + z**3/2", "(z-2)**2", k, p1, p2, epsilon0, m, c_star=STAR, c_N=2.0)
    assert third.value == pytest.approx(2 * C / epsilon * m**1.5)
    assert third.applies is False
    assert beyond.theorem_3("z + z**3/2", "(z-2)**2", k, p1, p2, epsilon0, 1e30, c_star=STAR).applies


def test_the_papers_constant_gives_logarithms():
    found = beyond.theorem_2("sin(3*z)", "(z-2)**2", 1, 1, 3, 0.01)
    inner = 3e4 / math.log(10)
    assert found.value == math.inf
    assert found.terms["log10 C_epsilon(phi)"] == pytest.approx(inner, rel=1e-3)
    assert found.log10 == pytest.approx(6 * inner, rel=1e-2)


def test_what_diverges_is_said():
    with pytest.raises(InputError, match="diverges"):
        beyond.theorem_2("arctan", "z", 1, 1, 1, 0.01)
    assert beyond.theorem_2("arctan", "z", 1, 1, 1, 0.01, degree=5).log10 > 0
