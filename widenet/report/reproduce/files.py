"""The files of a figure."""

from collections.abc import Iterator
from typing import Any

from widenet.papers.result import FigureResult
from widenet.report.parts.files import RESULT_FILE, csv_text, to_json
from widenet.report.reproduce.drawing import as_pdf, as_png, drawn
from widenet.report.reproduce.page import page
from widenet.report.reproduce.sentences import sentences

PNG_FILE, PDF_FILE, PAGE_FILE, DATA_FILE = "figure.png", "figure.pdf", "figure.html", "data.csv"
FILES = (PNG_FILE, PDF_FILE, PAGE_FILE, DATA_FILE, RESULT_FILE)
HEAD = ("curve", "x", "seed", "best", "last", "validated", "chosen", "at_edge")


def record(result: FigureResult) -> dict[str, Any]:
    """The figure as JSON has it."""
    return result.to_dict() | {"verdict": list(sentences(result))}


def files(result: FigureResult) -> dict[str, str | bytes]:
    """Everything that the figure's folder holds, by name."""
    drawing = drawn(result)
    return {
        PNG_FILE: as_png(drawing),
        PDF_FILE: as_pdf(drawing),
        PAGE_FILE: page(result),
        DATA_FILE: csv_text(HEAD, _rows(result)),
        RESULT_FILE: to_json(record(result)),
    }


def _rows(result: FigureResult) -> Iterator[tuple[Any, ...]]:
    """A row for each seed at each point of each curve."""
    for curve in result.curves:
        for point in curve.points:
            for index, (best, last) in enumerate(zip(point.best, point.last, strict=True)):
                x = point.x_by_seed[index] if point.x_by_seed else point.x
                validated = point.validated[index] if point.validated else ""
                chosen = point.chosen[index] if point.chosen else {}
                told = " ".join(f"{name}={value:g}" for name, value in chosen.items())
                edges = " ".join(point.at_edge)
                yield curve.name, x, result.seed + index, best, last, validated, told, edges
