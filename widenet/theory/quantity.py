"""What a computed theorem or quantity of the papers looks like."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Citation:
    """Where to read it: the paper's id and the place in it, as "Theorem 5.1" or "(10)"."""

    paper: str
    place: str


@dataclass(frozen=True)
class Constant:
    """A constant in a formula: the paper's, or ours where the paper hides it in O, Ω or Θ."""

    value: float
    hidden: bool
    meaning: str


@dataclass(frozen=True)
class Quantity:
    """A number of the theory with all that is needed to judge it.

    Attributes:
        name: By which `widenet theory` knows it.
        value: The number; math.inf where it diverges, with the reason in `why`.
        log10: Its decimal logarithm, where the number itself may overflow.
        formula: The formula in Unicode, with its symbols.
        filled: The formula with the numbers in it.
        terms: The parts that the value is made of, by name.
        applies: Whether the arguments are in the range of the theorem; None where it has no conditions.
        why: Sentences: each condition with the numbers in it, and whether it holds.
        constants: By symbol.
        source: Where to read it.
        error: A bound on the error of `value` from truncating or rounding; 0.0 where it is exact.
    """

    name: str
    value: float
    formula: str
    filled: str
    terms: Mapping[str, float]
    applies: bool | None
    why: tuple[str, ...]
    source: Citation
    log10: float | None = None
    constants: Mapping[str, Constant] = field(default_factory=dict)
    error: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """The quantity as JSON has it."""
        return asdict(self)
