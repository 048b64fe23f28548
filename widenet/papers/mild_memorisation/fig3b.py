"""Figure 3(b) (and 8): three layers memorise MNIST from 100 principal components."""

from widenet.papers.claim import Claim
from widenet.papers.curve import check_below
from widenet.papers.figure import Figure
from widenet.papers.mild_memorisation.images import (
    AXES,
    DEPARTURES,
    LOSS,
    THREE_LAYERS,
    ThreeLayerSettings,
    curves,
    plan,
)

LOW = 1e-3
QUICK = ThreeLayerSettings(n=1000, num_test=2000, r=800, k=300, epochs=300, batch=32, decay_every=60, seeds=2)

FIG3B = Figure(
    paper="mild-memorisation",
    name="fig3b",
    title="Three layers on 100 principal components of MNIST",
    place="Figure 3(b) and Figure 8, section 5 and Appendix A.2",
    scales={"quick": QUICK, "paper": ThreeLayerSettings(seeds=2)},
    axes=AXES,
    plan=plan(portion=0.0),
    curves=curves,
    claims=(
        Claim(
            f"Three layers drive the training error to a very low level, below {LOW:g}, from 100 directions "
            "alone.",
            "Appendix A.2",
            lambda settings, found: [check_below("last training loss", found[LOSS].points[-1], "", LOW)],
        ),
    ),
    departures=(*DEPARTURES, *THREE_LAYERS),
    needs=("mnist",),
)
