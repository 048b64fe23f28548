"""The shell that every page shares: style, scripts and charts in one file that opens offline."""

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any

from widenet.base.wording import counted
from widenet.report.parts.files import finite
from widenet.report.parts.markup import Html, element, join, paragraphs
from widenet.report.parts.plots import Chart
from widenet.report.parts.quantities import literal
from widenet.study.data import DataSummary

Tile = tuple[str, str, str, str]  # what, its value, a word beside it, and a link
PREPARED = {"standard": "columns standardised", "unit": "rows scaled to length 1", "raw": "rows as they are"}


def document(
    title: str,
    content: Html,
    charts: dict[str, Chart],
    data: Mapping[str, Any] | None = None,
    scripts: Sequence[str] = (),
) -> str:
    """A whole page.

    Args:
        title: What the browser calls it.
        content: Header, main part and footer.
        charts: What page.js draws into the figures of the content; without any, plotly is left out.
        data: What other scripts read, by the identifier of its element.
        scripts: These other scripts.
    """
    run = [resource("page.js"), *scripts]
    specs = {"charts": {name: chart.spec for name, chart in charts.items()}}
    body = element(
        "body",
        element("div", content, class_="page"),
        element("span", id="probe", hidden=""),
        *(_json_block(name, value) for name, value in (specs | dict(data or {})).items()),
        *([_packed_plotly()] if charts else []),
        *(element("script", Html(script)) for script in run),
    )
    allowed = [*([plotly()] if charts else []), *run]
    return "<!DOCTYPE html>\n" + element("html", _head(title, allowed), body, lang="en")


def content_security_policy(scripts: list[str]) -> str:
    """Nothing is fetched, and only these scripts run; plotly needs inline styles and makes its own images."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def masthead(command: str, name: str, facts: str) -> Html:
    """The command's name, the switch between light and dark, the data's name, and a line of facts."""
    top = element(
        "div",
        element("div", "widenet ", element("span", command), class_="brand"),
        element("button", "Dark", id="theme", type="button", hidden="", aria_label="Switch light and dark"),
        class_="top",
    )
    return join(top, element("h1", name), element("p", facts, class_="facts"))


def data_masthead(command: str, data: DataSummary, *facts: str, numbers: str = "", after: str = "") -> Html:
    """The masthead of a study of data: size, targets, other facts, preparation.

    Args:
        command: Its name.
        data: The rows.
        facts: What else to tell.
        numbers: What targets are called that are no classes; their number by default.
        after: What follows the words on the preparation.
    """
    kind = f"{len(data.classes):,} classes" if data.classes else numbers
    targets = kind or f"{counted(data.outputs, 'number')} to predict"
    if data.target and data.classes:
        targets = f"predicts {literal(data.target)} ({kind})"
    rows = counted(data.n, "row") if data.drawn_from is None else f"{data.n:,} of {data.drawn_from:,} rows"
    size = (rows, counted(data.num_features, "feature"))
    told = " · ".join((*size, targets, *facts, f"{PREPARED[data.prepare]}{after}"))
    return masthead(command, literal(data.name), told)


def tile_list(tiles: Iterable[Tile]) -> Html:
    """Key figures, each a link to where it comes from."""
    linked = []
    for *told, link in tiles:
        kinds = zip(("what", "figure", "beside"), told, strict=True)
        spans = (element("span", text, class_=kind) for kind, text in kinds)
        linked.append(element("li", element("a", *spans, href=link)))
    return element("ul", *linked, class_="tiles")


def page_body(
    top: Html, verdict: Iterable[str], tiles: Html, sections: Iterable[Html], footer: Iterable[str]
) -> Html:
    """Header, main part and footer of a page: masthead, verdict and key figures, sections, and last words."""
    told = element("div", paragraphs(verdict), class_="verdict")
    return framed(join(top, told, tiles), sections, footer)


def framed(header: Html, sections: Iterable[Html], footer: Iterable[str]) -> Html:
    """Header, main part and footer of a page."""
    return join(element("header", header), element("main", *sections), element("footer", paragraphs(footer)))


def _head(title: str, scripts: list[str]) -> Html:
    viewport = "width=device-width, initial-scale=1"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=content_security_policy(scripts)),
        element("meta", name="viewport", content=viewport),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Html(resource("page.css"))),
    )


def _json_block(name: str, value: Any) -> Html:
    """Data as JSON in which no markup can end the block."""
    text = json.dumps(finite(value), allow_nan=False)
    return element("script", Html(text.replace("<", "\\u003c")), type="application/json", id=name)


def plotly() -> str:
    """The script that draws charts."""
    return gzip.decompress(_packed()).decode()


def _packed_plotly() -> Html:
    """The same, packed to a third of its size, for page.js to unpack."""
    return element("script", base64.b64encode(_packed()).decode(), type="text/plain", id="plotly")


def _packed() -> bytes:
    return resources.files("widenet.report.parts").joinpath("plotly-basic.min.js.gz").read_bytes()


def resource(name: str, room: str = "parts") -> str:
    """The text of a file that a room of the report has beside its modules."""
    return resources.files(f"widenet.report.{room}").joinpath(name).read_text(encoding="utf-8")
