"""What a formula may cost: a few seconds, whatever is typed. Operations and digits are counted, not time."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from widenet.base.errors import InputError
from widenet.theory.numbers import Number, context, mpf, shown_number

MOST_OPERATIONS = 1_500_000  # products of two numbers: some seconds
HIGHEST_DEGREE = 10_000  # of a polynomial
LARGEST_SIZE = 1000  # bits of log₂|x|: beyond, a number's exponent alone is long
LARGEST_ANGLE = 10_000  # bits of x before the point: sin x needs as many digits of π
FUNCTION_COST, POWER_COST = 60, 20  # products that a function of a number, and a power, take about


@dataclass(frozen=True)
class Cost:
    """Operations that n coefficients of a series take: fixed + linear · n + square · n²/2."""

    fixed: int = 0
    linear: int = 0
    square: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.fixed + other.fixed, self.linear + other.linear, self.square + other.square)

    def operations(self, n: int) -> int:
        """Operations that n coefficients take."""
        return self.fixed + self.linear * n + self.square * n * n // 2

    def require(self, n: int, before: int = 0) -> None:
        """Refuse n coefficients that would take longer than a person waits, after so many operations."""
        operations = before + self.operations(n)
        if operations > MOST_OPERATIONS:
            raise InputError(
                f"This formula takes about {float(operations):.1e} operations, more than the "
                f"{MOST_OPERATIONS:.1e} of some seconds: write it in a simpler way, with lower powers."
            )


NO_COST, RULE_COST = Cost(), Cost(linear=1)


def within_size(x: Number) -> Number:
    """The number, refused where it is so large or so small that only its logarithm could be written down."""
    if x and context.isfinite(x) and abs(int(context.mag(x))).bit_length() > LARGEST_SIZE:
        raise InputError("A number in the formula is too large or too small to be computed with.")
    return x


def within_angle(x: Number) -> Number:
    """The number, refused where it is too large for its remainder to be found."""
    if x and context.isfinite(x) and abs(int(context.mag(x))) > LARGEST_ANGLE:
        raise InputError(f"sin, cos, tan and % cannot be taken of {shown_number(x)}.")
    return x


def within_exponent(x: Number) -> Number:
    """The number, refused where nothing can be raised to it."""
    if x and context.isfinite(x) and int(context.mag(x)) > LARGEST_SIZE:
        raise InputError("A power in the formula is too large to be computed with.")
    return x


def bounded(function: Callable[..., Number]) -> Callable[..., Number]:
    """The function, with a result of bounded size."""

    @wraps(function)
    def of(*numbers: Any) -> Number:
        value = function(*numbers)
        return within_size(value) if isinstance(value, mpf) else value

    return of
