"""Small drawings without axes that need no script: an amount between two ends, and a curve with its band.

Colours are classes of page.css, so that they follow the theme.
"""

import math
from collections.abc import Sequence

from widenet.report.parts.markup import Html, element, join

WIDTH, HEIGHT, MARGIN = 300.0, 120.0, 8.0
TRACK = 10.0  # height of the bar that an amount lies on


def amount_sketch(
    value: float | None, low: float, high: float, end: float, names: tuple[str, str], told: str
) -> Html:
    """A bar from 0 to `end` with an interval and a mark on it, and names under both ends.

    Args:
        value: Where the mark is; None for none.
        low: Lower end of the interval.
        high: Upper end of the interval.
        end: Right end of the bar.
        names: What 0 and `end` are.
        told: The drawing in words.
    """

    def place(amount: float) -> float:
        return WIDTH * min(max(amount / end, 0.0), 1.0) if end > 0 else 0.0

    left, right = place(low), place(high)
    y, height = TRACK, 3 * TRACK
    shapes = [
        _rect(0, y, WIDTH, TRACK, "track"),
        _rect(left, y, max(right - left, 2.0), TRACK, "interval"),
    ]
    if value is not None:
        mark = min(max(place(value) - 2, 0.0), WIDTH - 4)
        shapes.append(_rect(mark, 0.5 * TRACK, 4, 2 * TRACK, "mark"))
    ends = element("div", *(element("span", name) for name in names), class_="ends")
    return element("div", _drawing(shapes, height, told), ends, class_="sketch")


def curve_sketch(
    n: Sequence[int],
    middle: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    num_measured: int,
    told: str,
) -> Html:
    """A curve over the logarithm of n inside its band, dashed beyond the first `num_measured` points.

    Args:
        n: Numbers of rows, ascending.
        middle: Errors at these.
        low: Lower ends of their intervals.
        high: Upper ends of their intervals.
        num_measured: How many of the points were measured.
        told: The drawing in words.
    """
    top = max(*high, *middle) or 1.0
    span = math.log(n[-1] / n[0]) or 1.0
    x = [MARGIN + (WIDTH - 2 * MARGIN) * math.log(each / n[0]) / span for each in n]

    def points(values: Sequence[float]) -> list[tuple[float, float]]:
        heights = (MARGIN + (HEIGHT - 2 * MARGIN) * (1 - value / top) for value in values)
        return list(zip(x, heights, strict=True))

    line, band = points(middle), points(high) + points(low)[::-1]
    last = num_measured - 1
    dots = [_dot(*each, "measured" if k <= last else "ahead") for k, each in enumerate(line)]
    shapes = [
        element("polygon", points=_listed(band), class_="band"),
        element("polyline", points=_listed(line[: last + 1]), class_="known"),
        element("polyline", points=_listed(line[max(last, 0) :]), class_="known foretold"),
        *dots,
    ]
    ends = element("div", *(element("span", f"{each:,} rows") for each in (n[0], n[-1])), class_="ends")
    return element("div", _drawing(shapes, HEIGHT, told), ends, class_="sketch")


def _drawing(shapes: Sequence[Html], height: float, told: str) -> Html:
    return element("svg", join(*shapes), viewBox=f"0 0 {WIDTH:g} {height:g}", role="img", aria_label=told)


def _rect(x: float, y: float, width: float, height: float, kind: str) -> Html:
    sizes = {"x": f"{x:.1f}", "y": f"{y:.1f}", "width": f"{width:.1f}", "height": f"{height:.1f}"}
    return element("rect", **sizes, rx="2", class_=kind)


def _dot(x: float, y: float, kind: str) -> Html:
    return element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="4", class_=kind)


def _listed(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
