"""What can be computed, by name: a function of the theory and what its arguments mean."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from widenet.base.errors import InputError
from widenet.theory.quantity import Quantity


@dataclass(frozen=True)
class Argument:
    """An argument of a quantity, as a person types it.

    Attributes:
        meaning: What it is, with its unit where it has one, as "number of samples".
        kind: int, float, bool, str, or tuple for numbers separated by commas.
        low: Smallest value allowed; of each number, for a tuple.
        high: Largest value allowed.
        default: Used where it is left out; None makes the argument a must.
        strict: Whether `low` and `high` themselves are outside.
        hidden: Of a constant that the paper hides, where it stands; empty for everything else.
    """

    meaning: str
    kind: type = float
    low: float = -math.inf
    high: float = math.inf
    default: Any = None
    strict: bool = False
    hidden: str = ""

    @property
    def range(self) -> str:
        """What is allowed, as "a whole number ≥ 1" or "a number with 0 < value < 1"."""
        return f"{_NOUNS[self.kind]}{_limits(self.low, self.high, self.strict)}"

    def read(self, name: str, text: str) -> Any:
        """The value that `text` stands for, or an InputError of one sentence."""
        try:
            value = _READERS[self.kind](text)
        except (KeyError, ValueError, OverflowError):
            raise self._refusal(name, text) from None
        numbers = value if self.kind is tuple else (value,) if self.kind in (int, float) else ()
        if not all(self._holds(number) for number in numbers):
            raise self._refusal(name, text)
        return value

    def _holds(self, number: float) -> bool:
        if not isinstance(number, int) and not math.isfinite(number):
            return False
        return self.low < number < self.high if self.strict else self.low <= number <= self.high

    def _refusal(self, name: str, text: str) -> InputError:
        return InputError(f"{name}={text} does not fit: {name} is the {self.meaning}, {self.range}.")


@dataclass(frozen=True)
class Entry:
    """A quantity by name.

    Attributes:
        name: As typed, in lower case with hyphens: "resnet-theorem-1".
        function: Takes `arguments` by keyword.
        arguments: By the function's keyword.
        summary: One line for the list.
    """

    name: str
    function: Callable[..., Quantity]
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    summary: str = ""

    def __call__(self, given: Mapping[str, str]) -> Quantity:
        """The quantity for arguments given as text."""
        unknown = [key for key in given if key not in self.arguments]
        if unknown:
            raise InputError(
                f"{self.name} has no argument {unknown[0]}; it takes {', '.join(self.arguments) or 'none'}."
            )
        missing = [
            f"{key} (the {argument.meaning}, {argument.range})"
            for key, argument in self.arguments.items()
            if argument.default is None and key not in given
        ]
        if missing:
            raise InputError(f"{self.name} also needs {', '.join(missing)}.")
        return self.function(**{key: self.arguments[key].read(key, text) for key, text in given.items()})


def _limits(low: float, high: float, strict: bool) -> str:
    sign = "<" if strict else "≤"
    if low > -math.inf and high < math.inf:
        return f" with {low:g} {sign} value {sign} {high:g}"
    if low > -math.inf:
        return f" {'>' if strict else '≥'} {low:g}"
    if high < math.inf:
        return f" {sign} {high:g}"
    return ""


def _whole(text: str) -> int:
    """Also as 1e6 or 10_000, which people write for sizes."""
    try:
        return int(text)
    except ValueError:
        number = float(text)
    if number != int(number):
        raise ValueError(text)
    return int(number)


def _truth(text: str) -> bool:
    return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}[text.lower()]


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split(","))


_READERS: dict[type, Callable[[str], Any]] = {
    int: _whole,
    float: float,
    bool: _truth,
    str: str,
    tuple: _numbers,
}
_NOUNS: dict[type, str] = {
    int: "a whole number",
    float: "a number",
    bool: "yes or no",
    str: "text",
    tuple: "numbers separated by commas",
}
