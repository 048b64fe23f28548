"""From numbers by seed to a verdict: nothing here knows what the numbers are about.

A comparison is decided only where every seed agrees, by more than a margin. Seeds that disagree, numbers
within the margin, too few seeds and numbers that are missing (nan) all leave it undecided: failing to show is
not showing the opposite.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

FEWEST_SEEDS = 2  # one seed agrees with itself whatever it says


class Verdict(Enum):
    """What a run says of a claim."""

    HELD = "held"
    NOT_HELD = "not held"
    NOT_DECIDED = "not decided"


@dataclass(frozen=True)
class Check:
    """A number that a claim wants below or above a bound, seed by seed.

    Attributes:
        what: The number, in words.
        than: What it is compared with, in words.
        best: The number for each seed, at the best epoch, as the papers show it.
        last: The same at the last epoch; `best` again where there is no choice of an epoch.
        bounds_best: What each is compared with, for each seed.
        bounds_last: The same at the last epoch.
        validated: The number for each seed where validation rows choose; empty where nothing is chosen.
        is_below: Whether the claim wants the number below its bound; else above it.
        is_random: Whether a draw decides the number; what is computed without one needs no second seed.
    """

    what: str
    than: str
    best: tuple[float, ...]
    last: tuple[float, ...]
    bounds_best: tuple[float, ...]
    bounds_last: tuple[float, ...]
    validated: tuple[float, ...] = ()
    is_below: bool = True
    is_random: bool = True

    def verdict(self, margin: float, *, at_last: bool) -> Verdict:
        """The verdict on this number alone, at the best or at the last epoch."""
        values, bounds = (self.last, self.bounds_last) if at_last else (self.best, self.bounds_best)
        smaller, larger = (values, bounds) if self.is_below else (bounds, values)
        return compared(smaller, larger, margin, fewest=FEWEST_SEEDS if self.is_random else 1)


def compared(
    smaller: Sequence[float], larger: Sequence[float], margin: float, *, fewest: int = FEWEST_SEEDS
) -> Verdict:
    """Whether the first number is below the second for every seed.

    >>> compared((1.0, 1.2), (2.0, 2.0), margin=0.1)
    <Verdict.HELD: 'held'>
    >>> compared((1.0, 2.5), (2.0, 2.0), margin=0.1)
    <Verdict.NOT_DECIDED: 'not decided'>

    Args:
        smaller: What is claimed to be smaller, for each seed, not negative; infinite where all runs diverged.
        larger: What it is compared with, for each seed. Where that diverged nothing is held: a grid on which
            everything diverges shows nothing of a method.
        margin: Share by which they must differ: held if smaller·(1 + margin) ≤ larger for every seed,
            not held if smaller ≥ larger·(1 + margin) for every seed.
        fewest: Seeds that a decision needs.
    """
    pairs = list(zip(smaller, larger, strict=True))
    if len(pairs) < fewest or any(math.isnan(number) for pair in pairs for number in pair):
        return Verdict.NOT_DECIDED
    if all(low * (1 + margin) <= high and low < high < math.inf for low, high in pairs):
        return Verdict.HELD
    if all(low >= high * (1 + margin) and low > high for low, high in pairs):
        return Verdict.NOT_HELD
    return Verdict.NOT_DECIDED


def together(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on a claim of several parts: held if each is, not held if one is not, else not decided."""
    found = set(verdicts)
    if Verdict.NOT_HELD in found:
        return Verdict.NOT_HELD
    return Verdict.HELD if found == {Verdict.HELD} else Verdict.NOT_DECIDED


def agreed(best: Verdict, last: Verdict) -> Verdict:
    """The verdict where the best and the last epoch say the same; else not decided."""
    return best if best is last else Verdict.NOT_DECIDED
