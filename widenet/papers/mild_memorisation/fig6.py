"""Figure 6: two layers on MNIST as it is, where the loss stalls."""

from dataclasses import dataclass

from widenet.papers.claim import Claim
from widenet.papers.curve import Curves, Point, check_above, check_below
from widenet.papers.figure import Figure
from widenet.papers.mild_memorisation.images import (
    AXES,
    DEPARTURES,
    LOSS,
    TEST,
    MemorisingSettings,
    curves,
    plan,
)
from widenet.papers.verdict import Check
from widenet.study.settings import setting

STALLED, SMALL = 0.01, 1.0  # around the paper's 0.1
GUESS = 8.25  # variance of a digit drawn evenly from 0 to 9, which the best constant leaves


@dataclass(frozen=True)
class OriginalSettings(MemorisingSettings):
    """No noise."""

    noise: float = setting(0.0, "Standard deviation of the noise on each coordinate.", low=0)


def _slows_down(found: Curves) -> Check:
    """The factor by which the loss falls in the second half of the iterations, against the first."""
    points = found[LOSS].points
    middle = points[len(points) // 2]
    later, earlier = _factor(middle, points[-1]), _factor(points[0], middle)
    return check_below("fall in the second half of the iterations", later, "fall in the first half", earlier)


def _factor(before: Point, after: Point) -> Point:
    values = tuple(first / last for first, last in zip(before.best, after.best, strict=True))
    return Point(after.x, values, values)


FIG6 = Figure(
    paper="mild-memorisation",
    name="fig6",
    title="Two layers on MNIST as it is",
    place="Figure 6, Appendix A.2",
    scales={
        "quick": OriginalSettings(n=2000, num_test=2000, r=1600, batch=64, seeds=2),
        "paper": OriginalSettings(seeds=2),
    },
    axes=AXES,
    plan=plan(portion=0.0),
    curves=curves,
    claims=(
        Claim(
            f"The loss falls to a small value of about 0.1, here between {STALLED:g} and {SMALL:g}.",
            "Appendix A.2",
            lambda settings, found: [
                check_above("last training loss", found[LOSS].points[-1], "", STALLED),
                check_below("last training loss", found[LOSS].points[-1], "", SMALL),
            ],
        ),
        Claim(
            "The fall becomes slower: by a smaller factor in the second half of the iterations.",
            "Appendix A.2",
            lambda settings, found: [_slows_down(found)],
        ),
        Claim(
            "The test error (1.21 in the paper) is much better than a random guess: below half of 8.25, the "
            "variance of a digit.",
            "Appendix A.2",
            lambda settings, found: [check_below("test error", found[TEST].points[-1], "", GUESS / 2)],
        ),
    ),
    departures=DEPARTURES,
    needs=("mnist",),
)
