"""The interactive picture of a figure, as a plain plotly specification."""

import math
from typing import Any

from widenet.papers.curve import Curve
from widenet.papers.result import FigureResult
from widenet.report.parts.plots import Chart, Spec, axes_layout, label, line_trace, thinned
from widenet.report.reproduce.styles import colour_places, legend, shown_points

HEIGHT = 520
COLOURS = ("ink", "labels", "random", "worst")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
SYMBOLS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "star", "pentagon")
MOST_MARKS = 40


def figure_chart(result: FigureResult) -> Chart:
    """All curves: means over seeds, with a bar from the smallest to the largest."""
    axes = result.axes
    layout = axes_layout(axes.x, height=HEIGHT, x=_axis("", axes.log_x), y=_axis(axes.y, axes.log_y))
    layout["showlegend"] = True
    if axes.right:
        layout["yaxis2"] = layout["yaxis"] | _axis(axes.right, axes.log_right)
        layout["yaxis2"] |= {"overlaying": "y", "side": "right", "showgrid": False}
        layout["margin"] = layout["margin"] | {"r": 60}
    return Chart(
        name="figure",
        title=result.title,
        reading=f"Mean over {result.settings.seeds} seeds; bars from the smallest to the largest.",
        spec={
            "data": [*map(_trace, result.drawn_curves, colour_places(result.drawn_curves))],
            "layout": layout,
        },
    )


def _axis(title: str, log: bool) -> Spec:
    spec: Spec = {"type": "log", "dtick": "D2", "tickformat": "~g"} if log else {}
    return spec | ({"title": {"text": title, "standoff": 8, "font": {"size": 13}}} if title else {})


def _trace(curve: Curve, place: int) -> Spec:
    shown = shown_points(curve)
    points = [shown[index] for index in thinned(range(len(shown)))]
    finite = [[value for value in point.best if math.isfinite(value)] for point in points]
    mean = [sum(values) / len(values) for values in finite]
    colour, few = COLOURS[place % len(COLOURS)], len(points) <= MOST_MARKS
    dash = {"dashed": "dash", "dashdot": "dashdot", "reference": "dot"}.get(curve.style) or DASHES[
        place // len(COLOURS) % len(DASHES)
    ]
    trace = line_trace(
        label(legend(curve)), [point.x for point in points], mean, colour, "%{x:.4g}: %{y:.3g}", dash
    )
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
