"""A comparison on a screen of a terminal, at most 80 columns wide."""

from rich.console import Console
from rich.text import Text

from widenet.compare.result import ComparisonResult, MethodResult
from widenet.report.compare.sentences import standing, time_text
from widenet.report.compare.verdict import error_text
from widenet.report.parts.quantities import literal

INDENT = "  "
HEAD = ("method", "family", "error", "spread", "rank", "wins", "p", "time")
WIDTHS = (16, 9, 8, 8, 5, 5, 7, 8)
COLOURS = {"network": "blue", "kernel": "yellow", "baseline": "bright_black"}


def print_comparison(result: ComparisonResult, console: Console) -> None:
    """The verdict, then a line for each method; names in the data are handed over as text without markup."""
    protocol = result.protocol
    title = f"  {literal(result.data.name)}, {result.data.n:,} rows, {protocol.folds} folds"
    title += "" if protocol.repeats == 1 else f" × {protocol.repeats}"
    console.print(Text.assemble(("widenet compare", "bold"), title), highlight=False)
    console.print()
    for number, sentence in enumerate(result.verdict):
        told = Text(sentence, style="bold" if number == 0 else "")
        for line in told.wrap(console, min(console.width, 80) - len(INDENT)):
            line.rstrip()
            console.print(Text(INDENT) + line, highlight=False)
    console.print()
    console.print(Text(_line(HEAD), style="bold"), highlight=False)
    adjusted = {test.first: test.adjusted for test in result.significance.against_best}
    for method in result.methods:
        cells = _cells(result, method, adjusted)
        console.print(Text(_line(cells), style=COLOURS[method.family]), highlight=False)
    measure = "misclassified rows" if protocol.measure == "misclassified" else "mean of ‖prediction − y‖²"
    console.print(
        Text(f"error: {measure}; p: of no difference from the best, corrected", style="dim"),
        highlight=False,
    )


def _cells(result: ComparisonResult, method: MethodResult, adjusted: dict[str, float]) -> tuple[str, ...]:
    measure, best = result.protocol.measure, method.name == result.best
    if method.error is None or method.std is None:
        error, spread, p = "failed", "", ""
    else:
        error, spread = error_text(method.error, measure), error_text(method.std, measure)
        p = "best" if best else _short_p(adjusted[method.name])
    return method.name, method.family, error, spread, *standing(method), p, time_text(method.seconds)


def _short_p(p: float) -> str:
    return "<.0001" if p < 1e-4 else f"{p:.2g}"


def _line(cells: tuple[str, ...]) -> str:
    """Names to the left, numbers to the right."""
    aligned = [
        cell.ljust(width) if column < 2 else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, WIDTHS, strict=True))
    ]
    return " ".join(aligned).rstrip()
