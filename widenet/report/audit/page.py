"""An audit as one HTML page that opens offline."""

from widenet.audit.result import AuditResult
from widenet.base.wording import counted, memory, number, percent
from widenet.report.audit.charts import charts_of
from widenet.report.audit.sections import sections
from widenet.report.audit.sentences import SURE, is_sound, sentences
from widenet.report.parts.document import data_masthead, document, page_body, tile_list
from widenet.report.parts.markup import Html
from widenet.report.parts.quantities import literal, percent_range, rounded_down, shown_p

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
    value = f"≥ {rounded_down(complexity.lower)}" if complexity.value is None else number(complexity.value)
    shuffled = "" if complexity.shuffled is None else f"shuffled: {number(complexity.shuffled)}, "
    return "Complexity", value, f"{shuffled}{shown_p(complexity.p_value, least=SURE)}"


def _descent_tile(result: AuditResult) -> KeyFigure:
    target = next((target for target in result.curve.steps_to if target.share == 0.1), None)
    if target is None:
        return "Step size", number(result.curve.eta), f"limit {number(result.curve.eta_max)}"
    last = f"> {result.curve.steps[-1]:,}" if result.curve.steps else "not known"
    shuffled = last if target.random is None else f"{target.random:,}"
    own = last if target.labels is None else f"{target.labels:,}"
    return "Steps to 10% loss", own, f"shuffled: {shuffled}"


def _generalise_tile(result: AuditResult) -> KeyFigure:
    loo = result.chosen.loo
    if loo.told is None:
        return "Error", "unknown", "the estimate did not converge"
    error, deviation = loo.told
    if loo.misclassified is None:
        return "Squared error", number(error), f"± {number(deviation)}, constant: {number(loo.constant)}"
    return "Misclassified", percent(error), f"± {percent(deviation)}, constant: {percent(loo.constant)}"


def _wrong_tile(result: AuditResult) -> KeyFigure:
    noise = result.noise
    is_numbers = result.data.task == "regression"
    what, none = (
        ("Target noise", f"≤ {percent(noise.high)}") if is_numbers else ("Wrong labels", "none detected")
    )
    value = percent(noise.estimate) if noise.estimate else none
    interval = f"{percent_range(noise.low, noise.high)} ({percent(noise.level)})"
    return what, value if noise.decided else "not known", interval


def _cost_tile(result: AuditResult) -> KeyFigure:
    forecast = result.forecast
    time = f"{result.seconds:.1f} s" if result.seconds < 100 else f"{result.seconds / 60:.0f} min"
    held = "" if forecast.memory_bytes is None else f", {memory(forecast.memory_bytes)}"
    return "Time", time, f"forecast {forecast.seconds:.0f} s{held}"
