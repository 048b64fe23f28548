"""Several figures on one page that opens offline: picture, claims, verdicts, what differs from the paper."""

import base64
from typing import Any

from widenet.base.wording import counted
from widenet.papers.claim import JudgedClaim, verdict_counts, verdicts_told
from widenet.papers.result import FigureResult, GalleryResult, MissingFigure
from widenet.report.parts.document import document, masthead, page_body, tile_list
from widenet.report.parts.markup import Html, details, element
from widenet.report.parts.quantities import short_duration
from widenet.report.parts.sections import folds, items
from widenet.report.reproduce.drawing import as_png, drawn
from widenet.report.reproduce.files import record
from widenet.report.reproduce.page import claim_list
from widenet.report.reproduce.sentences import cautions, summary
from widenet.theory.names import TITLES


def gallery_record(result: GalleryResult) -> dict[str, Any]:
    """The gallery as JSON has it."""
    return result.to_dict() | {"figures": [record(each) for each in result.figures]}


def gallery_page(result: GalleryResult) -> str:
    """A section for each paper, a card for each figure."""
    papers = dict.fromkeys([each.paper for each in result.figures] + [each.paper for each in result.missing])
    sections = [_paper(paper, result) for paper in papers]
    footer = (
        "Every figure has a page of its own, with its numbers, in the folder of its name.",
        f"widenet {result.version}",
    )
    facts = f"{counted(len(result.figures), 'figure')} at {result.scale} scale"
    verdict = [gallery_summary(result)]
    top = masthead("reproduce", "The papers' figures", facts)
    content = page_body(top, verdict, _tiles(result), sections, footer)
    return document("The papers' figures · widenet reproduce", content, {})


def gallery_summary(result: GalleryResult) -> str:
    """All verdicts, counted."""
    missing = f" {counted(len(result.missing), 'figure')} could not be run." if result.missing else ""
    return f"{verdicts_told(_claims(result))}.{missing}"


def _claims(result: GalleryResult) -> list[JudgedClaim]:
    return [claim for each in result.figures for claim in each.claims]


def _tiles(result: GalleryResult) -> Html:
    counts = verdict_counts(_claims(result))
    of = f"of {sum(counts.values())}"
    tiles = [(f"Claims {each.value}", str(count), of, "#top") for each, count in counts.items()]
    return tile_list([*tiles, ("Time", short_duration(result.seconds), "", "#top")])


def _paper(paper: str, result: GalleryResult) -> Html:
    shown = [_card(each) for each in result.figures if each.paper == paper]
    absent = [_absent(each) for each in result.missing if each.paper == paper]
    header = element("header", element("h2", TITLES.get(paper, paper)))
    return element("section", header, element("div", *shown, *absent, class_="charts"), id=paper)


def _card(result: FigureResult) -> Html:
    """One figure; its title leads to its own page."""
    encoded = base64.b64encode(as_png(drawn(result))).decode()
    picture = element(
        "img", src=f"data:image/png;base64,{encoded}", alt=f"{result.place}: {result.title}", class_="drawing"
    )
    link = element("a", f"{result.figure}: {result.title}", href=f"{result.full_name}/figure.html")
    caption = element(
        "figcaption", element("h3", link), element("span", f"{result.place}. {summary(result)}")
    )
    told = folds(details("What differs from the paper", items((*result.differences, *cautions(result)))))
    return element("figure", caption, picture, claim_list(result.claims), told, class_="chart")


def _absent(missing: MissingFigure) -> Html:
    title = element("h3", f"{missing.figure}: {missing.title}")
    return element("div", title, element("p", missing.reason), class_="panel")
