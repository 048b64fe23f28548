"""What figures 1 and 2 share: hidden layers trained, against conjugate kernels and NTKs [section 7]."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from widenet.base.errors import InputError
from widenet.papers.beyond_two_layers.sphere import DEPARTURES, START, SphereSettings
from widenet.papers.cells import Cell, curves_of, plan_of
from widenet.papers.claim import Claim
from widenet.papers.curve import Curve, Curves, Point, Style, check_below, lowest
from widenet.papers.figure import Axes, Done, Figure, Scale
from widenet.papers.jobs.kernels import kernel_runs, kernel_trial
from widenet.papers.jobs.limits import limit_runs, limit_trial
from widenet.papers.jobs.networks import network_trial, rate_and_decay
from widenet.papers.verdict import Check
from widenet.runs.trial import Record
from widenet.study.settings import setting

Varied = Literal["m", "n"]

PAPER = "beyond-two-layers"
LAYERS = ("3layer", "2layer")
LIMIT_DECAYS = (1e-11, 1e-10, 1e-9)  # of kernels of infinite width alone: others are too large for them
BY_SGD, LIMIT = ", by SGD", ", m = ∞"
METHODS = {  # what follows the depth in a curve's name: the layers that are trained, and whether exactly
    "": ("hidden", False),
    "(last)": ("last", True),
    "(NTK)": ("hidden", True),
    f"(last){BY_SGD}": ("last", False),
}
X_AXES: dict[Varied, str] = {"m": "m = number of hidden neurons", "n": "N = number of samples"}
MORE_DEPARTURES = (
    "Kernels of finite width are solved exactly for every ridge and every time of gradient flow, not by SGD; "
    "lines of dashes and dots, the last layer by SGD, are what the paper draws as (last).",
    "Dashed lines, the limits of infinite width, are not in the paper.",
)


@dataclass(frozen=True)
class SphereComparison(SphereSettings):
    """The samples, and the kernels that networks are compared with."""

    n: tuple[int, ...] = setting((1000,), "Training rows N.", low=2, high=10**6)
    two_layer_rates: tuple[float, ...] = setting(
        (20.0, 10.0, 5.0, 2.0, 1.0, 0.5), "Rates times m of two layers to choose from.", low=0, strict=True
    )
    last_rates: tuple[float, ...] = setting(
        (5.0, 2.0, 1.0), "Rates of the last layer to choose from.", low=0, strict=True
    )
    kernel_decays: tuple[float, ...] = setting(
        (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0), "Weight decays of kernels.", low=0, strict=True
    )


def comparison(
    name: str,
    place: str,
    concept: str,
    target: str,
    varied: Varied,
    scales: dict[Scale, SphereComparison],
    departures: tuple[str, ...],
) -> Figure:
    """The figure of a target in which the width or the number of samples is varied.

    Args:
        name: As "fig1a".
        place: Where it is in the paper.
        concept: Name of the target's concept class.
        target: What the target is made of, for the title.
        varied: What the x axis shows.
        scales: Settings.
        departures: What is not as in the paper, besides what is common to these figures.
    """
    return Figure(
        paper=PAPER,
        name=name,
        title=f"Three layers, two layers and their kernels on a product of {target}",
        place=place,
        scales=scales,
        axes=Axes(X_AXES[varied], "Test error", log_x=True, log_y=True),
        plan=lambda settings: plan_of(list(cells(settings, concept, varied))),
        curves=_curves(concept, varied),
        claims=claims(varied),
        departures=(*departures, *MORE_DEPARTURES, *DEPARTURES),
    )


def _curves(concept: str, varied: Varied) -> Callable[[SphereComparison, Sequence[Done]], list[Curve]]:
    return lambda settings, done: curves_of(list(cells(settings, concept, varied)), done)


def cells(settings: SphereComparison, concept: str, varied: Varied) -> Iterator[Cell]:
    """Networks of both depths, their kernels, conjugate ones by SGD too, and limits of kernels."""
    fixed = "n" if varied == "m" else "m"
    if len(getattr(settings, fixed)) > 1:
        raise InputError(f"`{fixed}` has several values, but this figure varies {varied}: give one.")
    places = [(m, n, seed) for m in settings.m for n in settings.n for seed in settings.all_seeds]
    for kind, (trained, is_exact) in METHODS.items():
        reading = kernel_runs if is_exact else rate_and_decay
        style: Style = "dashdot" if BY_SGD in kind else "line"
        for layers in LAYERS:
            for m, n, seed in places:
                data, network = f"{concept}:n={n},seed={seed}", f"{layers}-{trained}"
                trials = (_solved if is_exact else _trained)(settings, data, network, m, seed)
                yield Cell(f"{layers}{kind}", {"m": m, "n": n}[varied], seed, trials, reading, style)
    yield from _limit_cells(settings, concept, varied)


def _limit_cells(settings: SphereComparison, concept: str, varied: Varied) -> Iterator[Cell]:
    """Where m is varied, a horizontal line."""
    for kind in ("last", "NTK"):
        for layers in LAYERS:
            for n in settings.n:
                for seed in settings.all_seeds:
                    trial = _limit(settings, f"{concept}:n={n},seed={seed}", kind, layers[0], seed)
                    for x in sorted({min(settings.m), max(settings.m)}) if varied == "m" else (n,):
                        yield Cell(f"{layers}({kind}){LIMIT}", x, seed, (trial,), limit_runs, "dashed")


def _limit(settings: SphereComparison, data: str, kind: str, depth: str, seed: int) -> Record:
    """Outputs start at a Gaussian process; the last layer is solved from 0, as at finite width."""
    conjugate, tangent = (f"relu{depth}-bias-{layers}" for layers in ("last", "hidden"))
    kernel, start = (conjugate, "") if kind == "last" else (tangent, conjugate)
    decays = (*LIMIT_DECAYS, *settings.kernel_decays)
    return limit_trial(data, settings.held_out, kernel, decays, start=start, seed=seed if start else 0)


def _trained(settings: SphereComparison, data: str, network: str, m: int, seed: int) -> tuple[Record, ...]:
    """The hidden layers' gradients grow as m; the last layer's do not."""
    if network.endswith("-last"):
        grid = replace(settings, rates=settings.last_rates).grid(seed, initialisation=START)
    elif network.startswith("2layer"):
        grid = replace(settings, rates=settings.two_layer_rates).scaled_grid(m, seed)
    else:
        grid = settings.scaled_grid(m, seed)
    return tuple(network_trial(data, settings.held_out, network, m, each) for each in grid)


def _solved(settings: SphereComparison, data: str, network: str, m: int, seed: int) -> tuple[Record, ...]:
    return (kernel_trial(data, settings.held_out, network, m, seed, settings.kernel_decays, START),)


def claims(varied: Varied) -> tuple[Claim, ...]:
    """What the paper reads off the figure; of 1(a) and 2(a) also that width helps."""
    where = "at its best m" if varied == "m" else "at every N"
    common = (
        Claim(
            f"Three layers learn the target better than two layers, or than the NTK of either: {where} "
            "3layer has the smaller test error.",
            "section 4, on correlations",
            _behind("3layer", ("2layer", "3layer(NTK)", "2layer(NTK)"), varied),
        ),
        Claim(
            f"Training hidden layers is better than training the last layer: {where}, both by SGD, 3layer "
            "has a smaller test error than 3layer(last), and 2layer than 2layer(last).",
            "section 4, on the last layer",
            _ahead_of(f"(last){BY_SGD}", varied),
        ),
        Claim(
            f"Training hidden layers is better than the best last layer: {where} 3layer by SGD has a smaller "
            "test error than 3layer(last) solved exactly, and 2layer than 2layer(last).",
            "section 4, on the last layer, which the paper trains by SGD",
            _ahead_of("(last)", varied),
            is_papers=False,
        ),
        Claim(
            f"The last layer alone is much weaker: {where}, both by SGD, 3layer(last) has more than twice "
            "the test error of 3layer, and 2layer(last) of 2layer.",
            "section 1, on the last layer",
            _ahead_of(f"(last){BY_SGD}", varied, factor=2.0),
        ),
        Claim(
            f"Networks are better than their linearisations: {where} 2layer has a smaller test error than "
            "2layer(NTK), and 3layer than 3layer(NTK).",
            "section 1, on NTKs",
            _ahead_of("(NTK)", varied),
        ),
    )
    return (*common, *_of_width()) if varied == "m" else common


def _of_width() -> tuple[Claim, ...]:
    return (
        Claim(
            "Overparameterisation improves the test error: that of the largest m is below that of the "
            "smallest, for 3layer and for 2layer.",
            "section 3.1, on Figure 1(a)",
            lambda settings, found: [
                check_below(
                    f"test error of {layers}, m = {max(settings.m)}",
                    found[layers].at(max(settings.m)),
                    f"that at m = {min(settings.m)}",
                    found[layers].at(min(settings.m)),
                )
                for layers in LAYERS
            ],
        ),
    )


def _behind(
    leader: str, others: Sequence[str], varied: Varied, factor: float = 1.0
) -> Callable[[SphereComparison, Curves], list[Check]]:
    """Checks that the leader's error times a factor is below that of each other curve."""
    times = "" if factor == 1 else f"{factor:g} times the "

    def checks(settings: SphereComparison, found: Curves) -> list[Check]:
        ahead = _compared(found[leader], varied)
        return [
            check_below(
                f"{times}test error of {leader}{at}", _scaled(point, factor), f"that of {other}", behind
            )
            for other in others
            for (at, point), (_, behind) in zip(ahead, _compared(found[other], varied), strict=True)
        ]

    return checks


def _ahead_of(
    kind: str, varied: Varied, factor: float = 1.0
) -> Callable[[SphereComparison, Curves], list[Check]]:
    """Checks that networks of both depths have smaller errors than a kind of their kernels."""
    return lambda settings, found: [
        check
        for layers in LAYERS
        for check in _behind(layers, (f"{layers}{kind}",), varied, factor)(settings, found)
    ]


def _compared(curve: Curve, varied: Varied) -> list[tuple[str, Point]]:
    """The points that claims are about: the best over widths, or that of every N."""
    if varied == "m":
        return [(", best m", lowest(curve.name, curve.points))]
    return [(f", N = {point.x:g}", point) for point in curve.points]


def _scaled(point: Point, factor: float) -> Point:
    best, last = (tuple(factor * value for value in values) for values in (point.best, point.last))
    return Point(point.x, best, last)
