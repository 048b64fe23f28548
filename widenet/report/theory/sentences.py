"""Quantities of the theory, and their arguments, in words."""

import math
from collections.abc import Mapping

from widenet.theory.entry import Argument
from widenet.theory.quantity import Constant, Quantity


def sentences(quantity: Quantity) -> tuple[str, ...]:
    """The value, and whether the theorem applies."""
    applies = {
        True: "The arguments are inside the theorem's range.",
        False: "The arguments are outside the theorem's range.",
        None: "It has no conditions to check.",
    }
    return f"{quantity.name} is {value_text(quantity)}.", applies[quantity.applies]


def value_text(quantity: Quantity) -> str:
    """The value, by its logarithm where a float overflows."""
    if math.isfinite(quantity.value):
        error = f" ± {quantity.error:.1g}" if quantity.error else ""
        return f"{quantity.value:.6g}{error}"
    if quantity.log10 is not None and math.isfinite(quantity.log10):
        return f"10^{quantity.log10:.6g}, too large for a float"
    return "infinite"


def number_text(value: float) -> str:
    """A term, with six digits."""
    if isinstance(value, float) and math.isinf(value):
        return "too large for a float" if value > 0 else "−∞"
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def constant_text(symbol: str, constant: Constant) -> str:
    """A constant, and whose it is."""
    whose = "our value; the paper hides it" if constant.hidden else "the paper's"
    return f"{symbol} = {constant.value:g} ({whose}): {constant.meaning}"


def argument_lines(arguments: Mapping[str, Argument]) -> list[str]:
    """What each argument means, its range and its default."""
    return [
        f"{name}: {argument.meaning}, {argument.range}{_default_text(argument.default)}"
        for name, argument in arguments.items()
    ]


def _default_text(default: object) -> str:
    if default is None:
        return ""
    return f"; {default:g} by default" if isinstance(default, float) else f"; {default} by default"
