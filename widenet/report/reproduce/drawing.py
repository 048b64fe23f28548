"""A figure drawn as in its paper, for print: readable in grey, by marks and dashes as much as by colour."""

import io
import math
from collections.abc import Sequence
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from widenet.papers.curve import Curve
from widenet.papers.figure import Axes
from widenet.papers.result import FigureResult
from widenet.report.reproduce.styles import colour_places, is_narrow, legend, shown_points

SIZE = (6.0, 5.4)  # inches
LONG = 26  # characters of a name of which no three fit beside each other
DOTS = 160  # of an inch, in the PNG
MOST_MARKS = 24  # a curve of more points is drawn without marks
# Colours that people with any colour vision tell apart [Wong 2011]; marks and dashes tell them apart in grey.
COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f7f7f", "#b2912f")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (3, 1, 1, 1)), (0, (1, 1)))


def drawn(result: FigureResult) -> Drawing:
    """The figure with a bar from the smallest to the largest seed at every point."""
    return drawing_of(f"{result.full_name}, {result.scale} scale", result.axes, result.drawn_curves)


def drawing_of(title: str, axes: Axes, curves: Sequence[Curve]) -> Drawing:
    """Curves in a frame, with what they are called below it."""
    drawing = Drawing(figsize=SIZE, layout="constrained")
    FigureCanvasAgg(drawing)
    left = drawing.add_subplot()
    right = left.twinx() if axes.right else left
    for position, curve in zip(colour_places(curves), curves, strict=True):
        _add(right if curve.on_right else left, curve, position)
    _frame(left, right, axes)
    handles, labels = left.get_legend_handles_labels()
    if right is not left:
        more_handles, more_labels = right.get_legend_handles_labels()
        handles, labels = [*handles, *more_handles], [*labels, *more_labels]
    columns = 2 if max(map(len, labels)) > LONG else 3
    drawing.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=columns,
        fontsize=8,
        frameon=False,
        handlelength=3.5,
    )
    left.set_title(title, fontsize=9)
    return drawing


def as_png(drawing: Drawing) -> bytes:
    """As a PNG, the same bytes for the same figure."""
    return _saved(drawing, "png", {"Software": None})


def as_pdf(drawing: Drawing) -> bytes:
    """As a PDF, the same bytes for the same figure."""
    return _saved(drawing, "pdf", {"CreationDate": None, "Producer": None, "Creator": None})


def _saved(drawing: Drawing, kind: str, metadata: dict[str, None]) -> bytes:
    file = io.BytesIO()
    drawing.savefig(file, format=kind, dpi=DOTS, metadata=metadata)
    return file.getvalue()


def _add(axes: Any, curve: Curve, position: int) -> None:
    """A curve: the mean over seeds, and a bar over their range."""
    if curve.style == "reference":
        heights = [point.best[0] for point in curve.points]
        axes.plot(
            [point.x for point in curve.points],
            heights,
            label=curve.name,
            color="#7f7f7f",
            linewidth=1,
            linestyle=":",
        )
        return
    shown = shown_points(curve)
    x = [point.x for point in shown]
    finite = [[value for value in point.best if math.isfinite(value)] for point in shown]
    mean = [sum(values) / len(values) for values in finite]
    bars = [
        # A mean of equal numbers may be off by rounding, to either side.
        [max(0.0, middle - min(values)) for middle, values in zip(mean, finite, strict=True)],
        [max(0.0, max(values) - middle) for middle, values in zip(mean, finite, strict=True)],
    ]
    few = len(x) <= MOST_MARKS
    mark = MARKS[position % len(MARKS)]
    line = {"marks": "none", "dashed": DASHES[1], "dashdot": "-.", "dotted": ":"}.get(
        curve.style, "-" if few else DASHES[position % len(DASHES)]
    )
    axes.errorbar(
        x,
        mean,
        yerr=bars if few and any(map(any, bars)) else None,
        label=legend(curve),
        color=COLOURS[position % len(COLOURS)],
        marker=mark if few or curve.style == "marks" else None,
        markersize=4,
        markerfacecolor="white" if curve.is_variant else None,
        linestyle=line,
        linewidth=1.2,
        capsize=2,
    )


def _plain_ticks(axis: Any) -> None:
    """Numbers as people write them, also between the decades where these are few."""
    if axis.get_scale() == "log":
        low, high = axis.get_view_interval()
        narrow = is_narrow(*axis.get_data_interval())
        between = range(1, 10) if narrow else (1, 2, 5) if high < 1e3 * low else (1,)
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_major_locator(LogLocator(subs=tuple(between), numticks=12))
        axis.set_minor_formatter(NullFormatter())


def _frame(left: Any, right: Any, axes: Axes) -> None:
    left.set_xlabel(axes.x)
    left.set_ylabel(axes.y)
    if axes.log_x:
        left.set_xscale("log")
    if axes.log_y:
        left.set_yscale("log")
    if axes.right:
        right.set_ylabel(axes.right)
        right.set_yscale("log" if axes.log_right else "linear")
    for axis in (left.xaxis, left.yaxis, right.yaxis):
        _plain_ticks(axis)
    left.grid(True, which="major", linewidth=0.4, color="#d9d9d9")
