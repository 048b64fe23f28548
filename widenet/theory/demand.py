"""What a theorem requires, what there is, and by what factor it falls short."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from widenet.theory.numbers import Number, as_float, context, log10, mpf, shown_number

LONGEST_WHOLE = 10**7  # whole numbers below are shown in full
SLACK = mpf(10) ** -12  # by which 0.1 · 0.01 may miss 0.001: numbers that people type are rounded to floats


@dataclass(frozen=True)
class Demand:
    """One condition of a theorem, as a number that there is and a number that is required.

    Attributes:
        of: What it is about, as "width m".
        have: The number that there is; None where it was not given.
        relation: What `have` must be to `need`.
        need: The number that is required.
        formula: Where `need` comes from, as "C·n⁶/(λ₀⁴κ²δ³)"; empty where it is a plain number.
    """

    of: str
    have: Number | float | None
    relation: Literal["≥", ">", "≤", "<"]
    need: Number | float
    formula: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether it holds; None where there is nothing to compare."""
        if self.have is None:
            return None
        have, need = mpf(self.have), mpf(self.need)
        exact = isinstance(self.have, int) and isinstance(self.need, int)
        slack = mpf(0) if exact or not context.isfinite(need) else SLACK * abs(need)
        return bool(
            {"≥": have >= need - slack, ">": have > need, "≤": have <= need + slack, "<": have < need}[
                self.relation
            ]
        )

    @property
    def log10_short(self) -> float | None:
        """Decimal logarithm of the factor between what there is and what is required; 0 where it holds.

        None where there is nothing to compare, or no factor leads from one to the other.
        """
        if self.have is None:
            return None
        if self.holds:
            return 0.0
        between = abs(log10(mpf(self.need)) - log10(mpf(self.have)))
        return between if math.isfinite(between) else None

    @property
    def sentence(self) -> str:
        """The condition in words, with the numbers and whether it holds."""
        limit = f"{self.formula} = {mpf_text(self.need)}" if self.formula else mpf_text(self.need)
        if self.have is None:
            return f"{self.of} {self.relation} {limit} is required."
        claim = f"{self.of} = {mpf_text(self.have)} {self.relation} {limit}"
        short = self.log10_short
        by = f", short by a factor of {factor_text(short)}" if short else ""
        return f"{claim}: {'holds' if self.holds else 'does not hold'}{by}."

    def to_dict(self) -> dict[str, Any]:
        """The condition as JSON has it; numbers that overflow go by their logarithms."""
        return {
            "of": self.of,
            "relation": self.relation,
            "formula": self.formula,
            "have": None if self.have is None else float_or_none(self.have),
            "need": float_or_none(self.need),
            "log10_need": float_or_none(log10(mpf(self.need))),
            "holds": self.holds,
            "log10_short": self.log10_short,
            "sentence": self.sentence,
        }


def all_met(demands: Sequence[Demand]) -> bool:
    """Whether none of them fails; those with nothing to compare do not count."""
    return all(demand.holds is not False for demand in demands)


def in_words(demands: Sequence[Demand]) -> tuple[str, ...]:
    """All of them as sentences."""
    return tuple(demand.sentence for demand in demands)


def mpf_text(value: Number | float) -> str:
    """A number for people.

    >>> mpf_text(0.0125), mpf_text(60000), mpf_text(3.1e50)
    ('0.0125', '60,000', '3.1e+50')
    """
    number = mpf(value)
    if abs(number) < LONGEST_WHOLE and number == int(number):
        return f"{int(number):,}"
    shown = shown_number(number, 3)
    if 1000 <= abs(number) < LONGEST_WHOLE:
        return f"{float(shown):,.0f}"
    return shown.replace(".0e", "e").removesuffix(".0")


def factor_text(log10_factor: float) -> str:
    """A factor by its logarithm.

    >>> factor_text(0.398), factor_text(46.2)
    ('2.5', '10^46')
    """
    return mpf_text(10**log10_factor) if log10_factor < 4 else f"10^{log10_factor:.0f}"


def float_or_none(value: Number | float) -> float | None:
    """The number as a float; None where it is or becomes infinite."""
    number = as_float(mpf(value))
    return number if math.isfinite(number) else None
