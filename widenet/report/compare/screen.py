"""A comparison on a screen of a terminal, at most 80 columns wide."""

from rich.console import Console

from widenet.compare.result import CompareResult, Measure
from widenet.report.compare.sentences import constant_cells, method_cells, method_head, sentences
from widenet.report.parts.quantities import literal
from widenet.report.parts.screen import columns, line, title, verdict

WIDTHS = {"method": 16, "family": 9, "error": 8, "spread": 8, "rank": 5, "wins": 5, "p": 7, "time": 8}
CLASS_WIDTHS = {  # of classes, without rank and wins, for which there is no room: 80 columns in all
    "method": 16,
    "family": 8,
    "error": 7,
    "spread": 7,
    "balanced": 8,
    "AUC": 5,
    "log loss": 8,
    "p": 6,
    "time": 7,
}
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
    classes = protocol.measure is Measure.MISCLASSIFIED
    line(console, _row(result, method_head(result)), style="bold")
    for method in result.methods:
        line(
            console, _row(result, method_cells(result, method, _short_p)), style=FAMILY_STYLES[method.family]
        )
    line(console, _row(result, constant_cells(result)))
    error = "misclassified rows" if classes else "mean of ‖prediction − y‖²"
    line(console, f"error: {error}; spread: standard deviation between folds", style="dim")
    line(console, "p: of no difference from the best, adjusted for the number of methods", style="dim")


def _row(result: CompareResult, cells: tuple[str, ...]) -> str:
    """The cells that there is room for."""
    head = method_head(result)
    classes = result.protocol.measure is Measure.MISCLASSIFIED
    widths = CLASS_WIDTHS if classes else WIDTHS
    told = [(cell, widths[name]) for name, cell in zip(head, cells, strict=True) if name in widths]
    return columns([cell for cell, _ in told], [width for _, width in told], NUM_NAMES)


def _short_p(p: float) -> str:
    return "<.0001" if p < 1e-4 else f"{p:.2g}"
