"""What figures 1(b) and 1(d) share: eigenvalues of H∞ and labels along its eigenvectors [section 4]."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from widenet.papers.claim import Claim
from widenet.papers.curve import Curve, Curves, Point, check_above, check_below, series
from widenet.papers.figure import Axes, Done, Figure, FigureSettings, Scale
from widenet.papers.jobs.spectra import FIRST, spectrum_trial
from widenet.papers.verdict import Check
from widenet.runs.trial import Record
from widenet.study.settings import setting

EIGENVALUES, TRUE, RANDOM, WORST = "eigenvalues", "true labels", "random labels", "worst-case labels"
AXES = Axes("Index i of the eigenvector", "|vᵢᵀy|", "Eigenvalue λᵢ", log_x=True, log_y=True, log_right=True)
DECAYED = 20  # times smaller than λ_1 is the eigenvalue of index FIRST
ALIGNED = 10.0  # times the last projections of true labels is the largest of their first
UNIFORM = 2.0  # ratio of root mean squares up to which projections count as uniform
ONE_STEP = 1  # of a descent that nobody looks at: these figures show the spectrum alone
DEPARTURES = (
    f"The first {FIRST} eigenvectors are shown one by one; later ones in bins that grow with the index, "
    "projections as root mean squares and eigenvalues as geometric means.",
    "Worst-case labels are the eigenvector of λ_min(H∞) scaled to norm √n, as labels of ±1 have; their other "
    "projections are 0.",
)


@dataclass(frozen=True)
class AlignmentSettings(FigureSettings):
    """The images."""

    n: int = setting(10_000, "Training rows.", low=FIRST + 10, high=10_000)


def plan(data: str) -> Callable[[AlignmentSettings], list[list[Record]]]:
    """One eigendecomposition."""
    return lambda settings: [[spectrum_trial(data, settings.n, 1e-3, ONE_STEP, ONE_STEP, settings.all_seeds)]]


def curves(settings: AlignmentSettings, done: Sequence[Done]) -> list[Curve]:
    """Projections on the left, eigenvalues on the right."""
    result, seeds = done[0].result, settings.seeds
    record = _nothing(seeds) if result is None else result.record
    index, (true, *random) = record["index"], record["projections"]
    return [
        series(EIGENVALUES, index, [record["eigenvalues"]] * seeds, on_right=True),
        series(TRUE, index, [true] * seeds),
        series(RANDOM, index, random),
        series(WORST, (settings.n,), [(math.sqrt(settings.n),)] * seeds, "marks"),
    ]


def _nothing(seeds: int) -> Record:
    """What stands for a record where the trial failed."""
    missing = [math.nan] * (FIRST + 1)
    return {
        "index": range(1, FIRST + 2),
        "eigenvalues": missing,
        "projections": [missing] * (1 + seeds),
    }


CLAIMS = (
    Claim(
        f"The eigenvalues of H∞ decay fast: λ_{FIRST} is less than λ_1/{DECAYED}.",
        "section 4, answer to question 1",
        lambda settings, found: [_decay(found[EIGENVALUES])],
    ),
    Claim(
        f"True labels align with top eigenvectors: the largest of their first {FIRST} projections exceeds "
        f"the last ones {ALIGNED:g} times, and the largest of random labels twice.",
        "section 4, answer to question 1",
        lambda settings, found: list(_alignment(found)),
    ),
    Claim(
        f"Projections of random labels are close to uniform: the root mean squares of the first {FIRST} and "
        f"of the last ones differ by less than a factor of {UNIFORM:g}.",
        "section 4, answer to question 1",
        lambda settings, found: [_uniform(found[RANDOM])],
    ),
)


def _decay(curve: Curve) -> Check:
    first, last = curve.points[0], curve.points[FIRST - 1]
    share = Point(first.x, *(tuple(value / DECAYED for value in first.best),) * 2)
    return replace(check_below(f"λ_{FIRST}", last, f"λ_1/{DECAYED}", share), is_random=False)


def _alignment(found: Curves) -> list[Check]:
    true, random = found[TRUE].points, found[RANDOM].points
    largest = _largest(true[:FIRST])
    last = _times(true[-1], ALIGNED)
    against_last = check_above(f"largest projection of {TRUE}", largest, f"{ALIGNED:g} times the last", last)
    twice = _times(_largest(random[:FIRST]), 2)
    return [
        replace(against_last, is_random=False),
        check_above(f"largest projection of {TRUE}", largest, f"twice that of {RANDOM}", twice),
    ]


def _uniform(curve: Curve) -> Check:
    first = [math.sqrt(sum(value**2 for value in by_seed) / FIRST) for by_seed in _by_seed(curve.points)]
    ratios = tuple(max(a / b, b / a) for a, b in zip(first, curve.points[-1].best, strict=True))
    return check_below("ratio of first and last", Point(math.inf, ratios, ratios), "", UNIFORM)


def _by_seed(points: Sequence[Point]) -> list[tuple[float, ...]]:
    return list(zip(*(point.best for point in points[:FIRST]), strict=True))


def _largest(points: Sequence[Point]) -> Point:
    values = tuple(map(max, _by_seed(points)))
    return Point(math.inf, values, values)


def _times(point: Point, factor: float) -> Point:
    values = tuple(factor * value for value in point.best)
    return Point(point.x, values, values)


def alignment(
    name: str, data: str, images: str, scales: dict[Scale, AlignmentSettings], *departures: str
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
        title=f"Eigenvalues of H∞ and projections of labels on its eigenvectors, {images}",
        place=f"Figure {name[3]}({name[4]}), section 4",
        scales=scales,
        axes=AXES,
        plan=plan(data),
        curves=curves,
        claims=CLAIMS,
        departures=(*DEPARTURES, *departures),
        needs=(data,),
    )
