"""What came of a figure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from widenet.papers.claim import JudgedClaim, verdict_counts
from widenet.papers.curve import Curve
from widenet.papers.figure import Axes, FigureSettings, Scale
from widenet.study.forecast import Forecast
from widenet.study.result import Outcome, Result


@dataclass(frozen=True)
class FailedTrial:
    """A trial without a result."""

    trial: dict[str, Any]  # its settings
    error: str  # what happened, in a sentence


@dataclass(frozen=True)
class TrialTable:
    """Every trial: its settings, and the numbers of its record that are no curve.

    Attributes:
        common: What all of them share.
        columns: Names of what differs.
        rows: The values of each trial; None where it has no such value.
    """

    common: dict[str, Any]
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def trial_table(trials: Sequence[dict[str, Any]]) -> TrialTable:
    """A table of trials, which are many and mostly alike."""
    names = list(dict.fromkeys(name for trial in trials for name in trial))
    first = trials[0] if trials else {}
    shared = [name for name in names if all(name in each and each[name] == first[name] for each in trials)]
    columns = tuple(name for name in names if name not in shared)
    rows = tuple(tuple(each.get(name) for name in columns) for each in trials)
    return TrialTable({name: first[name] for name in shared}, columns, rows)


@dataclass(frozen=True, repr=False, kw_only=True)
class FigureResult(Result):
    """A figure that was run.

    Attributes:
        paper, figure, title, place, axes: Those of the figure.
        scale: Which of its settings were the starting point.
        settings: Those that were used.
        settings_changed: Whether the caller changed settings of the scale.
        claims: Its claims with their verdicts.
        differences: What is not as in the paper, in sentences.
        curves: What is drawn.
        trials: All of them.
        failures: Trials without a result.
        forecast: What was expected.
        seconds: What it took, without trials that were found in a store.
        seed: The first seed.
    """

    schema: ClassVar[str] = "widenet/reproduce/1"
    paper: str
    figure: str
    title: str
    place: str
    scale: Scale
    settings: FigureSettings
    settings_changed: bool
    claims: tuple[JudgedClaim, ...]
    differences: tuple[str, ...]
    axes: Axes
    curves: tuple[Curve, ...]
    trials: TrialTable
    failures: tuple[FailedTrial, ...]
    forecast: Forecast
    seconds: float
    seed: int

    @property
    def full_name(self) -> str:
        """As "resnet-beyond-kernels/fig2a"."""
        return f"{self.paper}/{self.figure}"

    @property
    def drawn_curves(self) -> tuple[Curve, ...]:
        """Those that are not numbers alone."""
        return tuple(curve for curve in self.curves if curve.style != "numbers")

    @property
    def outcome(self) -> Outcome:
        """Whether all trials have a result."""
        return Outcome.PARTLY if self.failures else Outcome.DONE

    def facts(self) -> dict[str, str]:
        """The verdicts."""
        told = {each.value: str(count) for each, count in verdict_counts(self.claims).items() if count}
        return {"figure": self.full_name, "scale": self.scale, **told}


@dataclass(frozen=True)
class MissingFigure:
    """A figure that was not run, because something that it needs is not there."""

    paper: str
    figure: str
    title: str
    reason: str


@dataclass(frozen=True, repr=False, kw_only=True)
class GalleryResult(Result):
    """Several figures."""

    schema: ClassVar[str] = "widenet/gallery/1"
    scale: Scale
    figures: tuple[FigureResult, ...]
    missing: tuple[MissingFigure, ...]
    seconds: float

    @property
    def outcome(self) -> Outcome:
        """Whether all figures were run, with all of their trials."""
        partly = self.missing or any(each.failures for each in self.figures)
        return Outcome.PARTLY if partly else Outcome.DONE
