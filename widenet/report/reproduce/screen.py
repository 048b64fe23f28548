"""Figures on a screen of a terminal."""

from rich.console import Console
from rich.text import Text

from widenet.base.wording import counted
from widenet.papers.claim import JudgedClaim, Measured
from widenet.papers.result import FigureResult, GalleryResult
from widenet.papers.verdict import Verdict
from widenet.report.parts.screen import line, sentence, title
from widenet.report.reproduce.gallery import gallery_summary
from widenet.report.reproduce.sentences import cautions, claim_sentence, measured_sentence, summary

MARKS = {Verdict.HELD: ("✓", "green"), Verdict.NOT_HELD: ("✗", "red"), Verdict.NOT_DECIDED: ("?", "yellow")}
MOST_MEASURED = 4  # numbers of a claim that are shown


def screen(result: FigureResult, console: Console) -> None:
    """The claims with their verdicts, and the numbers behind them."""
    title(console, "reproduce", f"{result.full_name}, {result.title}")
    line(console, "")
    sentence(console, summary(result), style="bold")
    for claim in result.claims:
        _claim(console, claim)
        for measured in sorted(claim.measured, key=_weight)[:MOST_MEASURED]:
            sentence(console, measured_sentence(measured), style="dim", indent="      ")
        if len(claim.measured) > MOST_MEASURED:
            more = counted(len(claim.measured) - MOST_MEASURED, "more comparison")
            sentence(console, f"and {more}", style="dim", indent="      ")
    line(console, "")
    for each in (*cautions(result), *result.differences):
        sentence(console, each)


def gallery_screen(result: GalleryResult, console: Console) -> None:
    """A line for each figure, and one for each of its claims."""
    title(console, "reproduce", f"{counted(len(result.figures), 'figure')} at {result.scale} scale")
    line(console, "")
    sentence(console, gallery_summary(result), style="bold")
    for figure in result.figures:
        sentence(console, f"{figure.full_name}: {figure.title}")
        for claim in figure.claims:
            _claim(console, claim)
    for missing in result.missing:
        sentence(console, f"{missing.paper}/{missing.figure}: {missing.reason}", style="yellow")


def _weight(measured: Measured) -> int:
    """What refutes a claim comes first, then what leaves it open."""
    order = (Verdict.NOT_HELD, Verdict.NOT_DECIDED, Verdict.HELD)
    return min(order.index(measured.best_epoch), order.index(measured.last_epoch))


def _claim(console: Console, claim: JudgedClaim) -> None:
    mark, colour = MARKS[claim.verdict]
    sentence(console, claim_sentence(claim), head=Text(f"  {mark} ", style=colour))
