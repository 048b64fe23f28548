"""What a figure of a paper is: settings at two scales, trials to plan, curves to draw, claims to hold.

A figure is data: one file with a `Figure`, and one line in `widenet/papers/figures.py`. It computes nothing
by itself; its trials name a job of `widenet/papers/jobs`, which does.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from widenet.base.errors import InputError
from widenet.papers.claim import Claim
from widenet.papers.curve import Curve
from widenet.runs.trial import Record, TrialResult
from widenet.study.settings import Settings, seed_setting, setting

Scale = Literal["quick", "paper"]
SCALES: tuple[Scale, ...] = ("quick", "paper")


@dataclass(frozen=True)
class FigureSettings(Settings):
    """What every figure depends on; the defaults of a figure's own settings are the paper's."""

    seeds: int = setting(3, "Draws of data and weights, each with a seed of its own.", low=1, high=1000)
    seed: int = seed_setting()

    def __post_init__(self) -> None:
        super().__post_init__()
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, tuple) and len(set(value)) < max(len(value), 1):
                wrong = "has a value twice" if value else "is empty, but at least one is needed"
                raise InputError(f"`{each.name}` {wrong}.")

    @property
    def all_seeds(self) -> range:
        """The seed of each draw."""
        return range(self.seed, self.seed + self.seeds)


@dataclass(frozen=True)
class Axes:
    """The frame of a figure.

    Attributes:
        x, y: What the axes show, as the paper writes it.
        right: What the axis on the right shows; empty where there is none.
        log_x, log_y, log_right: Which of them are logarithmic.
    """

    x: str
    y: str
    right: str = ""
    log_x: bool = False
    log_y: bool = False
    log_right: bool = False


@dataclass(frozen=True)
class Done:
    """A trial that was planned, and what came of it; None where it failed."""

    settings: Record
    result: TrialResult | None


@dataclass(frozen=True)
class Figure:
    """A figure of a paper.

    Attributes:
        paper: Its paper, as "resnet-beyond-kernels".
        name: Its name there, as "fig2a".
        title: What it shows, in a line.
        place: Where it is in the paper.
        scales: Settings at each scale.
        axes: Its frame.
        plan: From settings to batches of trials, each the settings of a job. Trials of a batch are best
            computed together, and a batch may be cut into pieces. All are planned at once, so that no worker
            waits.
        curves: From settings and all trials, in the order of the plan, to the curves.
        claims: What it is to show.
        departures: What is not as in the paper at any scale, in sentences.
        needs: Data sets that must be there.
    """

    paper: str
    name: str
    title: str
    place: str
    scales: Mapping[Scale, Any]
    axes: Axes
    plan: Callable[[Any], Sequence[Sequence[Record]]]
    curves: Callable[[Any, Sequence[Done]], Sequence[Curve]]
    claims: tuple[Claim, ...]
    departures: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    @property
    def full_name(self) -> str:
        """As "resnet-beyond-kernels/fig2a"."""
        return f"{self.paper}/{self.name}"

    def changed(self, settings: FigureSettings) -> dict[str, tuple[Any, Any]]:
        """Settings that are not those of paper scale: what they are, and what they are there."""
        paper = self.scales["paper"]
        pairs = {
            each.name: (getattr(settings, each.name), getattr(paper, each.name)) for each in fields(paper)
        }
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1] and name != "seed"}
