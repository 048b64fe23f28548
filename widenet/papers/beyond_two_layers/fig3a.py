"""Figure 3(a): test error with weight decay, and with the penalty on ‖W‖_{2,4}⁴."""

from widenet.papers.beyond_two_layers.regularisers import (
    ALIKE,
    REGULARISER_DEPARTURES,
    RegulariserSettings,
    alike_claim,
    cells,
    plan,
)
from widenet.papers.cells import curves_of
from widenet.papers.figure import Axes, Figure

PAPER = RegulariserSettings(decays=(1e-3, 1e-4, 1e-5), m=(50, 100, 200, 500))
QUICK = RegulariserSettings(
    m=(50, 200), rates=(2.0, 1.0, 0.5), decays=(1e-3, 1e-5), two_four=(1e-4, 1e-6), epochs=200
)

FIG3A = Figure(
    paper="beyond-two-layers",
    name="fig3a",
    title="Weight decay against the penalty on ‖W‖_{2,4}: test error",
    place="Figure 3(a), section 7.1",
    scales={"quick": QUICK, "paper": PAPER},
    axes=Axes("m = number of hidden neurons", "test error", log_x=True, log_y=True),
    plan=plan,
    curves=lambda settings, done: curves_of(list(cells(settings)), done),
    claims=(
        alike_claim(
            "There is no real difference in test error between weight decay and the penalty on ‖W‖_{2,4}⁴: "
            f"at every m they are within a factor of {ALIKE}.",
            "test errors",
        ),
    ),
    departures=REGULARISER_DEPARTURES,
)
