"""What a search found."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FuzzReport:
    """The end of a search.

    Attributes:
        name: What was searched.
        tried: How many inputs were tried.
        outcomes: How many of them ended in each way.
        failures: Broken promises in words, with what is needed to see each again.
        seconds: Wall-clock time.
    """

    name: str
    tried: int
    outcomes: dict[str, int]
    failures: list[str]
    seconds: float
