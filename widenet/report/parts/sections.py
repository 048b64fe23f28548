"""What the body of every page is made of: numbered sections, figures, and blocks that unfold."""

from collections.abc import Sequence

from widenet.base.wording import memory
from widenet.report.parts.markup import Html, details, element, paragraphs, table
from widenet.report.parts.plots import Chart
from widenet.report.parts.quantities import literal
from widenet.study.data import DataSummary
from widenet.study.forecast import Forecast

MOST_LISTED = 20


def section(ordinal: int, question: str, sentences: Sequence[str], body: Html) -> Html:
    """A numbered question, its answer in sentences, and the body that belongs to it."""
    name = f"q{ordinal}"
    number = element("span", str(ordinal), class_="ordinal", aria_hidden="true")
    header = element("header", number, element("h2", question, id=f"{name}-title"))
    answer = element("div", paragraphs(sentences), class_="answer")
    return element("section", header, answer, body, id=name, aria_labelledby=f"{name}-title")


def figure(chart: Chart) -> Html:
    """A place for page.js to draw in."""
    caption = element("figcaption", element("h3", chart.title), element("span", chart.reading))
    plot = element(
        "div",
        id=f"chart-{chart.name}",
        class_="plot",
        role="group",
        aria_label=f"Chart: {chart.title}. {chart.reading}",
        style=f"min-height:{chart.spec['layout']['height']}px",
    )
    return element("figure", caption, plot, class_="chart")


def side_by_side(shown: dict[str, Html], *names: str) -> Html:
    """Those of the named figures that there are, beside each other."""
    figures = [shown[name] for name in names if name in shown]
    return element("div", *figures, class_="charts") if figures else Html("")


def folds(*blocks: Html) -> Html:
    """Blocks that unfold, one under the other."""
    return element("div", *blocks, class_="folds")


def items(texts: Sequence[str]) -> Html:
    """A list of texts, cut with a count where it is long."""
    more = [f"and {len(texts) - MOST_LISTED:,} more"] if len(texts) > MOST_LISTED else []
    listed = [*(literal(text, longest=600) for text in texts[:MOST_LISTED]), *more]
    return element("ul", *(element("li", text) for text in listed))


def what_was_read(data: DataSummary) -> Html:
    """Where the rows come from, to unfold."""
    return details("What was read and how it was prepared", items(data.provenance))


def cost_panel(forecast: Forecast, seconds: float, caption: str, *rows: tuple[str, str]) -> Html:
    """What was expected and what it took, in a table, with further rows."""
    held = forecast.memory_bytes
    costs = (
        ("memory, forecast", "unknown" if held is None else memory(held)),
        ("time, forecast", f"{forecast.seconds:,.1f} s"),
        ("time, taken", f"{seconds:,.1f} s"),
    )
    return element("div", table(("what", "how much"), (*costs, *rows), caption), class_="panel")
