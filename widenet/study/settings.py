"""Settings: frozen dataclasses whose fields hold every default, range and meaning, once and without torch."""

import math
from collections.abc import Iterator
from dataclasses import Field, dataclass, field, fields
from typing import Any

from widenet.base.errors import InputError
from widenet.base.wording import near_names, shown

LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True)
class Meaning:
    """What a setting is.

    Attributes:
        text: One line for people, without its default.
        low: Smallest value allowed; of each number, where there are several.
        high: Largest value allowed.
        strict: Whether `low` and `high` themselves are outside.
        choices: The only values allowed; empty where there is no such list.
        otherwise: What None, or an empty list, stands for.
        metavar: How the command line calls the value.
    """

    text: str
    low: float = -math.inf
    high: float = math.inf
    strict: bool = False
    choices: tuple[Any, ...] = ()
    otherwise: str = ""
    metavar: str | None = None

    def allows(self, value: Any) -> bool:
        """Whether a value, or each of several, is in range."""
        if isinstance(value, tuple):
            return all(map(self.allows, value))
        if self.choices:
            return value in self.choices
        if not isinstance(value, int | float) or isinstance(value, bool):
            return True
        if isinstance(value, float) and not math.isfinite(value):
            return False
        return self.low < value < self.high if self.strict else self.low <= value <= self.high

    @property
    def range(self) -> str:
        """What is allowed, as "one of 2, 3", "from 1 to 100", "at least 1" or "finite and above 0"."""
        low, high = _limit(self.low), _limit(self.high)
        if self.choices:
            return f"one of {', '.join(map(str, self.choices))}"
        if math.isfinite(self.low) and math.isfinite(self.high):
            return f"between {low} and {high}" if self.strict else f"from {low} to {high}"
        if math.isfinite(self.low):
            return f"finite and above {low}" if self.strict else f"at least {low}"
        return f"below {high}" if self.strict else f"at most {high}"


def _limit(value: float) -> str:
    """A limit in full where it is a whole number that people can read."""
    return f"{value:,}" if isinstance(value, int) and value < 10**12 else f"{value:g}"


def setting(default: Any, text: str, **meaning: Any) -> Any:
    """A field of settings: its default, and the arguments of `Meaning`."""
    return field(default=default, metadata={"meaning": Meaning(text, **meaning)})


def required(text: str, **meaning: Any) -> Any:
    """A field of settings that has no default."""
    return field(metadata={"meaning": Meaning(text, **meaning)})


def seed_setting() -> Any:
    """The seed that every study has."""
    return setting(0, "Seed of every random choice.", low=0, high=LARGEST_SEED)


def device_setting() -> Any:
    """The device of a study that can run on one."""
    return setting("cpu", "Where to compute: a graphics card is cuda, or cuda:1.", metavar="DEVICE")


def meanings(settings: "Settings | type[Settings]") -> Iterator[tuple[Field[Any], Meaning]]:
    """Every field with its meaning, in order."""
    for each in fields(settings):
        yield each, each.metadata["meaning"]


@dataclass(frozen=True)
class Settings:
    """What a study depends on, besides its data; values out of range are refused, whoever sets them."""

    def __post_init__(self) -> None:
        for each, meaning in meanings(self):
            value = getattr(self, each.name)
            if value is None and each.default is None:
                continue
            if not meaning.allows(value):
                raise InputError(f"`{each.name}` is {_told(value)}, but must be {_wanted(value, meaning)}.")


def _told(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return shown(value) if isinstance(value, str) else str(value)


def _wanted(value: Any, meaning: Meaning) -> str:
    if isinstance(value, str) and meaning.choices:
        return f"{meaning.range}; {near_names(value, meaning.choices)}".rstrip(".?")
    return meaning.range
