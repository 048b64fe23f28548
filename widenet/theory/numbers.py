"""Numbers of any size, in one mpmath context whose precision nothing changes, and how they are shown."""

import math
from typing import Any, TypeAlias

from mpmath.ctx_mp import MPContext

NUM_DIGITS = 100

context = MPContext()
context.dps = NUM_DIGITS
ROUNDOFF = context.mpf(2) ** -context.prec  # relative error of one operation
INFINITY = context.inf

mpf = context.mpf
Number: TypeAlias = Any  # an mpf of the context; mpmath has no types


def as_float(value: Number) -> float:
    """The number, infinite where a float overflows."""
    return float(value) if value < mpf(10) ** 308 else math.inf


def log10(value: Number) -> float:
    """The decimal logarithm as a float; −∞ at 0."""
    return float(context.log10(value)) if value > 0 else -math.inf


def shown_number(value: Number, digits: int = 6) -> str:
    """A number of any size, as 12.5 or 8.8e4342."""
    return "∞" if value == INFINITY else context.nstr(mpf(value), digits, min_fixed=-4, max_fixed=7)


def four_digits(value: Number) -> str:
    """The same with four of them."""
    return shown_number(value, 4)
