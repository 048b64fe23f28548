"""What one theorem says of one network on one data set."""

import math
from dataclasses import dataclass
from typing import Any

from widenet.inside.measured import MeasuredData
from widenet.theory.demand import Demand, all_met, mpf_text
from widenet.theory.numbers import Number, mpf
from widenet.theory.quantity import Quantity

NORM_ROUNDING = 1e-6  # by which rows of norm 1 may miss it


@dataclass(frozen=True)
class Answer:
    """What one theorem says of the network.

    Attributes:
        paper: Its id.
        place: As "Theorem 3.1".
        claim: What it promises, in words.
        demands: What it requires.
        notes: What else is to know.
        assumes: What it requires and data do not tell, in words.
    """

    paper: str
    place: str
    claim: str
    demands: tuple[Demand, ...]
    notes: tuple[str, ...] = ()
    assumes: tuple[str, ...] = ()

    @property
    def inside(self) -> bool | None:
        """Whether all demands are met; None where none fails but some are open, or something is assumed."""
        held = [demand.holds for demand in self.demands]
        return False if False in held else None if None in held or self.assumes else True

    @property
    def log10_short(self) -> float:
        """Decimal logarithm of the factor by which the furthest demand is missed; 0 where there is none."""
        return max((demand.log10_short or 0.0 for demand in self.demands), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, as JSON has them."""
        return {
            "paper": self.paper,
            "place": self.place,
            "claim": self.claim,
            "inside": self.inside,
            "demands": [demand.to_dict() for demand in self.demands],
            "log10_short": self.log10_short,
            "notes": list(self.notes),
            "assumes": list(self.assumes),
        }


def distinct(data: MeasuredData) -> tuple[Demand, ...]:
    """Repeated rows make λ₀ and σ of all rows 0, whatever the distinct ones have."""
    return (Demand("number of repeated rows", data.num_repeated, "≤", 0),) if data.num_repeated else ()


def partly(data: MeasuredData) -> tuple[str, ...]:
    """A part of the rows can prove that too little is there, but not that it is enough."""
    whole = data.num_measured + data.num_repeated == data.n
    return () if whole else ("All rows require no more than those that were measured.",)


def unproven(
    symbol: str, value: float, floor: float, needed: tuple[Demand, ...], proven: tuple[Demand, ...]
) -> tuple[str, ...]:
    """Where λ₀ or σ as computed is enough for what is required, but what is proven of it is not."""
    if value <= 0 or not all_met(needed) or (floor > 0 and all_met(proven)):
        return ()
    known = f"only {mpf_text(floor)} is proven" if floor > 0 else "nothing is proven"
    return (f"{symbol} is {mpf_text(value)}, as computed; {known}.",)


def exact(quantity: Quantity) -> Number:
    """The value, by its logarithm where a float overflows."""
    overflows = math.isinf(quantity.value) and quantity.log10 is not None
    return mpf(10) ** quantity.log10 if overflows else mpf(quantity.value)
