"""All figures: what each claims, and what it costs."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from widenet.papers.figure import SCALES, Figure, Scale
from widenet.report.parts.quantities import short_duration
from widenet.report.parts.screen import line, sentence

Costs = Mapping[str, Mapping[Scale, float]]  # seconds, by the figure's full name and the scale


def figures_record(figures: Sequence[Figure], costs: Costs) -> dict[str, Any]:
    """The list as JSON has it."""
    return {
        "schema": "widenet/figures/1",
        "figures": [
            {
                "paper": each.paper,
                "figure": each.name,
                "title": each.title,
                "place": each.place,
                "claims": [{"text": claim.text, "source": claim.source} for claim in each.claims],
                "needs": list(each.needs),
                "seconds": dict(costs[each.full_name]),
            }
            for each in figures
        ],
    }


def figures_screen(figures: Sequence[Figure], costs: Costs, console: Console) -> None:
    """A few lines for each figure."""
    for paper in dict.fromkeys(each.paper for each in figures):
        line(console, paper, style="bold")
        for each in (figure for figure in figures if figure.paper == paper):
            told = ", ".join(f"{scale} {short_duration(costs[each.full_name][scale])}" for scale in SCALES)
            sentence(console, f"{each.name}  {each.title} ({told})")
            for claim in each.claims:
                sentence(console, f"{claim.text} ({claim.source})", style="dim", indent="      ")
        line(console, "")
