"""A memorised data set as one HTML page that opens offline."""

from widenet.base.wording import counted, memory
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
from widenet.report.parts.document import document, masthead, page_body, tile_list
from widenet.report.parts.markup import Html, details, element, join, table
from widenet.report.parts.quantities import literal, short_duration
from widenet.report.parts.sections import figure, folds, items, section


def page(result: MemoriseResult) -> str:
    """The result as a page: verdict, key figures, certificate, conditions, training, cost."""
    chart = loss_chart(result)
    charts = {} if chart is None else {chart.name: chart}
    shown = Html("") if chart is None else element("div", figure(chart), class_="charts")
    training = join((shown, folds(details("What the network and its loss are", NETWORK))))
    sections = (
        section(1, "What is certified?", _certified(result), _certificate_body(result)),
        section(
            2,
            "What do the theorems require?",
            requirements(result.conditions),
            folds(details("What σ_min is", CONDITION)),
        ),
        section(3, "How did the training go?", method_notes(result.plan), training),
        section(4, "What did it cost?", [], _cost_body(result)),
    )
    footer = (
        "The numbers behind this page are in result.json, the weights in weights.safetensors.",
        f"widenet {result.version}",
    )
    content = page_body(_masthead(result), sentences(result), _tiles(result), sections, footer)
    return document(f"{literal(result.data.name)} · widenet memorise", content, charts)


def _masthead(result: MemoriseResult) -> Html:
    data = result.data
    kind = f"{len(data.classes):,} classes" if data.classes else "1 number to predict"
    noise = f", perturbed by {result.noise:g}" if result.noise else ""
    size = f"{counted(data.n, 'row')} · {counted(data.d, 'column')}"
    return masthead("memorise", literal(data.name), f"{size} · {kind} · prepared {data.prepare}{noise}")


def _tiles(result: MemoriseResult) -> Html:
    proved = (
        f"proved ≥ {small(result.sigma_min.lower)}" if result.sigma_min.lower > 0 else "not proved positive"
    )
    n, neurons = result.data.n, f"{result.layers} layers, {result.r:,} neurons"
    tiles = [
        (
            f"{targets_noun(result).capitalize()} reproduced",
            f"{n:,}" if result.labels_reproduced else "not all",
            f"of {n:,}",
            "#q1",
        ),
        ("Loss", small(result.loss), f"largest residual {small(result.max_residual)}", "#q3"),
        ("σ_min", small(result.sigma_min.value), proved, "#q2"),
        ("Weights for each row", f"{result.parameters / n:.1f}", neurons, "#q1"),
        (
            "Time",
            short_duration(result.seconds).removeprefix("less than "),
            counted(result.steps, "step") + f" of {result.method}",
            "#q4",
        ),
    ]
    return tile_list(tiles)


def _certified(result: MemoriseResult) -> list[str]:
    if not result.certified:
        return ["Nothing: a certificate is made only where every target is reproduced."]
    return [
        "certificate.json states what is in this table, with the hashes of the data and of the weights. "
        "widenet verify checks it with code that shares nothing with the code that trained.",
    ]


def _certificate_body(result: MemoriseResult) -> Html:
    measured = table(("statement", "value"), statements(result), "Measured in float64 on all rows")
    return join(
        (
            element("div", measured, class_="panel"),
            folds(details("Why a flat place is a low place: Lemmas 3 and 4", LANDSCAPE)),
        )
    )


def _cost_body(result: MemoriseResult) -> Html:
    held = result.forecast.memory_bytes
    rows = [
        ("memory, forecast", "unknown" if held is None else memory(held)),
        ("time, forecast", f"{result.forecast.seconds:,.1f} s"),
        ("time, taken", f"{result.seconds:,.1f} s"),
        (f"steps of {result.method}", f"{result.steps:,}"),
    ]
    caption = "Forecast before the start, and what it took"
    read = details("What was read and how it was prepared", items(result.data.provenance))
    return join((element("div", table(("what", "how much"), rows, caption), class_="panel"), folds(read)))
