"""The pictures of a comparison, as plain plotly specifications."""

from collections.abc import Sequence

from widenet.compare.result import CompareResult, Measure, MethodResult
from widenet.compare.tuning import FAMILY_GROUPS, Family
from widenet.report.parts.plots import Chart, Spec, axes_layout, by_name, label, line_trace

FAMILY_COLOURS: dict[Family, str] = {"network": "labels", "kernel": "random", "baseline": "worst"}
ROW_HEIGHT = 26
MOST_BARS = 15  # features that are drawn
WIDE = 8.0  # ratio of errors from which they are drawn on a logarithmic axis


def compare_charts(result: CompareResult) -> dict[str, Chart]:
    """All charts that the result has numbers for, by name."""
    return by_name(errors_chart(result), differences_chart(result), importances_chart(result))


def errors_chart(result: CompareResult) -> Chart | None:
    """Mean error of each method with its interval, the best at the top, with the folds behind."""
    methods = [method for method in result.methods if method.error is not None]
    if not methods:
        return None
    names = [method.name for method in methods]
    traces = []
    for family, colour in FAMILY_COLOURS.items():
        members = [(row, method) for row, method in enumerate(methods) if method.family == family]
        if members:
            traces += [_fold_dots(members, colour), _means(members, FAMILY_GROUPS[family], colour, result)]
    constant = result.constant.error
    traces.append(_constant_line(constant, len(methods), result))
    values = [constant, *(error for method in methods for error in method.errors if error is not None)]
    is_log = min(values) > 0 and max(values) > WIDE * min(values)
    axis: Spec = {"tickformat": _digits(result)} | ({"type": "log"} if is_log else {"rangemode": "tozero"})
    return Chart(
        name="errors",
        title="Error of each method on rows it has not seen",
        reading="Further left is better. Large dots: mean over the folds; bars: 95% intervals, each by "
        "itself; small dots: each fold; dashed: the best constant.",
        spec={"data": traces, "layout": _layout(_measure_title(result), names, axis)},
    )


def differences_chart(result: CompareResult) -> Chart | None:
    """How much worse each method is than the best, with its interval."""
    tests = result.significance.against_best
    if not tests:
        return None
    families = {method.name: method.family for method in result.methods}
    marker = {
        "color": [FAMILY_COLOURS[families[test.first]] for test in tests],
        "size": 10,
        "symbol": ["circle" if test.significant else "circle-open" for test in tests],
    }
    above = [test.joint_high - test.difference for test in tests]
    below = [test.difference - test.joint_low for test in tests]
    bars = _markers([(test.difference, row) for row, test in enumerate(tests)], marker) | {
        "error_x": _whiskers(above, below, "muted", 1.5, 4),
        "customdata": [f"{test.first}: p = {test.adjusted:.2g}" for test in tests],
        "hovertemplate": "%{customdata}<br>%{x:" + _digits(result) + "} worse<extra></extra>",
        "showlegend": False,
    }
    layout = _layout(f"error minus that of {result.best}", [test.first for test in tests], {})
    layout["xaxis"] |= {"tickformat": _digits(result), "zeroline": True, "zerolinecolor": "muted"}
    return Chart(
        name="differences",
        title=f"Difference from the best, {result.best}",
        reading="Bars: intervals that hold at once with 95% confidence. Filled: larger than chance would "
        "explain, so not the best. Hollow: may be due to chance.",
        spec={"data": [bars], "layout": layout},
    )


def importances_chart(result: CompareResult) -> Chart | None:
    """How much the error of the best method grows when each of its most important features is shuffled."""
    features = result.importances.features[:MOST_BARS]
    if not features:
        return None
    names, stds = [label(each.feature) for each in features], [each.std for each in features]
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": [each.increase for each in features],
        "y": list(range(len(features))),
        "marker": {"color": "labels"},
        "error_x": _whiskers(stds, stds, "muted", 1.5, 4),
        "customdata": names,
        "hovertemplate": "%{customdata}: %{x:" + _digits(result) + "}<extra></extra>",
        "showlegend": False,
    }
    layout = _layout("growth of the error", names, {"tickformat": _digits(result)})
    return Chart(
        name="importances",
        title=f"What {result.importances.method} relies on",
        reading="Growth of the error on test rows when a feature is shuffled among them; whiskers: standard "
        "deviation between folds. Features that tell the same can hide each other.",
        spec={"data": [bars], "layout": layout},
    )


def _constant_line(error: float, num_rows: int, result: CompareResult) -> Spec:
    hover = "%{x:" + _digits(result) + "}"
    return line_trace("best constant", [error, error], [-0.5, num_rows - 0.5], "muted", hover, dash="dash")


def _fold_dots(members: Sequence[tuple[int, MethodResult]], colour: str) -> Spec:
    points = [(error, row) for row, method in members for error in method.errors]
    marker = {"color": colour, "size": 5, "opacity": 0.35}
    return _markers(points, marker) | {"hoverinfo": "skip", "showlegend": False}


def _means(
    members: Sequence[tuple[int, MethodResult]], name: str, colour: str, result: CompareResult
) -> Spec:
    above = [(method.high or 0.0) - (method.error or 0.0) for _, method in members]
    # Errors are not negative, and on a logarithmic axis not 0 either.
    down = [(method.error or 0.0) - (method.low or 0.0) for _, method in members]
    below = [min(each, 0.95 * (method.error or 0.0)) for each, (_, method) in zip(down, members, strict=True)]
    points = [(method.error, row) for row, method in members]
    return _markers(points, {"color": colour, "size": 12}, name=name) | {
        "error_x": _whiskers(above, below, colour, 2, 5),
        "customdata": [method.name for _, method in members],
        "hovertemplate": "%{customdata}: %{x:" + _digits(result) + "}<extra>" + name + "</extra>",
    }


def _markers(points: Sequence[tuple[float | None, int]], marker: Spec, **named: str) -> Spec:
    """A marker for each error and row."""
    errors, rows = [error for error, _ in points], [row for _, row in points]
    return {"type": "scatter", "mode": "markers", **named, "x": errors, "y": rows, "marker": marker}


def _whiskers(
    above: Sequence[float | None], below: Sequence[float], colour: str, thickness: float, width: int
) -> Spec:
    return {"array": above, "arrayminus": below, "color": colour, "thickness": thickness, "width": width}


def _layout(title: str, names: Sequence[str], x: Spec) -> Spec:
    y = {
        "autorange": False,
        "range": [len(names) - 0.5, -0.5],
        "showgrid": False,
        "tickvals": list(range(len(names))),
        "ticktext": list(names),
    }
    return axes_layout(title, height=110 + ROW_HEIGHT * len(names), x=x, y=y)


def _digits(result: CompareResult) -> str:
    return ".2~%" if result.protocol.measure is Measure.MISCLASSIFIED else ".3~g"


def _measure_title(result: CompareResult) -> str:
    return "misclassified rows" if result.protocol.measure is Measure.MISCLASSIFIED else "squared error"
