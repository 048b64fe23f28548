"""Functions as people write them."""

import math

import mpmath
import pytest
import torch

from widenet.base.errors import InputError
from widenet.theory.numbers import INFINITY
from widenet.theory.smooth.elementary import FUNCTIONS
from widenet.theory.smooth.functions import Smooth, function_from_rule, function_from_text


def floats(text: str, n: int) -> list[float]:
    return [float(c) for c in function_from_text(text).coefficients(n)]


def test_a_name_alone_is_the_function_of_z():
    assert floats("sin", 4) == floats("sin(z)", 4)


def test_coefficients_between_commas():
    assert floats("0, 1, -1/2, pi", 5) == pytest.approx([0, 1, -0.5, math.pi, 0])
    assert function_from_text("1,2,0").degree == 1
    with pytest.raises(InputError, match="coefficient"):
        function_from_text("1,z")


@pytest.mark.parametrize(
    ("rule", "coefficient", "radius"),
    [
        ("1/factorial(i)", lambda i: 1 / math.factorial(i), math.inf),
        ("(-1)**i / 2**i", lambda i: (-0.5) ** i, 2.0),
        ("i % 2 / 3^i", lambda i: (i % 2) / 3**i, 3.0),
        ("2**(1-2*i)/(2*i-1)", lambda i: 2 ** (1 - 2 * i) / (2 * i - 1), 4.0),
        ("factorial(i)", math.factorial, 0.0),
    ],
)
def test_rules_in_i(rule, coefficient, radius):
    f = function_from_text(rule)
    assert not f.certain
    assert [float(c) for c in f.coefficients(8)] == pytest.approx([coefficient(i) for i in range(8)])
    assert float(f.radius) == pytest.approx(radius, rel=1e-6, abs=1e-6)


def test_a_rule_without_value_says_where():
    with pytest.raises(InputError, match="i = 0"):
        function_from_text("1/i").coefficients(3)


def test_rules_in_python():
    f = function_from_rule(lambda i: 1 / math.factorial(i), radius=math.inf)
    assert f.radius == INFINITY
    assert [float(c) for c in f.coefficients(4)] == pytest.approx([1, 1, 1 / 2, 1 / 6])


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_smooth_functions_are_their_series(name):
    """The map of tensors and the Taylor series are the same function."""
    text = f"{name}(z/4 + 1)" if name in ("log", "sqrt") else f"{name}(z/4)"
    smooth = Smooth(text)
    z = torch.linspace(-1, 1, 7, dtype=torch.float64)
    coefficients = smooth.series.coefficients(60)
    series = [
        float(mpmath.fsum(c * mpmath.mpf(x) ** i for i, c in enumerate(coefficients))) for x in z.tolist()
    ]
    torch.testing.assert_close(smooth(z), torch.tensor(series, dtype=torch.float64), atol=1e-12, rtol=1e-12)


def test_smooth_keeps_shape_and_dtype():
    z = torch.zeros(3, 2, dtype=torch.float32)
    assert Smooth("sin")(z).shape == (3, 2)
    assert Smooth("2")(z).tolist() == [[2, 2]] * 3
    assert Smooth("z/3 + pi")(z).dtype == torch.float32
