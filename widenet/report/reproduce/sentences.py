"""A figure's verdicts in plain sentences."""

import math
from collections.abc import Sequence

from widenet.base.wording import counted, number
from widenet.papers.claim import JudgedClaim, Measured, verdicts_told
from widenet.papers.result import FigureResult, MissingFigure
from widenet.papers.verdict import Verdict
from widenet.study.forecast import Forecast

CHOSEN_ON_TEST = (
    "As in the paper, settings and epochs were chosen on the test rows, which makes numbers look better than "
    "they are; those of what validation rows choose stand beside them."
)


def sentences(result: FigureResult) -> tuple[str, ...]:
    """How many claims held, then each of them."""
    return (summary(result), *map(claim_sentence, result.claims), *cautions(result))


def on_the_way(fact: object) -> tuple[str, ...]:
    """What is told before the result: the forecast, and a figure whose data are missing."""
    if isinstance(fact, Forecast):
        return (fact.told(),)
    if isinstance(fact, MissingFigure):
        return (f"{fact.paper}/{fact.figure} is left out: {fact.reason}",)
    return ()


def summary(result: FigureResult) -> str:
    """The verdicts, counted."""
    own = " with settings changed by the caller, not the paper's settings" if result.settings_changed else ""
    return f"At {result.scale} scale{own}: {verdicts_told(result.claims)}."


def claim_sentence(claim: JudgedClaim) -> str:
    """The verdict, the claim, and why it is not decided where it is not."""
    told = f"{claim.verdict.value.capitalize()}: {claim.text}"
    if claim.verdict is Verdict.NOT_DECIDED and claim.best_epoch is not claim.last_epoch:
        return f"{told} At the best epoch: {claim.best_epoch.value}; at the last: {claim.last_epoch.value}."
    return told


def measured_sentence(measured: Measured) -> str:
    """One number of a claim beside its bound, at both epochs, and what validation rows choose."""
    bound = "" if measured.is_told else f", {numbers_told(measured.bounds_best)}"
    told = (
        f"{measured.what}: {numbers_told(measured.best)}; claimed {measured.relation} {measured.than}{bound}"
    )
    if measured.last != measured.best:
        bound = "" if measured.is_told else f" ({measured.than}: {numbers_told(measured.bounds_last)})"
        told += f"; at the last epoch {numbers_told(measured.last)}{bound}"
    if measured.validated:
        told += f"; chosen on validation rows {numbers_told(measured.validated)}"
    return told


def cautions(result: FigureResult) -> list[str]:
    """What a reader must know of how the numbers were chosen, and what failed."""
    told = []
    points = [point for curve in result.curves for point in curve.points]
    if any(point.validated for point in points):
        told.append(CHOSEN_ON_TEST)
    edges = edge_list(result)
    if edges:
        told.append(f"The best setting is at the edge of its grid for {edges}: a better one may lie outside.")
    if result.failures:
        failed = counted(len(result.failures), "trial")
        told.append(f"{failed} failed; the first: {result.failures[0].error}")
    return told


def edge_list(result: FigureResult, most: int = 4) -> str:
    """Points whose best setting is at the edge of its grid, as "3layer(all) (decay)"."""
    found = [
        f"{curve.name} ({', '.join(names)})"
        for curve in result.curves
        if (names := sorted({name for point in curve.points for name in point.at_edge}))
    ]
    more = f" and {counted(len(found) - most, 'more curve')}" if len(found) > most else ""
    return ", ".join(found[:most]) + more


def numbers_told(values: Sequence[float]) -> str:
    """Numbers of all seeds, as in "0.03 to 0.05"."""
    known = [value for value in values if math.isfinite(value)]
    unbounded, missing = sum(map(math.isinf, values)), sum(map(math.isnan, values))
    more = [f"unbounded for {counted(unbounded, 'seed')}"] if unbounded else []
    more += [f"{counted(missing, 'seed')} missing"] if missing else []
    low, high = (number(min(known)), number(max(known))) if known else ("", "")
    return ", ".join([*([low if low == high else f"{low} to {high}"] if known else []), *more]) or "none"
