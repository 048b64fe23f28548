"""A figure as one HTML page that opens offline."""

from dataclasses import asdict
from typing import Any

from widenet.base.wording import counted, duration, number
from widenet.papers.claim import JudgedClaim, verdict_counts
from widenet.papers.result import FigureResult
from widenet.papers.verdict import Verdict
from widenet.report.parts.document import document, masthead, page_body, tile_list
from widenet.report.parts.markup import Html, details, element, join, table
from widenet.report.parts.quantities import short_duration
from widenet.report.parts.sections import figure, folds, items, section
from widenet.report.reproduce.charts import figure_chart
from widenet.report.reproduce.sentences import cautions, measured_sentence, numbers_told, summary

MOST_ROWS = 300  # of the table of points; data.csv has them all


def page(result: FigureResult) -> str:
    """The picture, the claims with their verdicts, the numbers, and what differs from the paper."""
    chart = figure_chart(result)
    sections = (
        section(1, "What does it show?", cautions(result), element("div", figure(chart), class_="charts")),
        section(2, "What does the paper claim, and does it hold here?", [], claim_list(result.claims)),
        section(3, "What differs from the paper?", _nothing(result), items(result.differences)),
        section(4, "What are the numbers?", [], _numbers(result)),
    )
    footer = (
        "The numbers are in result.json and data.csv; figure.png and figure.pdf are for print.",
        f"widenet {result.version}",
    )
    facts = f"{result.place} · {result.scale} scale · {counted(result.settings.seeds, 'seed')}"
    top = masthead("reproduce", f"{result.paper} {result.figure}", facts)
    content = page_body(top, [result.title, summary(result)], _tiles(result), sections, footer)
    return document(f"{result.full_name} · widenet reproduce", content, {chart.name: chart})


def claim_list(claims: tuple[JudgedClaim, ...]) -> Html:
    """Every claim with its verdict, its source and what was measured."""
    return element("ol", *map(_claim, claims), class_="claims")


def _claim(claim: JudgedClaim) -> Html:
    verdict = element("strong", claim.verdict.value, class_=f"is-{claim.verdict.value.replace(' ', '-')}")
    epochs = f"best epoch: {claim.best_epoch.value}; last epoch: {claim.last_epoch.value}"
    ours = "" if claim.is_papers else "; a comparison of ours"
    told = f"{claim.source}{ours}; {epochs}; margin {claim.margin:.0%}"
    measured = (element("li", measured_sentence(each)) for each in claim.measured)
    unfolded = details("What was measured", element("ul", *measured))
    return element("li", verdict, element("p", claim.text), element("p", told, class_="note"), unfolded)


def _nothing(result: FigureResult) -> list[str]:
    return [] if result.differences else ["Nothing that we know of."]


def _tiles(result: FigureResult) -> Html:
    counts = verdict_counts(result.claims)
    tiles = (
        (
            "Claims held",
            f"{counts[Verdict.HELD]} of {sum(counts.values())}",
            "at the best and the last epoch",
            "#q2",
        ),
        ("Scale", result.scale, "" if not result.settings_changed else "settings changed", "#q3"),
        ("Trials", f"{len(result.trials.rows):,}", counted(result.settings.seeds, "seed"), "#q4"),
        ("Time", short_duration(result.seconds), f"forecast {duration(result.forecast.seconds)}", "#q4"),
    )
    return tile_list(tiles)


def _numbers(result: FigureResult) -> Html:
    rows = [
        (
            curve.name,
            number(point.x),
            *(_told(getattr(point, view)) for view in ("best", "last", "validated")),
            _chosen(point.chosen),
            ", ".join(point.at_edge),
        )
        for curve in result.curves
        for point in curve.points
    ]
    head = ("curve", "x", "best epoch", "last epoch", "chosen on validation rows", "best setting", "at edge")
    shown = table(head, rows[:MOST_ROWS], "All seeds, smallest to largest")
    more = f"{len(rows) - MOST_ROWS:,} more points are in data.csv." if len(rows) > MOST_ROWS else ""
    settings = table(
        ("setting", "value"),
        [(name, _setting(value)) for name, value in asdict(result.settings).items()],
        "Settings",
    )
    panel = element("div", shown, element("p", more, class_="note"), class_="panel wide")
    return join(panel, folds(details("Settings", settings)))


def _told(values: tuple[float, ...]) -> str:
    return numbers_told(values) if values else ""


def _chosen(chosen: tuple[Any, ...]) -> str:
    told = {", ".join(f"{name} {value:g}" for name, value in each.items()) for each in chosen}
    return "; ".join(sorted(told))


def _setting(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
