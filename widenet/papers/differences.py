"""What a run does otherwise than the paper, in sentences."""

from typing import Any

from widenet.papers.figure import Figure, FigureSettings


def differences(figure: Figure, settings: FigureSettings) -> tuple[str, ...]:
    """Settings that are not those of paper scale, then what is not as in the paper at any scale."""
    changed = figure.changed(settings).items()
    reduced = (
        f"{name} is {_told(value)}; at paper scale {_told(paper)}." for name, (value, paper) in changed
    )
    return (*reduced, *figure.departures)


def _told(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_told, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
