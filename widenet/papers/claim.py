"""A sentence of a paper made checkable, and what a run found of it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from widenet.base.errors import InputError
from widenet.base.wording import counted, number
from widenet.papers.curve import Curves, least
from widenet.papers.verdict import Check, Verdict, agreed, together

MARGIN = 0.1  # share by which numbers must differ to be called different


@dataclass(frozen=True)
class Claim:
    """What a figure is to show.

    Attributes:
        text: The claim in our words, with the numbers that make it checkable.
        source: Where the paper says it, in a few words.
        checks: From the figure's settings and curves to the numbers that it depends on.
        margin: Share by which numbers must differ.
        is_papers: Whether the paper makes it; else it is ours, for comparison.
    """

    text: str
    source: str
    checks: Callable[[Any, Curves], Sequence[Check]]
    margin: float = MARGIN
    is_papers: bool = True


@dataclass(frozen=True)
class Measured:
    """One number of a claim beside its bound, by seed, with its own verdicts."""

    what: str
    relation: str  # below or above
    than: str
    best: tuple[float, ...]
    last: tuple[float, ...]
    bounds_best: tuple[float, ...]
    bounds_last: tuple[float, ...]
    validated: tuple[float, ...]
    best_epoch: Verdict
    last_epoch: Verdict

    @property
    def is_told(self) -> bool:
        """Whether `than` ends with the bound, which is then one number."""
        bounds = {*self.bounds_best, *self.bounds_last}
        return len(bounds) == 1 and self.than.endswith(number(bounds.pop()))


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its verdict.

    Attributes:
        text, source, margin, is_papers: Those of the claim.
        measured: Its numbers.
        spread: Smallest and largest over the seeds of each number, at the best epoch.
        best_epoch: The verdict at the best epoch, as the papers choose it.
        last_epoch: The verdict at the last epoch.
        verdict: Both, where they agree.
    """

    text: str
    source: str
    measured: tuple[Measured, ...]
    margin: float
    is_papers: bool
    spread: tuple[tuple[float, float], ...]
    best_epoch: Verdict
    last_epoch: Verdict
    verdict: Verdict


def judged_claim(claim: Claim, settings: Any, curves: Curves) -> JudgedClaim:
    """Hold a claim against what was measured; where a point that it needs is not there, nothing was."""
    try:
        checks = claim.checks(settings, curves)
    except InputError:
        checks = ()
    measured = tuple(_measured(check, claim.margin) for check in checks)
    best = together(each.best_epoch for each in measured)
    last = together(each.last_epoch for each in measured)
    return JudgedClaim(
        text=claim.text,
        source=claim.source,
        measured=measured,
        margin=claim.margin,
        is_papers=claim.is_papers,
        spread=tuple((least(each.best), -least(-value for value in each.best)) for each in measured),
        best_epoch=best,
        last_epoch=last,
        verdict=agreed(best, last),
    )


def verdict_counts(claims: Iterable[JudgedClaim]) -> dict[Verdict, int]:
    """How many of the papers' own claims have each verdict."""
    found = [claim.verdict for claim in claims if claim.is_papers]
    return {verdict: found.count(verdict) for verdict in Verdict}


def verdicts_told(claims: Iterable[JudgedClaim]) -> str:
    """The same in words, as in "3 claims: 2 held, 1 not decided"; claims of ours are counted apart."""
    known = list(claims)
    counts = verdict_counts(known)
    told = ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items() if count)
    ours = len(known) - sum(counts.values())
    more = f" (and {counted(ours, 'comparison')} of ours)" if ours else ""
    return f"{counted(sum(counts.values()), 'claim')}: {told or 'none'}{more}"


def _measured(check: Check, margin: float) -> Measured:
    return Measured(
        what=check.what,
        relation="below" if check.is_below else "above",
        than=check.than,
        best=check.best,
        last=check.last,
        bounds_best=check.bounds_best,
        bounds_last=check.bounds_last,
        validated=check.validated,
        best_epoch=check.verdict(margin, at_last=False),
        last_epoch=check.verdict(margin, at_last=True),
    )
