"""What a figure shows: curves of points, each with a number for every seed."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from widenet.base.errors import InputError
from widenet.base.wording import number
from widenet.papers.verdict import Check

Style = Literal["line", "dashed", "dashdot", "dotted", "marks", "reference", "numbers"]


@dataclass(frozen=True)
class Point:
    """One place on a curve.

    Attributes:
        x: Where it is.
        best: For each seed what the papers show: the smallest error over settings and epochs, chosen on the
            test rows. Infinite where every run diverged, nan where there is none.
        last: The same with the last epoch in place of the best one.
        validated: For each seed the test error of the setting and epoch that were chosen on validation rows;
            empty where nothing was chosen.
        validation: For each seed the validation error there.
        chosen: For each seed the setting that `best` has; empty where nothing was chosen.
        at_edge: Names of settings whose chosen value is the smallest or largest of its grid for some seed, so
            that a better one may lie outside.
        x_by_seed: Where it is for each seed, if that was measured too; empty otherwise.
    """

    x: float
    best: tuple[float, ...]
    last: tuple[float, ...]
    validated: tuple[float, ...] = ()
    validation: tuple[float, ...] = ()
    chosen: tuple[Mapping[str, Any], ...] = ()
    at_edge: tuple[str, ...] = ()
    x_by_seed: tuple[float, ...] = ()


@dataclass(frozen=True)
class Curve:
    """A line of a figure.

    Attributes:
        name: As the paper's legend has it.
        points: In order of x.
        style: A solid line, a dashed one (for what the paper does not draw, such as limits), one of dashes
            and dots (for another way to the same curve), a dotted one (for a limit of that), marks alone, a
            thin line of reference, or numbers that are told and not drawn.
        on_right: Whether it belongs to the axis on the right.
    """

    name: str
    points: tuple[Point, ...]
    style: Style = "line"
    on_right: bool = False

    @property
    def is_variant(self) -> bool:
        """Whether it may be a variant of a solid curve: a limit of it, or another way to it."""
        return self.style in ("dashed", "dashdot", "dotted")

    def at(self, x: float) -> Point:
        """The point at x."""
        found = [point for point in self.points if point.x == x]
        if not found:
            raise InputError(f"{self.name} has no point at {x:g}.")
        return found[0]


Curves = Mapping[str, Curve]


def series(
    name: str, x: Sequence[float], values: Sequence[Sequence[float]], style: Style = "line", **options: Any
) -> Curve:
    """A curve without a choice of settings or epochs, from values (seeds, len(x))."""
    by_x = list(zip(*values, strict=True))
    points = (Point(float(where), tuple(found), tuple(found)) for where, found in zip(x, by_x, strict=True))
    return Curve(name, tuple(points), style, **options)


def reference(name: str, x: Sequence[float], height: float, seeds: int) -> Curve:
    """A horizontal line from the smallest to the largest x."""
    ends = sorted({min(x), max(x)})
    return series(name, ends, [[height] * len(ends)] * seeds, "reference")


def lowest(name: str, points: Sequence[Point]) -> Point:
    """For each seed the smallest number over points, as one point at infinity: the best of a whole curve.

    A seed of which a number is missing at some point has none, nan: it might have been the smallest.

    Args:
        name: Of the curve, for the message that there is no point.
        points: At least one.
    """
    if not points:
        raise InputError(f"{name} has no points.")
    best, last = (
        tuple(map(least, zip(*(getattr(point, view) for point in points), strict=True)))
        for view in ("best", "last")
    )
    if not all(point.validated for point in points):
        return Point(math.inf, best, last)
    pairs = [zip(point.validation, point.validated, strict=True) for point in points]
    chosen = tuple(min(each, key=lambda pair: pair[0]) for each in zip(*pairs, strict=True))
    missing = [
        any(map(math.isnan, each)) for each in zip(*(point.validated for point in points), strict=True)
    ]
    validated = (math.nan if gone else test for gone, (_, test) in zip(missing, chosen, strict=True))
    return Point(math.inf, best, last, validated=tuple(validated))


def least(values: Iterable[float]) -> float:
    """The smallest number, and nan where one is missing."""
    known = tuple(values)
    return math.nan if any(map(math.isnan, known)) else min(known)


def check_below(what: str, point: Point, than: str, bound: float | Point) -> Check:
    """That the numbers of a point are below a bound, or below those of another point seed by seed.

    Args:
        what: What the point's numbers are.
        point: The numbers.
        than: What the bound is; may be empty where it is a plain number, which is told behind it.
        bound: The bound.
    """
    return _check(what, point, than, bound, is_below=True)


def check_above(what: str, point: Point, than: str, bound: float | Point) -> Check:
    """That they are above it."""
    return _check(what, point, than, bound, is_below=False)


def _check(what: str, point: Point, than: str, bound: float | Point, *, is_below: bool) -> Check:
    if isinstance(bound, Point):
        bounds_best, bounds_last = bound.best, bound.last
    else:
        bounds_best = bounds_last = (float(bound),) * len(point.best)
        than = f"{than} = {number(bound)}" if than else number(bound)
    return Check(what, than, point.best, point.last, bounds_best, bounds_last, point.validated, is_below)
