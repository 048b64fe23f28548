"""Figure 3(b): how evenly weights are spread over neurons with both regularisers, in the runs of 3(a)."""

from widenet.papers.beyond_two_layers.fig3a import PAPER, QUICK
from widenet.papers.beyond_two_layers.regularisers import (
    ALIKE,
    REGULARISER_DEPARTURES,
    alike_claim,
    plan,
    ratio_curves,
)
from widenet.papers.figure import Axes, Figure

FIG3B = Figure(
    paper="beyond-two-layers",
    name="fig3b",
    title="Weight decay against the penalty on ‖W‖_{2,4}: how evenly weights are spread over neurons",
    place="Figure 3(b), section 7.1",
    scales={"quick": QUICK, "paper": PAPER},
    axes=Axes("m = number of hidden neurons", "norm ratio m‖W‖_{2,4}⁴/‖W‖_F⁴", log_x=True),
    plan=plan,
    curves=ratio_curves,
    claims=(
        alike_claim(
            "The norm ratio is roughly the same with weight decay and with the penalty on ‖W‖_{2,4}⁴: "
            f"at every m they are within a factor of {ALIKE}.",
            "norm ratios",
        ),
    ),
    departures=(
        *REGULARISER_DEPARTURES,
        "In the norm ratio the biases are a column of W.",
        "The paper does not say of which run the ratio is; here it is that of the one with the best test "
        "error, at the end of its training.",
    ),
)
