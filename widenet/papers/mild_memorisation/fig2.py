"""Figure 2 (and 5): plain gradient descent memorises a small random data set."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from widenet.papers.claim import Claim
from widenet.papers.curve import Curve, check_below, series
from widenet.papers.figure import Axes, Done, Figure, FigureSettings
from widenet.papers.jobs.memorising import synthetic_trial
from widenet.runs.trial import Record
from widenet.study.settings import setting

LOSS = "training loss"
MEMORISED = 1e-10  # the loss f that counts as 0


@dataclass(frozen=True)
class SyntheticSettings(FigureSettings):
    """The rows and the net."""

    n: int = setting(300, "Training rows N.", low=1, high=10**5)
    d: int = setting(100, "Coordinates of a row.", low=1, high=10**4)
    r: int = setting(300, "Neurons, half of either sign.", low=2, high=2**16)
    eta: float = setting(30.0, "Step size.", low=0, strict=True)
    steps: int = setting(500, "Iterations.", low=5, high=10**6)


def plan(settings: SyntheticSettings) -> list[list[Record]]:
    """A data set and a net for each seed."""
    s = settings
    return [[synthetic_trial(s.n, s.d, s.r, s.eta, s.steps, seed) for seed in s.all_seeds]]


def curves(settings: SyntheticSettings, done: Sequence[Done]) -> list[Curve]:
    """The loss f, averaged over the last twenty records."""
    records = [each.result.record for each in done if each.result is not None]
    steps = records[0]["steps"] if records else [settings.steps]
    missing = [math.nan] * len(steps)
    losses = [missing if each.result is None else each.result.record["loss"] for each in done]
    return [series(LOSS, steps, losses)]


FIG2 = Figure(
    paper="mild-memorisation",
    name="fig2",
    title="Plain gradient descent on 300 random rows",
    place="Figure 2 and Figure 5, section 5 and Appendix A",
    scales={"quick": SyntheticSettings(seeds=2, steps=400), "paper": SyntheticSettings()},
    axes=Axes("Iteration", "Training loss f, mean of 20 records", log_y=True),
    plan=plan,
    curves=curves,
    claims=(
        Claim(
            f"Simple gradient descent memorises the training set: the loss ends below {MEMORISED:g}.",
            "section 5, small synthetic example",
            lambda settings, found: [
                check_below("last training loss", found[LOSS].points[-1], "", MEMORISED)
            ],
        ),
    ),
    departures=(
        "The paper takes all parameters from Theorem 4; its step size would be below 10⁻⁵ here and its "
        "number of steps beyond 10³⁰, so a step size of 30 is used, without noise and "
        "regulariser.",
        "Weights start at N(0, 1/(3d)); the paper does not say where they start.",
    ),
)
