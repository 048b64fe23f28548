"""Which curves look alike: a limit or a variant shares the colour of the curve that it belongs to."""

from collections.abc import Sequence

from widenet.papers.curve import Curve


def colour_places(curves: Sequence[Curve]) -> list[int]:
    """A number for the colour and the mark of each curve.

    A variant named like another curve, with a comma and more behind, as "2layer(NTK), m = ∞", has that one's.
    """
    own = {curve.name: place for place, curve in enumerate(curves)}
    return [_kin(curve, own) if curve.is_variant else own[curve.name] for curve in curves]


def _kin(curve: Curve, own: dict[str, int]) -> int:
    found = [place for name, place in own.items() if curve.name.startswith(f"{name}, ")]
    return found[0] if found else own[curve.name]
