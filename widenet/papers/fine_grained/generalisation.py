"""What figures 2(a) and 2(b) share: test errors against the complexity (10) [section 5, Appendix A]."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import correlation

from widenet.papers.claim import Claim
from widenet.papers.curve import Curve, Curves, Point, check_above, check_below, series
from widenet.papers.figure import Axes, Done, Figure, FigureSettings, Scale
from widenet.papers.jobs.descents import descent_trial
from widenet.papers.jobs.label_noise import noise_trial
from widenet.papers.verdict import Check
from widenet.runs.trial import Record, TrialResult
from widenet.study.settings import setting

L1, WRONG, COMPLEXITY = "ℓ1 loss", "classification error", "complexity measure (10)"
MEASURES = {L1: "l1_errors", WRONG: "misclassified", COMPLEXITY: "complexities"}  # and where records have it
LIMIT = ", m = ∞"
AXES = Axes("Portion of random labels", "Generalization error", "Complexity measure (10)")
DIFFERENT = 1.5  # times the complexity of true labels is that of random ones
TREND = 0.9  # correlation above which two curves have the same trend
NEAR = 0.1  # difference of ℓ1 losses up to which a network is near its limit
DEPARTURES = (
    "The paper trains networks for every portion until the loss converges. Here the portions and the number "
    "of iterations are settings, and dashed lines show networks of infinite width, trained to the end, for "
    "every portion.",
)


@dataclass(frozen=True)
class GeneralisationSettings(FigureSettings):
    """Rows, labels and networks."""

    portions: tuple[float, ...] = setting((0.0, 0.2, 0.4, 0.6, 0.8, 1.0), "Portions.", low=0, high=1)
    net_portions: tuple[float, ...] = setting(
        (0.2,), "Portions for which networks are trained.", low=0, high=1
    )
    n: int = setting(10_000, "Training rows.", low=10, high=10_000)
    num_test: int = setting(2000, "Test rows.", low=10, high=2000)
    m: int = setting(10_000, "Neurons.", low=1, high=2**20)
    eta: float = setting(1e-3, "Step size η.", low=0, strict=True)
    kappa: float = setting(1e-2, "Scale κ of the initial weights.", low=0, strict=True)
    steps: int = setting(200, "Iterations.", low=1, high=10**6)

    @property
    def endings(self) -> tuple[str, ...]:
        """What follows the names of errors that are known for every portion."""
        return ("", LIMIT) if set(self.net_portions) == set(self.portions) else (LIMIT,)


SMALL = GeneralisationSettings(
    net_portions=(0.0, 0.2, 0.4, 0.6, 0.8, 1.0), n=300, num_test=500, m=1000, steps=700, seeds=2
)


def plan(data: str) -> Callable[[GeneralisationSettings], Sequence[Sequence[Record]]]:
    """The limit, and a network for each seed and portion."""

    def planned(settings: GeneralisationSettings) -> Sequence[Sequence[Record]]:
        s = settings
        nets = [
            [descent_trial(data, s.n, s.num_test, portion, s.m, s.kappa, s.eta, s.steps, seed)]
            for seed in s.all_seeds
            for portion in s.net_portions
        ]
        return [[noise_trial(data, s.n, s.num_test, s.portions, s.all_seeds)], *nets]

    return planned


def curves(settings: GeneralisationSettings, done: Sequence[Done]) -> list[Curve]:
    """Errors of networks, dashed those of infinite width, and the complexity of the rows of both."""
    limit, *nets = [each.result for each in done]
    num = len(settings.net_portions)
    by_seed = [nets[start : start + num] for start in range(0, len(nets), num)]
    lines = [
        series(name, settings.net_portions, [[_last(net, MEASURES[name]) for net in row] for row in by_seed])
        for name in (L1, WRONG)
    ]
    return [*lines, *(_of_limit(name, limit, settings) for name in MEASURES)]


def _last(result: TrialResult | None, name: str) -> float:
    """The error after the last iteration: nan where the trial failed, infinite where it diverged."""
    if result is None:
        return math.nan
    return math.inf if result.record["diverged"] else float(result.record[name][-1])


def _of_limit(name: str, result: TrialResult | None, settings: GeneralisationSettings) -> Curve:
    missing = [[math.nan] * len(settings.portions)] * settings.seeds
    values = missing if result is None else result.record[MEASURES[name]]
    if name == COMPLEXITY:
        return series(name, settings.portions, values, on_right=True)
    return series(name + LIMIT, settings.portions, values, "dashed")


CLAIMS = (
    Claim(
        f"Random and true labels differ clearly in complexity: that of random labels is over {DIFFERENT:g} "
        "times that of true ones.",
        "section 5, evaluating (10)",
        lambda settings, found: [_different(found)],
    ),
    Claim(
        "The complexity increases with the portion of random labels, from each portion to the next.",
        "section 5, evaluating (10)",
        lambda settings, found: [_increasing(found)],
        margin=0.0,
    ),
    Claim(
        "The complexity almost matches the trend of the generalization error: over the portions, its "
        f"correlation with either error is above {TREND:g}.",
        "Figure 2, caption",
        lambda settings, found: [
            _trend(found, name, ending) for ending in settings.endings for name in (L1, WRONG)
        ],
        margin=0.0,
    ),
    Claim(
        "The ℓ1 loss is an upper bound on the classification error at every portion.",
        "Figure 2, caption",
        lambda settings, found: [_bound(found, ending) for ending in ("", LIMIT)],
        margin=0.0,
    ),
    Claim(
        f"Infinite width stands for networks: their ℓ1 losses differ by less than {NEAR:g}.",
        "section 5, whose bound rests on the limit",
        lambda settings, found: [_near(found, portion) for portion in settings.net_portions],
        margin=0.0,
        is_papers=False,
    ),
)


def _different(found: Curves) -> Check:
    first, *_, last = found[COMPLEXITY].points
    bound = _each(lambda value: DIFFERENT * value, first)
    return check_above("complexity of random labels", last, f"{DIFFERENT:g} times that of true labels", bound)


def _increasing(found: Curves) -> Check:
    ratios = [
        [after / before for before, after in zip(here.best, there.best, strict=True)]
        for here, there in pairwise(found[COMPLEXITY].points)
    ]
    least = tuple(min(by_seed) for by_seed in zip(*ratios, strict=True))
    what = "least ratio of complexities of neighbouring portions"
    return check_above(what, Point(math.inf, least, least), "", 1.0)


def _trend(found: Curves, name: str, ending: str) -> Check:
    errors, complexities = _by_seed(found[name + ending]), _by_seed(found[COMPLEXITY])
    values = tuple(_correlation(*pair) for pair in zip(errors, complexities, strict=True))
    what = f"correlation of {name} and complexity{ending}"
    return check_above(what, Point(math.inf, values, values), "", TREND)


def _correlation(left: Sequence[float], right: Sequence[float]) -> float:
    """Pearson's; 0 where it is negative or there is none, nan where a number is missing or infinite."""
    if not all(map(math.isfinite, (*left, *right))):
        return math.nan
    if len(set(left)) == 1 or len(set(right)) == 1:
        return 0.0
    return max(0.0, correlation(left, right))


def _bound(found: Curves, ending: str) -> Check:
    l1, wrong = _by_seed(found[L1 + ending]), _by_seed(found[WRONG + ending])
    excess = tuple(
        min(error - other for error, other in zip(*pair, strict=True)) for pair in zip(l1, wrong, strict=True)
    )
    what = f"least excess of ℓ1 loss over classification error{ending}"
    return check_above(what, Point(math.inf, excess, excess), "", 0.0)


def _near(found: Curves, portion: float) -> Check:
    pairs = zip(found[L1].at(portion).best, found[L1 + LIMIT].at(portion).best, strict=True)
    apart = tuple(abs(net - limit) for net, limit in pairs)
    what = f"difference of ℓ1 losses at the portion {portion:g}"
    return check_below(what, Point(portion, apart, apart), "", NEAR)


def _by_seed(curve: Curve) -> list[tuple[float, ...]]:
    return list(zip(*(point.best for point in curve.points), strict=True))


def _each(function: Callable[[float], float], point: Point) -> Point:
    values = tuple(map(function, point.best))
    return Point(point.x, values, values)


def generalisation(
    name: str, data: str, images: str, scales: dict[Scale, GeneralisationSettings], *departures: str
) -> Figure:
    """The figure of one set of images.

    Args:
        name: As "fig1a".
        data: Name of the set.
        images: What people call it.
        scales: Settings.
        departures: What is not as in the paper, besides what is common to these figures.
    """
    return Figure(
        paper="fine-grained",
        name=name,
        title=f"Test errors and complexity against the portion of random labels, {images}",
        place=f"Figure {name[3]}({name[4]}), section 5",
        scales=scales,
        axes=AXES,
        plan=plan(data),
        curves=curves,
        claims=CLAIMS,
        departures=(*DEPARTURES, *departures),
        needs=(data,),
    )
