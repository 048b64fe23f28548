"""Parts that the report's charts share, as plain plotly specifications.

A colour is the name of a variable in page.css; page.js looks it up, so that charts follow the theme.
Text from the data must go through `label`, because plotly reads pseudo-HTML in every text it draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from widenet.report.parts.quantities import literal

MOST_POINTS = 400  # of a line; more would not be seen

Spec = dict[str, Any]


@dataclass(frozen=True)
class Chart:
    """A specification, with the words that stand beside it."""

    name: str  # identifier within the page
    title: str  # what is drawn
    reading: str  # how to read it
    spec: Spec  # plotly's `data` and `layout`


def by_name(*charts: Chart | None) -> dict[str, Chart]:
    """The charts that there are, by name."""
    return {chart.name: chart for chart in charts if chart is not None}


def label(text: str, longest: int = 28) -> str:
    """Text such that plotly draws it literally; by default cut as text from the data should be."""
    return escape(literal(text, longest=longest), quote=False)


def line_trace(
    name: str, x: Sequence[float], y: Sequence[float | None], colour: str, hover: str, dash: str = "solid"
) -> Spec:
    """A line that a legend names; `colour` is a variable of page.css."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": list(x),
        "y": list(y),
        "line": {"color": colour, "width": 2.5, "dash": dash},
        "hovertemplate": f"{hover}<extra>{name}</extra>",
    }


def axes_layout(x_title: str, height: int = 340, x: Spec | None = None, y: Spec | None = None) -> Spec:
    """A layout with a title under its x axis, and what is special about either axis."""
    axis = {"gridcolor": "line", "zeroline": False, "linecolor": "line", "automargin": True}
    return {
        "height": height,
        "margin": {"l": 8, "r": 12, "t": 34, "b": 8},
        "modebar": {"bgcolor": "clear", "color": "muted", "activecolor": "ink"},
        "paper_bgcolor": "clear",
        "plot_bgcolor": "clear",
        "font": {"color": "muted", "size": 13},
        "hoverlabel": {"bgcolor": "card", "bordercolor": "line", "font": {"color": "ink"}, "namelength": -1},
        "legend": {
            "orientation": "h",
            "xref": "container",
            "x": 0,
            "yref": "container",
            "y": 1,
            "yanchor": "top",
            "font": {"color": "ink"},
        },
        "xaxis": axis | {"title": {"text": x_title, "standoff": 10, "font": {"size": 13}}} | (x or {}),
        "yaxis": axis | {"ticklabelstandoff": 6} | (y or {}),
    }


def lines_layout(x_title: str, at: str, x: Spec | None = None, y: Spec | None = None) -> Spec:
    """The layout of lines that are read together: pointing at one x tells the values of all of them.

    Args:
        x_title: Title under the x axis.
        at: What heads these values, as "%{x:,} steps".
        x: What is special about the x axis.
        y: What is special about the y axis.
    """
    heading = {"unifiedhovertitle": {"text": at}}
    return axes_layout(x_title, x=heading | (x or {}), y=y) | {"hovermode": "x unified"}


def shaded(left: float, right: float) -> Spec:
    """A shaded stretch of the x axis, behind everything."""
    return {
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "x0": left,
        "x1": right,
        "y0": 0,
        "y1": 1,
        "fillcolor": "band-random",
        "line": {"width": 0},
        "layer": "below",
    }


def thinned(indices: Sequence[int]) -> list[int]:
    """At most `MOST_POINTS` of the indices, evenly spaced, first and last among them."""
    if len(indices) <= MOST_POINTS:
        return list(indices)
    step = (len(indices) - 1) / (MOST_POINTS - 1)
    return [indices[round(step * k)] for k in range(MOST_POINTS)]


def log_ranks(n: int, most: int) -> list[int]:
    """Whole numbers from 1 to n, evenly spread on a logarithmic scale, about `most` of them."""
    return sorted({round(n ** (k / most)) for k in range(most + 1)}) if n else []


def compact(n: int) -> str:
    """Row counts as ticks: 450, 1.8k, 60k, 1.2M."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if n >= size:
            return f"{n / size:.2g}{unit}" if n < 10 * size else f"{n / size:.0f}{unit}"
    return str(n)
