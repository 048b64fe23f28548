"""What figures 3(a) and 3(b) share: weight decay against the penalty on ‖W‖_{2,4}⁴ [section 7.1]."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from widenet.papers.beyond_two_layers.sphere import DEPARTURES, START, SphereSettings
from widenet.papers.cells import Cell, Reading, plan_of
from widenet.papers.claim import Claim
from widenet.papers.curve import Curve, Curves, Point, check_below
from widenet.papers.figure import Done
from widenet.papers.jobs.networks import grid_run, network_trial
from widenet.papers.verdict import Check
from widenet.runs.trial import Record
from widenet.study.settings import setting
from widenet.training.settings import TrainingSettings

NETWORK, CONCEPT = "3layer-hidden", "three-sines"
REGULARISERS = {"‖W‖_F": "decay", "‖W‖_{2,4}": "decay_two_four"}  # curves, and the setting of each
ALIKE = 1.5  # the factor within which numbers are the same, for claims
REGULARISER_DEPARTURES = (
    "Weight decay acts on W, on V and on their biases; the penalty on ‖W‖_{2,4}⁴ on the weights of W alone.",
    "The paper goes on to m = 5000.",
    *DEPARTURES,
)


@dataclass(frozen=True)
class RegulariserSettings(SphereSettings):
    """The sample, and the weights of the penalty."""

    n: int = setting(1000, "Training rows N.", low=2, high=10**6)
    two_four: tuple[float, ...] = setting((1e-4, 1e-5, 1e-6), "Weights of ‖W‖_{2,4}⁴ to choose from.", low=0)

    def regularised(self, name: str, m: int, seed: int) -> list[TrainingSettings]:
        """Every rate with every weight of the regulariser of this name."""
        values = self.decays if name == "decay" else self.two_four
        rates = [rate / m for rate in self.rates]
        common = TrainingSettings(epochs=self.epochs, batch=self.batch, seed=seed, initialisation=START)
        chosen: list[dict[str, float]] = [{"rate": rate, name: value} for rate in rates for value in values]
        return [replace(common, **each) for each in chosen]  # type: ignore[arg-type]


def cells(settings: RegulariserSettings) -> Iterator[Cell]:
    """Three layers with each regulariser, at every width and seed."""
    for curve, name in REGULARISERS.items():
        for m in settings.m:
            for seed in settings.all_seeds:
                data = f"{CONCEPT}:n={settings.n},seed={seed}"
                grid = settings.regularised(name, m, seed)
                trials = tuple(network_trial(data, settings.held_out, NETWORK, m, each) for each in grid)
                yield Cell(curve, m, seed, trials, _reading(name))


def _reading(name: str) -> Reading:
    return lambda record: [grid_run(record, "rate", name)]


def plan(settings: RegulariserSettings) -> list[tuple[Record, ...]]:
    """The plan of both figures, which show the same runs."""
    return plan_of(list(cells(settings)))


def ratio_curves(settings: RegulariserSettings, done: Sequence[Done]) -> list[Curve]:
    """m‖W‖_{2,4}⁴/‖W‖_F⁴ of the runs that figure 3(a) chooses, at the end of training."""
    results = iter(done)
    found: dict[str, dict[int, list[tuple[float, ...]]]] = {
        curve: {m: [] for m in settings.m} for curve in REGULARISERS
    }
    for cell in cells(settings):
        records = [next(results).result for _ in cell.trials]
        whole = [each.record for each in records if each is not None]
        found[cell.curve][int(cell.x)].append(_chosen_ratios(whole if len(whole) == len(records) else ()))
    return [
        Curve(name, tuple(Point(m, *map(tuple, zip(*by_m[m], strict=True))) for m in sorted(by_m)))
        for name, by_m in found.items()
    ]


def _chosen_ratios(records: Sequence[Record]) -> tuple[float, float, float]:
    """The ratio of the run with the best epoch, with the best last epoch, and of what validation chooses."""
    alive = [record for record in records if not record["diverged"]]
    if not alive:
        return (math.nan,) * 3
    return (
        norm_ratio(min(alive, key=lambda record: min(record["test_error"]))),
        norm_ratio(min(alive, key=lambda record: record["test_error"][-1])),
        norm_ratio(min(alive, key=lambda record: min(record["validation_error"]))),
    )


def norm_ratio(record: Record) -> float:
    """m‖W‖_{2,4}⁴/‖W‖_F⁴ of a trained network: 1 where all rows are as long, m where all but one are 0."""
    norms = record["moved"]["W"]
    ratio: float = record["width"] * norms["two_four"] ** 4 / norms["frobenius"] ** 4
    return ratio


def alike_claim(text: str, what: str) -> Claim:
    """That both regularisers give the same numbers, up to the factor `ALIKE`."""
    return Claim(text, "section 7.1", _alike(what))


def _alike(what: str) -> Callable[[RegulariserSettings, Curves], list[Check]]:
    def checks(settings: RegulariserSettings, found: Curves) -> list[Check]:
        decayed, penalised = (found[name] for name in REGULARISERS)
        pairs = [(point, penalised.at(point.x)) for point in decayed.points]
        return [
            check_below(f"{what}, larger over smaller, m = {left.x:g}", _apart(left, right), "", ALIKE)
            for left, right in pairs
        ]

    return checks


def _apart(left: Point, right: Point) -> Point:
    """For each seed the larger of two numbers over the smaller."""
    best, last = (
        tuple(_over(*pair) for pair in zip(getattr(left, view), getattr(right, view), strict=True))
        for view in ("best", "last")
    )
    return Point(left.x, best, last)


def _over(one: float, other: float) -> float:
    """The larger of two numbers over the smaller; infinite where one of them is, nan where one is nan."""
    if math.isnan(one) or math.isnan(other):
        return math.nan
    if math.isinf(one) or math.isinf(other):
        return math.inf
    return max(one, other) / min(one, other)
