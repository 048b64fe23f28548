"""The interactive picture of a figure, as a plain plotly specification."""

import math
from collections.abc import Sequence
from typing import Any

from widenet.papers.curve import Curve
from widenet.papers.result import FigureResult
from widenet.report.parts.plots import Chart, Spec, axes_layout, label, line_trace, thinned
from widenet.report.reproduce.styles import colour_places, is_narrow, legend, shown_points

HEIGHT = 520
COLOURS = ("ink", "labels", "random", "worst")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
SYMBOLS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "star", "pentagon")
LONGEST_NAME = 51  # characters in a legend: about as many as a phone shows
MOST_MARKS = 40


def figure_chart(result: FigureResult) -> Chart:
    """All curves: means over seeds, with a bar from the smallest to the largest."""
    axes, curves = result.axes, result.drawn_curves
    x = _axis("", axes.log_x, [point.x for curve in curves for point in shown_points(curve)])
    layout = axes_layout(axes.x, height=HEIGHT, x=x, y=_axis(axes.y, axes.log_y, _heights(curves, False)))
    layout["showlegend"] = True
    if axes.right:
        layout["yaxis2"] = layout["yaxis"] | _axis(axes.right, axes.log_right, _heights(curves, True))
        layout["yaxis2"] |= {"overlaying": "y", "side": "right", "showgrid": False}
        layout["margin"] = layout["margin"] | {"r": 60}
    return Chart(
        name="figure",
        title=result.title,
        reading=f"Mean over {result.settings.seeds} seeds; bars from the smallest to the largest.",
        spec={
            "data": [*map(_trace, curves, colour_places(curves))],
            "layout": layout,
        },
    )


def _heights(curves: Sequence[Curve], on_right: bool) -> list[float]:
    """All finite numbers of the curves of one axis."""
    shown = [point for curve in curves if curve.on_right == on_right for point in shown_points(curve)]
    return [value for point in shown for value in point.best if math.isfinite(value)]


def _axis(title: str, log: bool, numbers: Sequence[float]) -> Spec:
    """What is special about an axis of these numbers."""
    ticks = "D1" if is_narrow(min(numbers, default=1), max(numbers, default=1)) else "D2"
    spec: Spec = {"type": "log", "dtick": ticks, "tickformat": "~g"} if log else {}
    return spec | ({"title": {"text": title, "standoff": 8, "font": {"size": 13}}} if title else {})


def _trace(curve: Curve, place: int) -> Spec:
    shown = shown_points(curve)
    points = [shown[index] for index in thinned(range(len(shown)))]
    finite = [[value for value in point.best if math.isfinite(value)] for point in points]
    mean = [sum(values) / len(values) for values in finite]
    colour, few = COLOURS[place % len(COLOURS)], len(points) <= MOST_MARKS
    dash = {"dashed": "dash", "dashdot": "dashdot", "dotted": "dot", "reference": "dot"}.get(
        curve.style
    ) or DASHES[place // len(COLOURS) % len(DASHES)]
    name, x = label(legend(curve), LONGEST_NAME), [point.x for point in points]
    trace = line_trace(name, x, mean, colour, "%{x:.4g}: %{y:.3g}", dash)
    trace["line"]["width"] = 1.8
    extra: dict[str, Any] = {"mode": "markers" if curve.style == "marks" else "lines"}
    if few and curve.style != "reference":
        extra["mode"] = "markers" if curve.style == "marks" else "lines+markers"
        extra["marker"] = {"color": colour, "size": 7, "symbol": _symbol(curve, place)}
        extra["error_y"] = {
            "type": "data",
            "symmetric": False,
            "array": [max(values) - middle for middle, values in zip(mean, finite, strict=True)],
            "arrayminus": [middle - min(values) for middle, values in zip(mean, finite, strict=True)],
            "thickness": 1,
            "width": 3,
            "color": colour,
        }
    return trace | extra | ({"yaxis": "y2"} if curve.on_right else {})


def _symbol(curve: Curve, place: int) -> str:
    return SYMBOLS[place % len(SYMBOLS)] + ("-open" if curve.is_variant else "")
