"""An audit as one HTML page that opens offline."""

from widenet.audit.result import AuditResult
from widenet.data.dataset import Dataset
from widenet.data.wording import counted
from widenet.report.charts import charts_of
from widenet.report.document import document, masthead
from widenet.report.markup import Html, element, join, paragraphs
from widenet.report.quantities import literal, memory, number, percent, percent_range
from widenet.report.sections import sections
from widenet.report.words import is_sound, questions, verdict

Tile = tuple[str, str, str]


def audit_page(result: AuditResult, dataset: Dataset) -> str:
    """The audit as a page: verdict, key figures, then the six questions.

    Args:
        result: What the audit found.
        dataset: The rows it was made for; its images, where there are any, show the most suspicious rows.
    """
    charts = charts_of(result)
    content = join(
        (
            element("header", _masthead(result), _verdict(result), _tiles(result)),
            element("main", sections(result, dataset, charts)),
            _footer(result),
        )
    )
    return document(f"{literal(result.data.name)} · widenet audit", content, charts)


def _masthead(result: AuditResult) -> Html:
    data = result.data
    kind = "regression" if data.task == "regression" else f"{len(data.classes):,} classes"
    size = f"{counted(data.n, 'row')} · {counted(data.d, 'column')}"
    facts = f"{size} · {kind} · kernel {result.kernel} · prepared {data.prepare}"
    return masthead("audit", literal(data.name), facts)


def _verdict(result: AuditResult) -> Html:
    return element("div", paragraphs(verdict(result)), class_="verdict")


def _tiles(result: AuditResult) -> Html:
    """One key figure per question, each a link to its answer."""
    tiles = (
        _sound_tile(result),
        _learnable_tile(result),
        _descent_tile(result),
        _generalise_tile(result),
        _wrong_tile(result),
        _cost_tile(result),
    )
    linked = [
        element(
            "li",
            element(
                "a",
                element("span", what, class_="what"),
                element("span", figure, class_="figure"),
                element("span", beside, class_="beside"),
                href=f"#q{ordinal}",
                title=question,
            ),
        )
        for ordinal, ((what, figure, beside), question) in enumerate(
            zip(tiles, questions(result), strict=True), start=1
        )
    ]
    return element("ul", *linked, class_="tiles")


def _sound_tile(result: AuditResult) -> Tile:
    data = result.data
    if is_sound(result):
        return "Rows", f"{data.n:,}", "none repeated or opposite"
    if data.conflicts:
        return "Rows", f"{data.n:,}", f"{counted(len(data.conflicts), 'contradiction')}"
    groups = counted(len(data.duplicates), "repetition") if data.duplicates else ""
    return "Rows", f"{data.n:,}", groups or counted(len(data.opposites), "opposite pair")


def _learnable_tile(result: AuditResult) -> Tile:
    complexity = result.complexity
    value = f"≥ {number(complexity.lower)}" if complexity.value is None else number(complexity.value)
    random = "not known" if complexity.random is None else number(complexity.random)
    return "Complexity", value, f"random: {random}"


def _descent_tile(result: AuditResult) -> Tile:
    target = next((target for target in result.curve.steps_to if target.share == 0.1), None)
    if target is None:
        return "Step size", number(result.curve.eta), f"limit {number(result.curve.eta_max)}"
    random = "never" if target.random is None else f"{target.random:,}"
    own = "never" if target.labels is None else f"{target.labels:,}"
    return "Steps to 10% loss", own, f"random: {random}"


def _generalise_tile(result: AuditResult) -> Tile:
    loo = result.loo
    if loo.error is None:
        return "Error", "unknown", "the estimate did not converge"
    if loo.misclassified is None:
        return "Error", number(loo.error), f"squared, of {number(loo.baseline)}"
    return "Misclassified", percent(loo.misclassified), f"squared error {number(loo.error)}"


def _wrong_tile(result: AuditResult) -> Tile:
    noise = result.noise
    what = "Target noise" if result.data.task == "regression" else "Wrong labels"
    return what, percent(noise.estimate), percent_range(noise.low, noise.high)


def _cost_tile(result: AuditResult) -> Tile:
    forecast = result.forecast
    time = f"{result.seconds:.1f} s" if result.seconds < 100 else f"{result.seconds / 60:.0f} min"
    return "Time", time, f"forecast {forecast.seconds:.0f} s, {memory(forecast.memory_bytes)}"


def _footer(result: AuditResult) -> Html:
    theory = (
        "Theorems and lemmas are those of “Fine-Grained Analysis of Optimization and Generalization for "
        "Overparameterized Two-Layer Neural Networks”. The numbers behind this page are in result.json."
    )
    return element("footer", element("p", theory), element("p", f"widenet {result.version}"))
