"""Taylor series against mpmath's numerical derivatives, and majorants against the series themselves."""

import mpmath
import pytest

from widenet.base.errors import InputError
from widenet.theory.numbers import INFINITY, context, mpf
from widenet.theory.smooth import taylor
from widenet.theory.smooth.functions import function_from_text

N = 16
REFERENCES = {
    "exp(z)": mpmath.exp,
    "sin(3*z)": lambda z: mpmath.sin(3 * z),
    "cos(7*z)": lambda z: mpmath.cos(7 * z),
    "tanh(8*z)": lambda z: mpmath.tanh(8 * z),
    "tanh(z/2 + 1)": lambda z: mpmath.tanh(z / 2 + 1),
    "tan(z - 0.5)": lambda z: mpmath.tan(z - mpmath.mpf("0.5")),
    "sigmoid(2*z)": lambda z: 1 / (1 + mpmath.exp(-2 * z)),
    "arctan(z/2)*z": lambda z: z * mpmath.atan(z / 2),
    "arctan(z + 1)": lambda z: mpmath.atan(z + 1),
    "arctanh(z/3)": lambda z: mpmath.atanh(z / 3),
    "arcsin(z/2)": lambda z: mpmath.asin(z / 2),
    "arcsinh(z)": mpmath.asinh,
    "erf(z)": mpmath.erf,
    "log(2 + z)": lambda z: mpmath.log(2 + z),
    "sqrt(1 + z/2)": lambda z: mpmath.sqrt(1 + z / 2),
    "(2 + z)**2.5": lambda z: (2 + z) ** mpmath.mpf("2.5"),
    "(1 + z)**-3": lambda z: (1 + z) ** -3,
    "cos(z + 1)**3": lambda z: mpmath.cos(z + 1) ** 3,
    "exp(sin(z) + 1)": lambda z: mpmath.exp(mpmath.sin(z) + 1),
    "exp(z)*sin(3*z)": lambda z: mpmath.exp(z) * mpmath.sin(3 * z),
    "sinh(z + 1) - cosh(z - 1)": lambda z: mpmath.sinh(z + 1) - mpmath.cosh(z - 1),
    "1/(1 + z^2/9 + z/9)": lambda z: 1 / (1 + z**2 / 9 + z / 9),
    "1/cosh(z)": mpmath.sech,
    "(1 + z)**10 - z": lambda z: (1 + z) ** 10 - z,
    "exp(-z**2/2)": lambda z: mpmath.exp(-(z**2) / 2),
}


@pytest.mark.parametrize("text", REFERENCES)
def test_coefficients_are_the_derivatives(text):
    with mpmath.workdps(120):
        wanted = mpmath.taylor(REFERENCES[text], 0, N - 1)
        found = function_from_text(text).coefficients(N)
        assert len(found) == N
        for c, reference in zip(found, wanted, strict=True):
            assert abs(mpmath.mpf(str(c)) - reference) < mpmath.mpf(10) ** -30 * (1 + abs(reference))


@pytest.mark.parametrize("text", REFERENCES)
def test_majorants_dominate(text):
    f = function_from_text(text)
    sizes = [abs(c) for c in f.coefficients(60)]
    for part in (0.3, 0.9):
        r = part * min(f.radius, mpf(2))
        total = f.majorant(r)
        assert context.fsum(size * r**i for i, size in enumerate(sizes)) <= total * (1 + mpf(10) ** -80)
        assert total < INFINITY


@pytest.mark.parametrize(
    ("text", "radius"),
    [
        ("exp(3*z)", None),
        ("sin(z)*exp(z) + z**3", None),
        ("arctan(z/2)", 2.0),
        ("z*arctan(z/2)", 2.0),
        ("arctan(z**2/4)", 2.0),
        ("tanh(8*z)", mpmath.pi / 16),
        ("sigmoid(z)", mpmath.pi),
        ("1/(1 - 4*z)", 0.25),
        ("sqrt(9 + z)", 9.0),
        ("exp(z) + log(1 + z/3)", 3.0),
        ("arcsin(z)", 1.0),
        ("tan(z) - 5", mpmath.pi / 2),
    ],
)
def test_sharp_radii(text, radius):
    f = function_from_text(text)
    if radius is None:
        assert f.radius == INFINITY
    else:
        assert float(f.radius) == pytest.approx(float(radius), rel=1e-12)
        assert f.decay is not None


def test_other_radii_are_lower_bounds():
    f = function_from_text("1/cosh(z)")
    assert f.decay is None
    assert 1.3 < f.radius < mpmath.pi / 2
    assert float(f.radius) == pytest.approx(float(mpmath.acosh(2)), rel=1e-9)


@pytest.mark.parametrize(
    ("text", "decay"), [("arctan(z)", 1.0), ("1/(1 + z)", 0.0), ("sqrt(1 + z)", 1.5), ("arcsin(z)", 1.5)]
)
def test_decay_at_the_radius(text, decay):
    """|c_i| ~ i^−decay where the radius is 1."""
    sizes = [abs(c) for c in function_from_text(text).coefficients(802)]
    ratio = max(sizes[400:402]) / max(sizes[800:802])
    assert float(mpmath.log(ratio, 2)) == pytest.approx(decay, abs=0.02)
    assert function_from_text(text).decay == decay


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("1/z", "Dividing"),
        ("log(z)", "positive at zero"),
        ("sqrt(z)", "Taylor series"),
        ("(z - 1)**0.5", "Taylor series"),
        ("z**z", "power must be a number"),
        ("z**5000", "too large"),
        ("exp(exp(99))", "too large"),
        ("erf(z + 1)", "zero at zero"),
        ("9**9**9**9", "too large"),
    ],
)
def test_what_has_no_series_is_refused(text, word):
    with pytest.raises(InputError, match=word):
        function_from_text(text)


def test_truncation_keeps_the_first_coefficients():
    f = function_from_text("tanh(z)")
    short = taylor.truncate(f, 5)
    assert short.degree == 5
    assert short.radius == INFINITY
    assert short.coefficients(8)[:6] == f.coefficients(6)
    assert short.coefficients(8)[6:] == [0, 0]


def test_polynomials_know_their_degree():
    assert function_from_text("(1 + z)**10").degree == 10
    assert function_from_text("z - z").degree == 0
    assert function_from_text("arctan(0*exp(z))").degree == 0
    assert function_from_text("exp(z)").degree is None
