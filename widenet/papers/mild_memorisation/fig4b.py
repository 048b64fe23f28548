"""Figure 4(b) (and 10): three layers memorise random labels of MNIST from 100 principal components."""

from widenet.papers.claim import Claim
from widenet.papers.curve import check_below
from widenet.papers.figure import Figure
from widenet.papers.mild_memorisation.fig3b import LOW, QUICK
from widenet.papers.mild_memorisation.images import (
    AXES,
    DEPARTURES,
    LOSS,
    THREE_LAYERS,
    ThreeLayerSettings,
    curves,
    plan,
)

FIG4B = Figure(
    paper="mild-memorisation",
    name="fig4b",
    title="Three layers on random labels and 100 principal components of MNIST",
    place="Figure 4(b) and Figure 10, section 5 and Appendix A.2",
    scales={"quick": QUICK, "paper": ThreeLayerSettings(seeds=2)},
    axes=AXES,
    plan=plan(portion=1.0),
    curves=curves,
    claims=(
        Claim(
            f"Three layers fit random labels as they fit the true ones: the loss ends below {LOW:g}.",
            "Appendix A.2",
            lambda settings, found: [check_below("last training loss", found[LOSS].points[-1], "", LOW)],
        ),
    ),
    departures=(*DEPARTURES, *THREE_LAYERS),
    needs=("mnist",),
)
