"""Which points of a curve are drawn, what its legend says, and which curves look alike."""

import math
from collections.abc import Sequence

from widenet.papers.curve import Curve, Point

NARROW = 4.0  # highest over lowest: log axes up to here have ticks at all digits


def is_narrow(lowest: float, highest: float) -> bool:
    """Whether a log axis over these numbers has too few ticks at 1, 2 and 5."""
    return highest < NARROW * lowest


def shown_points(curve: Curve) -> list[Point]:
    """The points at which some seed has a number."""
    return [point for point in curve.points if any(map(math.isfinite, point.best))]


def legend(curve: Curve) -> str:
    """The name, with a word where there is nothing to see: no net was that good, or all diverged."""
    return curve.name if shown_points(curve) else f"{curve.name}: none"


def colour_places(curves: Sequence[Curve]) -> list[int]:
    """A number for the colour and the mark of each curve.

    A variant named like another curve, with a comma and more behind, as "2layer(NTK), m = ∞", has that one's.
    """
    own = {curve.name: place for place, curve in enumerate(curves)}
    return [_kin(curve, own) if curve.is_variant else own[curve.name] for curve in curves]


def _kin(curve: Curve, own: dict[str, int]) -> int:
    found = [place for name, place in own.items() if curve.name.startswith(f"{name}, ")]
    return found[0] if found else own[curve.name]
