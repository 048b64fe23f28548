"""Figure 3(a) (and 7): two layers memorise MNIST with a little noise on its pixels."""

from widenet.papers.claim import Claim
from widenet.papers.curve import check_below
from widenet.papers.figure import Figure
from widenet.papers.mild_memorisation.images import AXES, DEPARTURES, LOSS, MemorisingSettings, curves, plan

SMALL = 1e-5

FIG3A = Figure(
    paper="mild-memorisation",
    name="fig3a",
    title="Two layers on MNIST with noise of 0.01 on each pixel",
    place="Figure 3(a) and Figure 7, section 5 and Appendix A.2",
    scales={
        "quick": MemorisingSettings(n=1000, num_test=2000, r=1600, batch=32, seeds=2),
        "paper": MemorisingSettings(seeds=2),
    },
    axes=AXES,
    plan=plan(portion=0.0),
    curves=curves,
    claims=(
        Claim(
            f"With noise on the inputs the loss falls to a very small value, below {SMALL:g}.",
            "Appendix A.2",
            lambda settings, found: [check_below("last training loss", found[LOSS].points[-1], "", SMALL)],
        ),
    ),
    departures=DEPARTURES,
    needs=("mnist",),
)
