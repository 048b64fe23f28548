"""The picture of memorising: the loss along the way."""

import math

from widenet.memorise.result import MemoriseResult
from widenet.report.memorise.sentences import small, targets_noun
from widenet.report.parts.plots import Chart, Spec, axes_layout, line_trace

FEW = 60  # points up to which each is marked
FEW_STEPS = 8  # up to which each has a tick
STEPS = {"pgd": "steps of descent", "adam": "steps of Adam", "direct": "iterations of least squares"}
ROOM = 0.6  # decades above and below the curve


def loss_chart(result: MemoriseResult) -> Chart | None:
    """The loss at each recorded step on a logarithmic axis, and where it is so low that no target is off."""
    curve = result.curve
    values = [f if 0 < f < math.inf else None for f in curve.loss]
    drawn = [math.log10(f) for f in values if f is not None]
    if len(drawn) < 2:
        return None
    line = line_trace("loss", curve.steps, values, "labels", "%{y:.2e} after %{x:,} steps")
    if len(values) <= FEW:
        line |= {"mode": "lines+markers", "marker": {"color": "labels", "size": 8}}
    last = max(curve.steps[-1], 1)
    enough = result.tolerance**2 / (4 * result.data.n)
    name = f"all {targets_noun(result)} certain"
    limit = line_trace(name, [0, last], [enough] * 2, "random", "%{y:.2e}", "dash")
    ends = [min(*drawn, math.log10(enough)) - ROOM, max(*drawn, math.log10(enough)) + ROOM]
    decades = max(1, round((ends[1] - ends[0]) / 8))
    y: Spec = {"type": "log", "range": ends, "dtick": decades}
    y |= {"exponentformat": "power", "tickfont": {"size": 11}}
    x: Spec = {"range": [-0.02 * last, 1.02 * last], "tickformat": ",d"}
    x |= {"dtick": 1} if last <= FEW_STEPS else {"nticks": 8}
    layout = axes_layout(STEPS.get(result.method, "steps"), height=380, x=x, y=y)
    return Chart(
        name="loss",
        title="Loss f on all rows",
        reading=f"The axis is logarithmic. Below the dashed line, {small(enough)}, no residual can reach "
        f"{small(result.tolerance)}.",
        spec={"data": [line, limit], "layout": layout},
    )
