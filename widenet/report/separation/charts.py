"""The picture of the separation, as a plain plotly specification."""

import math

from widenet.papers.resnet_beyond_kernels.separation.kernels import PARITIES
from widenet.papers.resnet_beyond_kernels.separation.result import KernelCurve, SeparationResult
from widenet.report.parts.plots import Chart, Spec, axes_layout, line_trace
from widenet.theory.resnet_beyond_kernels.lower_bound import kernel_floor

HEIGHT = 460
LOWEST, HIGHEST = -0.03, 2.0  # multiples of α² that are drawn: whole markers at 0, and up to where F is lost


def separation_charts(result: SeparationResult) -> dict[str, Chart]:
    """Error against the number of samples: kernels, their bound, and the network."""
    x_range = [0, 1.02 * result.sizes[-1]]
    layout = axes_layout(
        "samples N",
        height=HEIGHT,
        x={"range": x_range, "tickformat": ","},
        y={
            "range": [LOWEST, HIGHEST],
            "tickformat": ".2~f",
            "title": {"text": "error ÷ α²", "standoff": 8, "font": {"size": 13}},
        },
    )
    traces = [_floor(result), *_kernels(result), _members(result), _network(result)]
    chart = Chart(
        name="separation",
        title="Error against the number of samples",
        reading="Squared error of an output in units of α², the error of learning F but not αG(F). On "
        "average over the class, no kernel fixed before the labels is in the shaded region. Small dots: "
        "single networks; their line is the mean. The tables name the kernels.",
        spec={"data": traces, "layout": layout},
    )
    return {chart.name: chart}


def _floor(result: SeparationResult) -> Spec:
    """The bound over all N that are drawn, with a corner where it reaches 0."""
    settings, end = result.settings, result.sizes[-1]
    x = sorted({0, min(result.class_size, end), end})
    y = [kernel_floor(size, settings.d1, settings.k, settings.alpha) for size in x]
    hover = "N = %{x:,}: kernels fixed before the labels have at least %{y:.2f} α² on average"
    trace = line_trace("bound for kernels, on average", x, _in_units(y, result), "ink", hover, dash="dash")
    return trace | {"fill": "tozeroy", "fillcolor": "band-random"}


def _kernels(result: SeparationResult) -> list[Spec]:
    """One entry of the legend for all kernels with a name of their own, one for that made for the class."""
    traces = []
    for index, kernel in enumerate(result.kernels):
        made = kernel.name == PARITIES
        trace = _kernel(kernel, result, "worst" if made else "random")
        if made:
            trace |= {"name": "kernel made for the class"}
        else:
            trace |= {"name": "kernels, best weights", "legendgroup": "kernels", "showlegend": index == 0}
        traces.append(trace)
    return traces


def _kernel(kernel: KernelCurve, result: SeparationResult, colour: str) -> Spec:
    hover = f"{kernel.name}<br>N = %{{x:,}}: %{{y:.3f}} α²"
    trace = line_trace(kernel.name, result.sizes, _in_units(kernel.errors, result), colour, hover)
    return trace | {
        "line": {"color": colour, "width": 1.5},
        "hovertemplate": f"{hover}<extra></extra>",
    }


def _network(result: SeparationResult) -> Spec:
    x = [point.num_samples for point in result.network]
    y = _in_units([point.error for point in result.network], result)
    trace = line_trace("trained ResNet", x, y, "labels", "N = %{x:,}: %{y:.3f} α²")
    return trace | {"mode": "lines+markers", "marker": {"color": "labels", "size": 8}}


def _members(result: SeparationResult) -> Spec:
    points = [(point.num_samples, error) for point in result.network for error in point.errors]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [size for size, _ in points],
        "y": _in_units([error for _, error in points], result),
        "marker": {"color": "labels", "size": 5, "opacity": 0.4},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _in_units(errors: list[float] | tuple[float, ...], result: SeparationResult) -> list[float | None]:
    """Multiples of α²; None where a network diverged."""
    return [error / result.unlearned if math.isfinite(error) else None for error in errors]
