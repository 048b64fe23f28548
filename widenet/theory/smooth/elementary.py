"""Elementary functions of a Taylor series: each as a recurrence, a majorant and a radius of convergence.

A constant inside a function, as in sin(z + 1), is taken out by the addition theorem of the function.
"""

from collections.abc import Callable
from functools import partial

from widenet.base.errors import InputError
from widenet.theory.numbers import Number, context, mpf
from widenet.theory.smooth import series
from widenet.theory.smooth.budget import within_angle
from widenet.theory.smooth.series import Series
from widenet.theory.smooth.taylor import (
    LARGEST_ARGUMENT,
    OuterFunction,
    Taylor,
    add,
    apply,
    constant,
    divide,
    multiply,
    raise_to,
    subtract,
    without_constant,
)


def _by_integral(slope: Callable[[Series], Series], u: Series) -> Series:
    """ψ(u) = ψ(0) + ∫ ψ'(u) u', for ψ(0) = 0."""
    return series.integral(series.product(slope(u[:-1]), series.derivative(u)))


def _slope_power(sign: int, exponent: float, u: Series) -> Series:
    """(1 + sign u²)^exponent."""
    return series.power([sign * c for c in series.product(u, u)], mpf(exponent))


def _erf_slope(u: Series) -> Series:
    factor = 2 / context.sqrt(context.pi)
    return [factor * c for c in series.exponential([-c for c in series.product(u, u)])]


def _log_slope(u: Series) -> Series:
    return series.power(u, mpf(-1))


EXP = OuterFunction(series.exponential, context.exp)
SIN = OuterFunction(lambda u: series.sine_cosine(u, -1)[0], context.sinh)
COS = OuterFunction(lambda u: series.sine_cosine(u, -1)[1], context.cosh)
SINH = OuterFunction(lambda u: series.sine_cosine(u, +1)[0], context.sinh)
COSH = OuterFunction(lambda u: series.sine_cosine(u, +1)[1], context.cosh)
TAN = OuterFunction(lambda u: series.tangent(u, +1), context.tan, context.pi / 2, 0.0, linear=False)
TANH = OuterFunction(lambda u: series.tangent(u, -1), context.tan, context.pi / 2, 0.0, linear=False)
ARCTAN = OuterFunction(
    partial(_by_integral, partial(_slope_power, +1, -1.0)), context.atanh, mpf(1), 1.0, num_products=3
)
ARTANH = OuterFunction(
    partial(_by_integral, partial(_slope_power, -1, -1.0)), context.atanh, mpf(1), 1.0, num_products=3
)
ARCSIN = OuterFunction(
    partial(_by_integral, partial(_slope_power, -1, -0.5)), context.asin, mpf(1), 1.5, num_products=3
)
ARSINH = OuterFunction(
    partial(_by_integral, partial(_slope_power, +1, -0.5)), context.asin, mpf(1), 1.5, num_products=3
)
LOG1P = OuterFunction(
    partial(_by_integral, _log_slope), lambda v: -context.log(1 - v), mpf(1), 1.0, num_products=2
)
ERF = OuterFunction(partial(_by_integral, _erf_slope), context.erfi, num_products=3)


def _scaled(c: Number, f: Taylor) -> Taylor:
    return multiply(constant(c), f) if c else constant(0)


def exp(f: Taylor) -> Taylor:
    """The exponential e^f."""
    return _scaled(context.exp(_bounded(f.constant)), apply(EXP, without_constant(f)))


def sin(f: Taylor) -> Taylor:
    """By the sum formula at f(0)."""
    a, u = within_angle(f.constant), without_constant(f)
    return add(_scaled(context.sin(a), apply(COS, u)), _scaled(context.cos(a), apply(SIN, u)))


def cos(f: Taylor) -> Taylor:
    """By the sum formula at f(0)."""
    a, u = within_angle(f.constant), without_constant(f)
    return subtract(_scaled(context.cos(a), apply(COS, u)), _scaled(context.sin(a), apply(SIN, u)))


def sinh(f: Taylor) -> Taylor:
    """By the sum formula at f(0)."""
    a, u = _bounded(f.constant), without_constant(f)
    return add(_scaled(context.sinh(a), apply(COSH, u)), _scaled(context.cosh(a), apply(SINH, u)))


def cosh(f: Taylor) -> Taylor:
    """By the sum formula at f(0)."""
    a, u = _bounded(f.constant), without_constant(f)
    return add(_scaled(context.cosh(a), apply(COSH, u)), _scaled(context.sinh(a), apply(SINH, u)))


def tan(f: Taylor) -> Taylor:
    """By the sum formula at f(0)."""
    t, at_zero = apply(TAN, without_constant(f)), constant(context.tan(within_angle(f.constant)))
    return t if f.constant == 0 else divide(add(at_zero, t), subtract(constant(1), multiply(at_zero, t)))


def tanh(f: Taylor) -> Taylor:
    """By the sum formula at f(0)."""
    t, at_zero = apply(TANH, without_constant(f)), constant(context.tanh(f.constant))
    return t if f.constant == 0 else divide(add(at_zero, t), add(constant(1), multiply(at_zero, t)))


def sigmoid(f: Taylor) -> Taylor:
    """1/(1 + e^−z) = ½ + ½ tanh(z/2)."""
    half = constant(mpf(1) / 2)
    return add(half, multiply(half, tanh(multiply(half, f))))


def arctan(f: Taylor) -> Taylor:
    """With a = f(0) and u = f − a it is arctan a plus the arctan of u / (1 + a² + au)."""
    a, u = f.constant, without_constant(f)
    if a == 0:
        return apply(ARCTAN, u)
    inner = divide(u, add(constant(1 + a * a), _scaled(a, u)))
    return add(constant(context.atan(a)), apply(ARCTAN, inner))


def log(f: Taylor) -> Taylor:
    """Of a function that is positive at zero."""
    if f.constant <= 0:
        raise InputError("log needs a function that is positive at zero, as in log(1 + z).")
    u = _scaled(1 / f.constant, without_constant(f))
    return add(constant(context.log(f.constant)), apply(LOG1P, u))


def _at_zero_only(name: str, outer: OuterFunction, f: Taylor) -> Taylor:
    if f.constant != 0:
        raise InputError(f"{name} needs a function that is zero at zero, as in {name}(z/2).")
    return apply(outer, f)


def _bounded(a: Number) -> Number:
    if abs(a) > LARGEST_ARGUMENT:
        raise InputError(f"exp of {context.nstr(a, 6)} is too large to be used in a formula.")
    return a


FUNCTIONS: dict[str, Callable[[Taylor], Taylor]] = {
    **{f.__name__: f for f in (exp, sin, cos, tan, sinh, cosh, tanh, sigmoid, arctan, log)},
    "atan": arctan,
    "sqrt": lambda f: raise_to(f, constant(mpf(1) / 2)),
    "erf": partial(_at_zero_only, "erf", ERF),
    "arcsin": partial(_at_zero_only, "arcsin", ARCSIN),
    "arcsinh": partial(_at_zero_only, "arcsinh", ARSINH),
    "arctanh": partial(_at_zero_only, "arctanh", ARTANH),
}
