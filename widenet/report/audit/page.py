"""An audit as one HTML page that opens offline."""

from widenet.audit.result import AuditResult
from widenet.base.wording import counted, memory, number, percent
from widenet.report.audit.charts import charts_of
from widenet.report.audit.sections import sections
from widenet.report.audit.sentences import is_sound, sentences
from widenet.report.parts.document import data_masthead, document, page_body, tile_list
from widenet.report.parts.markup import Html
from widenet.report.parts.quantities import literal, percent_range

KeyFigure = tuple[str, str, str]

THEORY = (
    "Theorems and lemmas are those of “Fine-Grained Analysis of Optimization and Generalization for "
    "Overparameterized Two-Layer Neural Networks”. The numbers behind this page are in result.json."
)


def page(result: AuditResult) -> str:
    """The audit as a page: verdict, key figures, then the six questions."""
    charts = charts_of(result)
    top = data_masthead("audit", result.data, f"kernel {result.kernel}", numbers="regression")
    footer = (THEORY, f"widenet {result.version}")
    content = page_body(top, sentences(result), _tiles(result), sections(result, charts), footer)
    return document(f"{literal(result.data.name)} · widenet audit", content, charts)


def _tiles(result: AuditResult) -> Html:
    """One key figure per question, each a link to its answer."""
    tiles = (_sound_tile, _learnable_tile, _descent_tile, _generalise_tile, _wrong_tile, _cost_tile)
    return tile_list((*tile(result), f"#q{ordinal}") for ordinal, tile in enumerate(tiles, start=1))


def _sound_tile(result: AuditResult) -> KeyFigure:
    rows, found = f"{result.data.n:,}", result.soundness
    if is_sound(result):
        return "Rows", rows, "none repeated or opposite"
    if found.conflicts:
        return "Rows", rows, f"{counted(len(found.conflicts), 'contradiction')}"
    groups = counted(len(found.duplicates), "repetition") if found.duplicates else ""
    return "Rows", rows, groups or counted(len(found.opposites), "opposite pair")


def _learnable_tile(result: AuditResult) -> KeyFigure:
    complexity = result.complexity
    value = f"≥ {number(complexity.lower)}" if complexity.value is None else number(complexity.value)
    random = "not known" if complexity.random is None else number(complexity.random)
    return "Complexity", value, f"random: {random}"


def _descent_tile(result: AuditResult) -> KeyFigure:
    target = next((target for target in result.curve.steps_to if target.share == 0.1), None)
    if target is None:
        return "Step size", number(result.curve.eta), f"limit {number(result.curve.eta_max)}"
    random = "never" if target.random is None else f"{target.random:,}"
    own = "never" if target.labels is None else f"{target.labels:,}"
    return "Steps to 10% loss", own, f"random: {random}"


def _generalise_tile(result: AuditResult) -> KeyFigure:
    loo = result.loo
    if loo.error is None:
        return "Error", "unknown", "the estimate did not converge"
    if loo.misclassified is None:
        return "Error", number(loo.error), f"squared, of {number(loo.baseline)}"
    return "Misclassified", percent(loo.misclassified), f"squared error {number(loo.error)}"


def _wrong_tile(result: AuditResult) -> KeyFigure:
    noise = result.noise
    what = "Target noise" if result.data.task == "regression" else "Wrong labels"
    return what, percent(noise.estimate), percent_range(noise.low, noise.high)


def _cost_tile(result: AuditResult) -> KeyFigure:
    forecast = result.forecast
    time = f"{result.seconds:.1f} s" if result.seconds < 100 else f"{result.seconds / 60:.0f} min"
    held = "" if forecast.memory_bytes is None else f", {memory(forecast.memory_bytes)}"
    return "Time", time, f"forecast {forecast.seconds:.0f} s{held}"
