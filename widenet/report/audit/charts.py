"""The report's charts, as plain plotly specifications."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from widenet.audit.result import AuditResult
from widenet.base.wording import number
from widenet.predict.learning_curve import LearningCurve
from widenet.report.audit.words import best_constant, is_regression, targets_word, told_curve
from widenet.report.parts import plots
from widenet.report.parts.plots import (
    Chart,
    Spec,
    axes_layout,
    label,
    line_trace,
    lines_layout,
    log_ranks,
    thinned,
)

MOST_BARS = 20
MOST_MARKERS = 50
SHARE = "%{y:.3~p}"

Losses = Sequence[float | None]


def charts_of(result: AuditResult) -> dict[str, Chart]:
    """All charts that the result has numbers for, by name."""
    before = (complexity_chart, classes_chart, alignment_chart, descent_chart, trained_chart)
    learning = learning_charts(result)
    return plots.by_name(*(chart(result) for chart in before), *learning, scores_chart(result))


def complexity_chart(result: AuditResult) -> Chart:
    """Complexity of the labels, between its bounds, beside that of shuffled labels."""
    complexity, word = result.complexity, targets_word(result)
    value = complexity.lower if complexity.value is None else complexity.value
    upper = value if complexity.upper is None else complexity.upper
    told = number(value) if complexity.value is not None else f"at least {number(value)}"
    shown = [(f"these {word}", value, "labels", told, upper - value, value - complexity.lower)]
    if (shuffled := complexity.shuffled) is not None:
        spread = complexity.shuffled_std or 0.0
        shown.append((f"shuffled {word}", shuffled, "random", number(shuffled), spread, spread))
    names, values, colours, texts, above, below = map(list, zip(*shown, strict=True))
    bars = _bars(values, names, texts, 15) | {
        "marker": {"color": colours},
        "error_x": {"array": above, "arrayminus": below, "color": "ink", "thickness": 1.5, "width": 5},
        "hovertemplate": "%{y}: %{x:.5g}<extra></extra>",
        "width": 0.18 * len(names),
    }
    downwards = {"autorange": "reversed", "showgrid": False}
    layout = axes_layout("complexity", height=100 + 120 * len(names), y=downwards)
    return Chart(
        name="complexity",
        title="Complexity",
        reading="Shorter is easier to learn. Whiskers: bounds; of shuffled ones the standard deviation.",
        spec={"data": [bars], "layout": layout},
    )


def classes_chart(result: AuditResult) -> Chart | None:
    """Complexity of each class or target, the hardest first; None unless there are several."""
    ranked = sorted(result.complexity.columns, key=lambda column: -(column.value or column.lower))
    columns = ranked[:MOST_BARS]
    if len(columns) < 2:
        return None
    values = [column.lower if column.value is None else column.value for column in columns]
    places, names = list(range(len(columns))), [label(column.name) for column in columns]
    bars = _bars(values, places, [number(value) for value in values], 12) | {
        "constraintext": "none",
        "customdata": names,
        "width": min(0.72, 0.12 * len(columns)),
        "marker": {"color": "labels"},
        "hovertemplate": "%{customdata}: %{x:.5g}<extra></extra>",
    }
    ticks = {"autorange": "reversed", "showgrid": False, "tickvals": places, "ticktext": names}
    layout = axes_layout("complexity", height=max(340, 90 + 26 * len(columns)), y=ticks)
    is_numbers, cut = is_regression(result), len(ranked) > MOST_BARS
    each = "Each target" if is_numbers else "Each class against all others"
    return Chart(
        name="classes",
        title="Complexity of each target" if is_numbers else "Complexity of each class",
        reading=f"{each}, hardest first{f' (the first {MOST_BARS})' if cut else ''}.",
        spec={"data": [bars], "layout": layout},
    )


def _bars(values: list[float], places: list[Any], texts: list[str], size: int) -> Spec:
    """Horizontal bars, each with its text inside where that fits."""
    return {
        "type": "bar",
        "orientation": "h",
        "x": values,
        "y": places,
        "text": texts,
        "textposition": "auto",
        "insidetextanchor": "start",
        "insidetextfont": {"color": "card", "size": size},
    }


def alignment_chart(result: AuditResult) -> Chart | None:
    """Share of label energy on the eigenvectors above each eigenvalue, beside shuffled labels."""
    alignment = result.spectrum.alignment
    keep = thinned([index for index, value in enumerate(alignment.eigenvalues) if value > 0])
    if not keep:
        return None
    eigenvalues, labels, shuffled = (
        [values[index] for index in keep]
        for values in (alignment.eigenvalues, alignment.labels, alignment.random)
    )
    lines = _beside_shuffled(result, eigenvalues, labels, shuffled, "%{y:.1%}")
    x = {"type": "log", "autorange": "reversed", "tickformat": ",~g", "dtick": 1}
    y = {"tickformat": ".0%", "range": [0, 1.04]}
    layout = lines_layout("eigenvalue, largest first", "above %{x:.3g}", x=x, y=y)
    return Chart(
        name="alignment",
        title="Cumulative share of the energy along the spectrum",
        reading="What lies on large eigenvalues, at the left, is learned first and generalises best.",
        spec={"data": lines, "layout": layout},
    )


def descent_chart(result: AuditResult) -> Chart | None:
    """Predicted loss at each step, for these labels, shuffled ones and the worst case."""
    curve = result.curve
    start = curve.loss[0] if curve.loss else 0.0
    keep = thinned([index for index, step in enumerate(curve.steps) if step > 0])
    if not keep or start <= 0:
        return None
    steps = [curve.steps[index] for index in keep]
    own, shuffled = _shares(curve.loss, keep, start), _shares(curve.random_loss, keep, start)
    lines = _beside_shuffled(result, steps, own, shuffled, SHARE)
    if curve.worst_loss is not None:
        worst = _shares(curve.worst_loss, keep, start)
        lines.append(line_trace("worst case", steps, worst, "worst", SHARE, "dot"))
    return Chart(
        name="descent",
        title="Loss as a share of its initial value",
        reading="Both axes are logarithmic. A curve that bends down early is learned quickly.",
        spec={"data": lines, "layout": _loss_layout(lines)},
    )


def trained_chart(result: AuditResult) -> Chart | None:
    """A real training run as points on the line that was predicted for it; None where there is none."""
    trained = result.curve.trained
    if trained is None:
        return None
    keep = thinned([index for index, step in enumerate(trained.steps) if step > 0])
    steps, start = [trained.steps[index] for index in keep], trained.predicted[0]
    predicted = line_trace("predicted", steps, _shares(trained.predicted, keep, start), "labels", SHARE)
    some = [keep[rank - 1] for rank in log_ranks(len(keep), MOST_MARKERS)]
    places, measured = [trained.steps[index] for index in some], _shares(trained.loss, some, start)
    run = line_trace("trained network", places, measured, "ink", SHARE)
    lines = [predicted, run | {"mode": "markers", "marker": {"color": "ink", "size": 6}}]
    return Chart(
        name="trained",
        title="A trained network beside its prediction",
        reading=f"Loss as a share of its initial value, {trained.width:,} neurons, {trained.rows:,} rows.",
        spec={"data": lines, "layout": _loss_layout(lines)},
    )


def learning_charts(result: AuditResult) -> Iterator[Chart]:
    """The error by number of rows, of the chosen kernel and of the audit's own without a ridge."""
    shown = (
        ("learning", f"with {result.chosen.kernel}, chosen for this data", result.chosen.learning_curve),
        ("interpolating", f"with {result.kernel}, fitting every row", result.learning_curve),
    )
    for name, how, curve in shown:
        what = "Error (root mean square)" if is_regression(result) else "Misclassified rows"
        if curve.n:
            yield _learning_chart(result, name, f"{what}, {how}", curve)


def scores_chart(result: AuditResult) -> Chart | None:
    """Every row's score, worst first, with the number of wrong labels that the noise estimate expects."""
    if not result.ranking:
        return None
    ranks = log_ranks(len(result.ranking), plots.MOST_POINTS)
    shown = [result.ranking[rank - 1] for rank in ranks]
    told = [f"row {s.row}: {label(s.given)} → {label(s.suggested)}" for s in shown]
    line = line_trace("score", ranks, [s.score for s in shown], "labels", "")
    line |= {"customdata": told, "hovertemplate": "%{customdata}<br>score %{y:.3g}<extra></extra>"}
    layout = axes_layout("rows, the most suspicious first", x={"type": "log", "tickformat": "~s", "dtick": 1})
    reading = "Higher is more suspicious."
    if all(0 <= s.score <= 1 for s in shown):
        layout["yaxis"]["range"] = [0, 1.04]  # a flat line at 0 is good news and should look like it
    if not is_regression(result):
        low, high = (max(share * result.data.n, 0.8) for share in (result.noise.low, result.noise.high))
        layout["shapes"] = [plots.shaded(low, max(high, low))]
        reading += " Shaded: the interval for how many are wrong."
    return Chart("scores", "Suspicion of each row", reading, {"data": [line], "layout": layout})


def _beside_shuffled(
    result: AuditResult, x: Sequence[float], own: Losses, shuffled: Losses, hover: str
) -> list[Spec]:
    """The line of these labels and that of shuffled ones."""
    word = targets_word(result)
    return [
        line_trace(f"these {word}", x, own, "labels", hover),
        line_trace(f"shuffled {word}", x, shuffled, "random", hover, "dash"),
    ]


def _learning_chart(result: AuditResult, name: str, title: str, curve: LearningCurve) -> Chart:
    """Measured points, the line that continues them, the band around both, and the best constant's error."""
    told, constant = told_curve(result, curve), best_constant(result)
    middle, low, high = told.middle, told.low, told.high
    n, is_log = list(curve.n), min(middle) > 0
    floor = min(middle) / 4 if is_log else 0.0  # a logarithmic axis has no place for an interval to 0
    digits = _in_thousands(floor, max(*high, constant)) if is_regression(result) else ".2~p"
    last = max((index for index, measured in enumerate(curve.measured) if measured), default=0)
    hover = f"%{{y:{digits}}}"
    band = {
        "type": "scatter",
        "x": n + n[::-1],
        "y": [*high, *(max(value, floor) for value in low[::-1])],
        "fill": "toself",
        "fillcolor": "band",
        "line": {"width": 0, "color": "clear"},
        "name": "95% interval",
        "hoverinfo": "skip",
    }
    ahead = line_trace("extrapolated", n[last:], middle[last:], "labels", hover, "dash")
    sizes = [0] + [8] * (len(n) - last - 1)
    hollow = {"color": "card", "size": sizes, "line": {"color": "labels", "width": 2}}
    known = line_trace("measured", n[: last + 1], middle[: last + 1], "labels", hover)
    ahead |= {"mode": "lines+markers", "cliponaxis": False, "marker": hollow | {"opacity": 1}}
    known |= {"mode": "lines+markers", "cliponaxis": False, "marker": {"color": "labels", "size": 8}}
    flat = line_trace("best constant", [n[0], n[-1]], [constant] * 2, "random", f"%{{y:{digits}}}", "dot")
    ticks = n[last % 2 :: 2]  # today's number among them
    x = {"type": "log", "tickvals": ticks, "ticktext": [plots.compact(value) for value in ticks]}
    y: Spec = {"rangemode": "tozero", "tickformat": digits}
    if is_log:
        y |= {"type": "log", "dtick": "D2" if max(*high, constant) > 2.5 * min(middle) else "D1"}
    return Chart(
        name=name,
        title=title,
        reading="Filled: measured on this data. Hollow: extrapolated to more rows.",
        spec={
            "data": [band, flat, ahead, known],
            "layout": lines_layout("training rows", "%{x:,} rows", x=x, y=y),
        },
    )


def _in_thousands(lowest: float, highest: float) -> str:
    """Format of errors in units: 200k where they are large, unless some lie below 1, and 0.5 were 500m."""
    return ".3~s" if highest >= 1000 and not 0 < lowest < 1 else ".3~g"


def _loss_layout(lines: Sequence[Spec]) -> Spec:
    """Logarithmic axes down to a millionth of the start."""
    decades = [math.log10(value) for line in lines for value in line["y"] if value is not None]
    ends = [max(min(decades, default=0) - 0.2, -6), max(decades, default=0) + 0.15]
    x = {"type": "log", "tickformat": "~s", "dtick": 1}
    y = {"type": "log", "tickformat": "~p", "range": ends, "dtick": 1 if ends[1] - ends[0] > 2 else "D2"}
    return lines_layout("gradient steps", "after %{x:,} steps", x=x, y=y)


def _shares(loss: Sequence[float], keep: Sequence[int], start: float) -> Losses:
    """Losses as shares of the start; None where a logarithmic axis has no place for one."""
    return [loss[index] / start if 0 < loss[index] < math.inf else None for index in keep]
