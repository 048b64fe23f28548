"""Complexities against closed forms and mpmath's sums, bounds of their errors, and divergence."""

import math

import mpmath
import pytest

from widenet.base.errors import NotConvergedError
from widenet.theory.numbers import mpf
from widenet.theory.smooth.complexity import (
    TWO_LAYER_POWER,
    _summed,
    c_epsilon,
    c_s,
    complexity_sum,
    epsilon_weights,
    sample_weights,
)
from widenet.theory.smooth.functions import function_from_text


def slope_of_z_times(function, R):
    """Σ (i+1)|c_i|R^i is the derivative of zΣ|c_i|z^i."""
    return mpmath.diff(lambda z: z * function(z), R)


@pytest.mark.parametrize(
    ("phi", "positive", "R"),
    [
        ("exp", mpmath.exp, 1.0),
        ("exp(2*z)", lambda z: mpmath.exp(2 * z), 3.0),
        ("sin", mpmath.sinh, 1.0),
        ("sin(3*z)", lambda z: mpmath.sinh(3 * z), 1.0),
        ("cos(7*z)", lambda z: mpmath.cosh(7 * z), 1.0),
        ("tanh", mpmath.tan, 1.0),
        ("sigmoid", lambda z: mpmath.mpf(1) / 2 + mpmath.tan(z / 2) / 2, 1.0),
        ("arctan(z/2)", lambda z: mpmath.atanh(z / 2), 1.0),
        ("z*arctan(z/2)", lambda z: z * mpmath.atanh(z / 2), 1.0),
        ("1,-2,3", lambda z: 1 + 2 * z + 3 * z**2, 2.0),
        ("1/(1 + z/2)", lambda z: 1 / (1 - z / 2), 1.0),
        ("log(1 + z/3)", lambda z: -mpmath.log(1 - z / 3), 2.0),
        ("erf", mpmath.erfi, 1.0),
        ("(-1)**i / factorial(i)", mpmath.exp, 1.0),
    ],
)
def test_c_s_in_closed_form(phi, positive, R):
    found = c_s(phi, R=R)
    with mpmath.workdps(40):
        wanted = 10**4 * slope_of_z_times(positive, mpmath.mpf(R))
    assert found.value == pytest.approx(float(wanted), rel=1e-12)
    assert found.error < 1e-12 * found.value
    assert found.log10 == pytest.approx(math.log10(found.value))
    assert not found.constants["C*"].hidden  # the paper's own example
    assert c_s(phi, R=R, c_star=2.0).constants["C*"].hidden


@pytest.mark.parametrize(
    ("phi", "size"),
    [
        ("exp", lambda i: 1 / mpmath.factorial(i)),
        ("arctan(z/2)", lambda i: 2**-i / i if int(i) % 2 else mpmath.mpf(0)),
        ("1/(1 - z/3)", lambda i: mpmath.mpf(3) ** -i),
    ],
)
def test_c_s_with_the_power_of_beyond_two_layers(phi, size):
    wanted = mpmath.fsum(
        (i + 1) ** mpmath.mpf("1.75") * size(mpmath.mpf(i)) for i in range(1 if "arc" in phi else 0, 200)
    )
    assert c_s(phi, power=TWO_LAYER_POWER).value == pytest.approx(1e4 * float(wanted), rel=1e-12)


def test_c_s_agrees_with_mpmath_nsum():
    with mpmath.workdps(30):
        wanted = mpmath.nsum(
            lambda i: (i + 1) ** 1.75 * mpmath.mpf(2) ** i / mpmath.factorial(i), [0, mpmath.inf]
        )
    assert c_s("exp", R=2.0, power=1.75, c_star=1.0).value == pytest.approx(float(wanted), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 0.01, 1e-9])
def test_c_epsilon_agrees_with_mpmath_nsum(epsilon):
    x = mpmath.mpf(10)
    with mpmath.workdps(40):
        L = -mpmath.log(mpmath.mpf(epsilon))
        second = 1 + mpmath.nsum(
            lambda i: (mpmath.sqrt(L / i) * x) ** i / mpmath.factorial(i), [1, mpmath.inf]
        )
        wanted = mpmath.exp(x) + second
    found = c_epsilon("exp", epsilon, c_star=10.0)
    assert found.value == pytest.approx(float(wanted), rel=1e-12)
    assert found.terms["log10 second sum"] == pytest.approx(float(mpmath.log10(second)), rel=1e-12)


def test_the_constant_counts_twice():
    assert c_epsilon("3", 0.1).value == 6
    assert c_epsilon("3", 0.1, 0.0).value == 6
    assert c_s("3", R=0.0).value == 3e4


@pytest.mark.parametrize(("phi", "expected"), [("sin", 0.0), ("exp", 2.0), ("sin(z) - sin(z)", 0.0)])
def test_where_nothing_or_one_term_is_left(phi, expected):
    assert c_epsilon(phi, 0.1, 0.0).value == expected
    assert c_s("sin(z) - sin(z)", R=1.0).value == 0.0


def test_the_papers_constant_overflows_a_float_but_not_the_logarithm():
    found = c_epsilon("exp", 0.01)
    assert found.value == math.inf
    assert found.log10 == pytest.approx(1e4 / math.log(10), rel=1e-12)
    assert found.terms["relative error of the sum"] < 1e-12
    assert found.applies


@pytest.mark.parametrize("phi", ["exp(z)", "tanh(z)", "z*arctan(z/2)", "1/(1 + z/3 + z**2/3)", "exp(sin(z))"])
@pytest.mark.parametrize(
    "weights",
    [sample_weights(mpf(1), 1.75, mpf(1)), epsilon_weights(mpf("0.9"), mpf("1e-4"), mpf(1))],
    ids=["C_s", "C_eps"],
)
def test_the_error_bound_holds_after_few_terms_too(phi, weights):
    f = function_from_text(phi)
    whole = complexity_sum(f, weights).value
    previous = None
    for n in (8, 16, 32, 64):
        part = _summed(f, weights, n)
        assert whole - part.value <= part.error
        assert previous is None or part.error < previous
        previous = part.error


@pytest.mark.parametrize(
    ("phi", "R", "word"),
    [
        ("z*arctan(z/2)", 1.0, "radius of convergence 2.0"),
        ("tanh", 1.0, "1.5708"),
        ("arctan", 1.0, "1.0"),
        ("1/cosh(z)", 1.0, "first 400 coefficients"),
        ("2**(-i)", 1.0, "10⁹"),
    ],
)
def test_c_epsilon_diverges_beyond_the_radius(phi, R, word):
    """Example 6.4 of fine-grained, z·arctan(z/2), and others."""
    found = c_epsilon(phi, 0.01, R)
    assert found.value == math.inf
    assert found.log10 == math.inf
    assert found.applies is False
    assert "diverges" in found.why[-1]
    assert word in found.why[-1]


@pytest.mark.parametrize("power", [1.0, 1.75])
def test_c_s_diverges_at_the_radius_itself(power):
    assert c_s("arctan", R=1.0, power=power).value == math.inf
    assert c_s("sqrt(1 + z)", R=1.0, power=power).value == math.inf
    assert math.isfinite(c_s("arctan", R=0.99, power=power).value)


def test_c_s_beyond_the_radius():
    assert c_s("tanh", R=1.5).value < math.inf
    assert c_s("tanh", R=1.58).value == math.inf
    assert c_s("1/cosh(z)", R=2.0).value == math.inf


def test_what_cannot_be_decided_is_not_guessed():
    with pytest.raises(NotConvergedError, match="decided"):
        c_s("1/cosh(z)", R=1.5)
    with pytest.raises(NotConvergedError, match="decided"):
        c_epsilon("arcsin", 0.1, 1.0, c_star=1.0)


def test_more_terms_than_can_be_summed():
    with pytest.raises(NotConvergedError, match="terms"):
        c_epsilon("exp(sin(z))", 0.01)


def test_a_taylor_polynomial_in_place_of_the_function():
    """Example 4.1: tanh is truncated, here after z³."""
    found = c_epsilon("tanh", 0.01, c_star=2.0, degree=4)
    L = math.log(100)
    wanted = 2 + 2 * math.sqrt(L) + (8 + (2 * math.sqrt(L / 3)) ** 3) / 3
    assert found.value == pytest.approx(wanted)
    assert "degree 4" in found.why[0]
    assert "finite sum" in found.why[1]
    assert found.filled.startswith("C_ε(tanh, 1) = ")


def test_a_rule_is_summed_but_its_tail_is_not_proven():
    rule, formula = c_s("1/factorial(i)"), c_s("exp")
    assert rule.value == pytest.approx(formula.value, rel=1e-14)
    assert "not proven" in rule.why[-1]
    assert "the rest is at most" in formula.why[-1]
