"""A memorised data set as one HTML page that opens offline."""

from widenet.base.wording import counted
from widenet.memorise.result import MemoriseResult
from widenet.report.memorise.charts import loss_chart
from widenet.report.memorise.formulas import CONDITION, LANDSCAPE, NETWORK
from widenet.report.memorise.sentences import (
    method_notes,
    requirements,
    sentences,
    small,
    statements,
    targets_noun,
)
from widenet.report.parts.document import data_masthead, document, page_body, tile_list
from widenet.report.parts.markup import Html, details, element, join, table
from widenet.report.parts.plots import by_name
from widenet.report.parts.quantities import literal, short_duration
from widenet.report.parts.sections import cost_panel, figure, folds, section, side_by_side, what_was_read


def page(result: MemoriseResult) -> str:
    """The result as a page: verdict, key figures, certificate, conditions, training, cost."""
    charts = by_name(loss_chart(result))
    shown = {name: figure(chart) for name, chart in charts.items()}
    network = folds(details("What the network and its loss are", NETWORK))
    training = join(side_by_side(shown, "loss"), network)
    condition = folds(details("What σ_min is", CONDITION))
    sections = (
        section(1, "What is certified?", _certified(result), _certificate_body(result)),
        section(2, "What do the theorems require?", requirements(result.conditions), condition),
        section(3, "How did the training go?", method_notes(result.plan), training),
        section(4, "What did it cost?", [], _cost_body(result)),
    )
    footer = (
        "The numbers behind this page are in result.json, the weights in weights.safetensors.",
        f"widenet {result.version}",
    )
    noise = f", perturbed by {result.noise:g}" if result.noise else ""
    top = data_masthead("memorise", result.data, after=noise)
    content = page_body(top, sentences(result), _tiles(result), sections, footer)
    return document(f"{literal(result.data.name)} · widenet memorise", content, charts)


def _tiles(result: MemoriseResult) -> Html:
    n, lower, noun = result.data.n, result.sigma_min.lower, targets_noun(result).capitalize()
    proved = f"proved ≥ {small(lower)}" if lower > 0 else "not proved positive"
    neurons, count = f"{result.layers} layers, {result.r:,} neurons", counted(result.steps, "step")
    time = short_duration(result.seconds).removeprefix("less than ")
    tiles = [
        (f"{noun} reproduced", f"{n:,}" if result.labels_reproduced else "not all", f"of {n:,}", "#q1"),
        ("Loss", small(result.loss), f"largest residual {small(result.max_residual)}", "#q3"),
        ("σ_min", small(result.sigma_min.value), proved, "#q2"),
        ("Weights per row", f"{result.parameters / n:.1f}", neurons, "#q1"),
        ("Time", time, f"{count} of {result.method}", "#q4"),
    ]
    return tile_list(tiles)


def _certified(result: MemoriseResult) -> list[str]:
    if not result.certified:
        return ["Nothing: a certificate is made only where every target is reproduced."]
    return [
        "certificate.json states what is in this table, with the hashes of the data and of the weights. "
        "widenet verify checks it with code that shares nothing with the trainer.",
    ]


def _certificate_body(result: MemoriseResult) -> Html:
    measured = table(("statement", "value"), statements(result), "Measured in float64 on all rows")
    why = folds(details("Why a flat point has a low loss: Lemmas 3 and 4", LANDSCAPE))
    return join(element("div", measured, class_="panel"), why)


def _cost_body(result: MemoriseResult) -> Html:
    steps, caption = f"{result.steps:,}", "Forecast before the start, and what it took"
    costs = cost_panel(result.forecast, result.seconds, caption, (f"steps of {result.method}", steps))
    return join(costs, folds(what_was_read(result.data)))
