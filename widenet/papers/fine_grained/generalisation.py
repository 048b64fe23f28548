"""What figures 2(a) and 2(b) share: test errors against the complexity (10) [section 5, Appendix A]."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import correlation

from widenet.papers.claim import Claim
from widenet.papers.curve import Curve, Curves, Point, check_above, series
from widenet.papers.figure import Axes, Done, Figure, FigureSettings, Scale
from widenet.papers.jobs.descents import descent_trial
from widenet.papers.jobs.label_noise import noise_trial
from widenet.papers.verdict import Check
from widenet.runs.trial import Record, TrialResult
from widenet.study.settings import setting

L1, WRONG, COMPLEXITY = "ℓ1 loss", "classification error", "complexity measure (10)"
MEASURES = {L1: "l1_errors", WRONG: "misclassified", COMPLEXITY: "complexities"}  # and where records have it
LIMIT = ", m = ∞ on n rows"
AXES = Axes("Portion of random labels", "Generalization error", "Complexity measure (10)")
DIFFERENT = 1.5  # times the complexity of true labels is that of random ones
TREND = 0.9  # correlation above which two curves have the same trend
DEPARTURES = (
    "Networks have fewer rows than the paper's 10,000, so that descent can come near its end on random "
    "labels too; the complexity beside them is that of the same rows, and their step size keeps ηn at 10, as "
    "the paper has it.",
    "The paper trains until the loss converges; here the number of iterations is a setting.",
    "Dashed lines are not in the paper: networks of infinite width trained to the end, on n rows, and the "
    "complexity of these.",
)


@dataclass(frozen=True)
class GeneralisationSettings(FigureSettings):
    """Rows, labels and networks."""

    portions: tuple[float, ...] = setting((0.0, 0.2, 0.4, 0.6, 0.8, 1.0), "Portions.", low=0, high=1)
    n: int = setting(10_000, "Training rows of infinitely wide networks.", low=10, high=10_000)
    net_n: int = setting(500, "Training rows of networks.", low=10, high=10_000)
    num_test: int = setting(2000, "Test rows.", low=10, high=2000)
    m: int = setting(10_000, "Neurons.", low=1, high=2**20)
    eta: float = setting(0.02, "Step size η.", low=0, strict=True)
    kappa: float = setting(1e-2, "Scale κ of the initial weights.", low=0, strict=True)
    steps: int = setting(6000, "Iterations.", low=1, high=10**6)


def plan(data: str) -> Callable[[GeneralisationSettings], Sequence[Sequence[Record]]]:
    """Limits on both numbers of rows, and a network for each seed and portion."""

    def planned(settings: GeneralisationSettings) -> Sequence[Sequence[Record]]:
        s = settings
        limits = [[noise_trial(data, n, s.num_test, s.portions, s.all_seeds)] for n in (s.net_n, s.n)]
        nets = [
            [descent_trial(data, s.net_n, s.num_test, portion, s.m, s.kappa, s.eta, s.steps, seed)]
            for seed in s.all_seeds
            for portion in s.portions
        ]
        return limits + nets

    return planned


def curves(settings: GeneralisationSettings, done: Sequence[Done]) -> list[Curve]:
    """Errors of networks with the complexity of their rows, and dashed those of infinite width."""
    few, many, *nets = [each.result for each in done]
    num = len(settings.portions)
    by_seed = [nets[start : start + num] for start in range(0, len(nets), num)]
    lines = [
        series(name, settings.portions, [[_last(net, MEASURES[name]) for net in row] for row in by_seed])
        for name in (L1, WRONG)
    ]
    lines.append(_limit_series(COMPLEXITY, "", few, settings))
    return lines + [_limit_series(name, LIMIT, many, settings) for name in MEASURES]


def _last(result: TrialResult | None, name: str) -> float:
    """The error after the last iteration: nan where the trial failed, infinite where it diverged."""
    if result is None:
        return math.nan
    return math.inf if result.record["diverged"] else float(result.record[name][-1])


def _limit_series(
    name: str, ending: str, result: TrialResult | None, settings: GeneralisationSettings
) -> Curve:
    missing = [[math.nan] * len(settings.portions)] * settings.seeds
    values = missing if result is None else result.record[MEASURES[name]]
    on_right = name == COMPLEXITY
    return series(name + ending, settings.portions, values, "dashed" if ending else "line", on_right=on_right)


CLAIMS = (
    Claim(
        f"Random and true labels differ clearly in complexity: that of random labels is over {DIFFERENT:g} "
        "times that of true ones.",
        "section 5, evaluating (10)",
        lambda settings, found: [_different(found, ending) for ending in ("", LIMIT)],
    ),
    Claim(
        "The complexity increases with the portion of random labels, from each portion to the next.",
        "section 5, evaluating (10)",
        lambda settings, found: [_increasing(found, ending) for ending in ("", LIMIT)],
        margin=0.0,
    ),
    Claim(
        "The complexity almost matches the trend of the generalization error: over the portions, its "
        f"correlation with either error is above {TREND:g}.",
        "Figure 2, caption",
        lambda settings, found: [
            _trend(found, name, ending) for ending in ("", LIMIT) for name in (L1, WRONG)
        ],
        margin=0.0,
    ),
    Claim(
        "The ℓ1 loss is an upper bound on the classification error at every portion.",
        "Figure 2, caption",
        lambda settings, found: [_bound(found, ending) for ending in ("", LIMIT)],
        margin=0.0,
    ),
)


def _different(found: Curves, ending: str) -> Check:
    first, *_, last = found[COMPLEXITY + ending].points
    bound = _each(lambda value: DIFFERENT * value, first)
    what = f"complexity of random labels{ending}"
    return check_above(what, last, f"{DIFFERENT:g} times that of true labels", bound)


def _increasing(found: Curves, ending: str) -> Check:
    points = found[COMPLEXITY + ending].points
    ratios = [
        [after / before for before, after in zip(here.best, there.best, strict=True)]
        for here, there in pairwise(points)
    ]
    least = tuple(min(by_seed) for by_seed in zip(*ratios, strict=True))
    what = f"least ratio of complexities of neighbouring portions{ending}"
    return check_above(what, Point(math.inf, least, least), "", 1.0)


def _trend(found: Curves, name: str, ending: str) -> Check:
    errors, complexities = _by_seed(found[name + ending]), _by_seed(found[COMPLEXITY + ending])
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
