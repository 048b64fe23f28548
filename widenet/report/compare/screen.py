"""A comparison on a screen of a terminal, at most 80 columns wide."""

from rich.console import Console

from widenet.compare.result import CompareResult, Measure
from widenet.report.compare.sentences import constant_cells, method_cells, sentences
from widenet.report.parts.quantities import literal
from widenet.report.parts.screen import columns, line, title, verdict

METHOD_HEAD = ("method", "family", "error", "spread", "rank", "wins", "p", "time")
METHOD_WIDTHS = (16, 9, 8, 8, 5, 5, 7, 8)
NUM_NAMES = 2  # columns of names, before those of numbers
FAMILY_STYLES = {"network": "blue", "kernel": "yellow", "baseline": "bright_black"}


def screen(result: CompareResult, console: Console) -> None:
    """The verdict, then a line for each method."""
    protocol = result.protocol
    times = "" if protocol.repeats == 1 else f" × {protocol.repeats}"
    facts = f"{literal(result.data.name)}, {result.data.n:,} rows, {protocol.folds} folds{times}"
    title(console, "compare", facts)
    line(console, "")
    verdict(console, sentences(result))
    line(console, "")
    line(console, columns(METHOD_HEAD, METHOD_WIDTHS, NUM_NAMES), style="bold")
    for method in result.methods:
        cells = method_cells(result, method, _short_p)
        line(console, columns(cells, METHOD_WIDTHS, NUM_NAMES), style=FAMILY_STYLES[method.family])
    line(console, columns(constant_cells(result), METHOD_WIDTHS, NUM_NAMES))
    classes = protocol.measure is Measure.MISCLASSIFIED
    error = "misclassified rows" if classes else "mean of ‖prediction − y‖²"
    line(console, f"error: {error}; spread: standard deviation between folds", style="dim")
    line(console, "p: of no difference from the best, adjusted for the number of methods", style="dim")


def _short_p(p: float) -> str:
    return "<.0001" if p < 1e-4 else f"{p:.2g}"
