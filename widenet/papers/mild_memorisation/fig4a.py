"""Figure 4(a) (and 9): two layers memorise random labels of MNIST, if there is noise on its pixels."""

from widenet.papers.claim import Claim
from widenet.papers.curve import Curves, Point, check_above, check_below
from widenet.papers.figure import Figure
from widenet.papers.mild_memorisation.images import (
    AXES,
    BARE,
    DEPARTURES,
    LOSS,
    MemorisingSettings,
    curves,
    plan,
)
from widenet.papers.verdict import Check

ACCURATE = 1e-3
WORSE = 10.0  # times the loss with noise is that without


def _without_noise(found: Curves) -> Check:
    last = found[LOSS].points[-1]
    bound = Point(last.x, *(tuple(WORSE * value for value in last.best),) * 2)
    return check_above("last training loss without noise", found[BARE].points[-1], "10 times with it", bound)


FIG4A = Figure(
    paper="mild-memorisation",
    name="fig4a",
    title="Two layers on random labels of MNIST with noise of 0.01 on each pixel",
    place="Figure 4(a) and Figure 9, section 5 and Appendix A.2",
    scales={
        "quick": MemorisingSettings(n=1000, num_test=2000, r=1600, batch=32, seeds=2),
        "paper": MemorisingSettings(seeds=2),
    },
    axes=AXES,
    plan=plan(portion=1.0, bare=True),
    curves=curves,
    claims=(
        Claim(
            f"With noise on the inputs, random labels are fitted to very high accuracy, below {ACCURATE:g}.",
            "Appendix A.2",
            lambda settings, found: [check_below("last training loss", found[LOSS].points[-1], "", ACCURATE)],
        ),
        Claim(
            f"The original inputs do not work well for random labels: the loss ends over {WORSE:g} times as "
            "high.",
            "Appendix A.2",
            lambda settings, found: [_without_noise(found)],
        ),
    ),
    departures=(
        *DEPARTURES,
        "The dashed line, the same without noise, is told of in the paper but not drawn.",
    ),
    needs=("mnist",),
)
