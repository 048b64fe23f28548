"""The separation of the ResNet from kernels as one HTML page that opens offline."""

from widenet.base.wording import counted, duration
from widenet.papers.resnet_beyond_kernels.separation.result import SeparationResult
from widenet.report.parts.document import document, masthead, page_body, tile_list
from widenet.report.parts.formulas import formula, frac, sub, sum_over, sup
from widenet.report.parts.markup import Html, details, element, join, paragraphs, table
from widenet.report.parts.quantities import short_duration
from widenet.report.parts.sections import figure, folds, section
from widenet.report.separation.charts import separation_charts
from widenet.report.separation.sentences import (
    best_kernel,
    floor_text,
    how_separated,
    in_units,
    kernel_rows,
    network_rows,
    sentences,
    spread_text,
    the_class,
)

MEAN_ERROR = (frac("1", "| C |"), sum_over("S"), sub("error", "S"))
BOUND = formula(MEAN_ERROR, "≥", sup("α", "2"), "( 1 −", frac("N", "| C |"), ")")
PROOF = (
    "From N samples a kernel method predicts an output by a combination of the N functions K(·, xₙ). "
    "Whatever the weights, and however they were found, the prediction lies in the span of these functions, "
    "which is the same for all functions of the class.",
    "Add the d₁ coordinates to that span. This can only help, and then the part F of the target costs "
    "nothing. What is left of the span, orthogonal to the coordinates, has at most N dimensions; call it U.",
    "The product χ_S of the k coordinates in S is orthogonal to all coordinates, so the best error on that "
    "output is α² times what the projection on U misses of χ_S: α²(1 − ‖P_U χ_S‖²).",
    "Products of different sets are orthogonal, and each has norm 1. So for each unit vector u of U, the sum "
    "of ⟨u, χ_S⟩² over all sets S is at most ‖u‖² = 1 (Bessel), and over an orthonormal basis of U it is at "
    "most N: the sum of ‖P_U χ_S‖² over the class is at most N, and its mean at most N/|C|.",
)


def page(result: SeparationResult) -> str:
    """The picture, the answer, the proof on demand, and how it was measured."""
    charts = separation_charts(result)
    pictures = [figure(chart) for chart in charts.values()]
    sections = (
        section(1, "What do more samples buy?", [], element("div", *pictures, class_="charts")),
        section(2, "What was to be learned?", the_class(result), Html("")),
        section(3, "Why can no kernel fixed before the labels do better on average?", [], _proof()),
        section(4, "What are the numbers?", [], _numbers(result)),
        section(5, "How was it measured?", how_separated(result), Html("")),
    )
    footer = ("The numbers behind this page are in result.json and table.csv.", f"widenet {result.version}")
    content = page_body(_masthead(result), sentences(result), _tiles(result), sections, footer)
    return document("Beyond kernels · widenet theory separation", content, charts)


def _masthead(result: SeparationResult) -> Html:
    settings = result.settings
    facts = (
        f"d₁ = {settings.d1} · k = {settings.k} · α = {settings.alpha:g} · "
        f"{result.class_size:,} functions · {counted(len(result.kernels), 'kernel')} · "
        "resnet-beyond-kernels, (7.1)"
    )
    return masthead("theory separation", "Beyond kernels", facts)


def _tiles(result: SeparationResult) -> Html:
    index = result.widest if result.widest is not None else len(result.sizes) - 1
    point, size = result.network[index], result.sizes[index]
    best = best_kernel(result, index)
    at = f"from {size:,} samples"
    tiles = (
        ("Trained ResNet", in_units(point.error, result), f"{at}; {spread_text(point, result)}", "#q4"),
        (
            "Kernels fixed before the labels",
            f"≥ {floor_text(result.floor[index], result)}",
            "on average",
            "#q3",
        ),
        ("Best kernel here", in_units(best.errors[index], result), f"{best.name}, best weights", "#q4"),
        ("Time", short_duration(result.seconds), f"forecast {duration(result.forecast.seconds)}", "#q5"),
    )
    return tile_list(tiles)


def _proof() -> Html:
    told = element(
        "p",
        "N samples give a kernel method N dimensions, and the class has one more direction for each of its "
        "|C| functions. On average over the class, for any kernel that is fixed before the labels, any "
        "samples and any weights, the error of an output is at least",
    )
    return join(told, BOUND, folds(details("The proof, in four steps", paragraphs(PROOF))))


def _numbers(result: SeparationResult) -> Html:
    head = ("", *(f"N\u00a0=\u00a0{size:,}" for size in result.sizes))
    kernels = table(head, kernel_rows(result), "Kernels with the best possible weights: mean error ÷ α²")
    network = table(
        ("samples", "error ÷ α²", "±", "functions", "bound ÷ α²", "rate", "decay"),
        network_rows(result),
        f"The trained ResNet on {counted(len(result.subsets), 'function')} of the class: mean, standard "
        "deviation, and smallest to largest",
    )
    panels = (element("div", each, class_="panel wide") for each in (network, kernels))
    return element("div", *panels, class_="charts", style="grid-template-columns:minmax(0,1fr)")
