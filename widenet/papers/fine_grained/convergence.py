"""What figures 1(a) and 1(c) share: descent on true, random and worst-case labels [section 4, Appendix A]."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from widenet.papers.claim import Claim
from widenet.papers.curve import Curve, Curves, Point, Style, check_below, series
from widenet.papers.figure import Axes, Done, Figure, FigureSettings, Scale
from widenet.papers.jobs.descents import NUM_RECORDS, descent_trial
from widenet.papers.jobs.spectra import spectrum_trial
from widenet.papers.verdict import Check
from widenet.runs.trial import Record
from widenet.study.settings import setting

PORTIONS: Mapping[str, float | None] = {"true labels": 0.0, "random labels": 1.0, "worst-case labels": None}
TRUE, RANDOM, WORST = PORTIONS
PREDICTED, CHANGED = ", predicted", ", signs that changed"
AXES = Axes("Iteration k", "Training loss ‖y − u(k)‖²/n", log_y=True)
CLOSE = 0.1  # times ‖y − u(0)‖: up to here ‖y − u(k)‖ is as predicted, the ε of Theorem 4.1
LAZY = 0.05  # share of signs up to which H(k) is near H(0)
DEPARTURES = (
    "The paper trains until the loss converges and does not say for how many iterations; here they are a "
    "setting, with losses shown at about twenty of them.",
    "Worst-case labels are the eigenvector of λ_min(H∞) scaled to norm √n, as labels of ±1 have; the paper "
    "says normalized.",
    "Dashed lines, the predictions of Theorem 4.1, are not in the paper.",
)


@dataclass(frozen=True)
class ConvergenceSettings(FigureSettings):
    """The images and the network."""

    n: int = setting(10_000, "Training rows.", low=10, high=10_000)
    m: int = setting(10_000, "Neurons.", low=1, high=2**20)
    eta: tuple[float, ...] = setting((1e-3,), "Step sizes η, the paper's first.", low=0, strict=True)
    kappa: float = setting(1e-2, "Scale κ of the initial weights.", low=0, strict=True)
    steps: int = setting(100, "Iterations.", low=1, high=10**6)


def at_step(settings: ConvergenceSettings, eta: float) -> str:
    """What follows the name of labels in curves of this step size: nothing for the paper's."""
    return "" if eta == settings.eta[0] else f", η = {eta:g}"


def plan(data: str) -> Callable[[ConvergenceSettings], Sequence[Sequence[Record]]]:
    """For each step size the prediction, and a network for each kind of labels and seed."""

    def planned(settings: ConvergenceSettings) -> Sequence[Sequence[Record]]:
        s = settings
        return [
            [trial]
            for eta in s.eta
            for trial in (
                spectrum_trial(data, s.n, eta, s.steps, NUM_RECORDS, s.all_seeds),
                *(
                    descent_trial(data, s.n, 0, portion, s.m, s.kappa, eta, s.steps, seed)
                    for portion in PORTIONS.values()
                    for seed in s.all_seeds
                ),
            )
        ]

    return planned


def curves(settings: ConvergenceSettings, done: Sequence[Done]) -> list[Curve]:
    """Losses of networks, their predictions, and the signs that changed by the end."""
    records = [None if each.result is None else each.result.record for each in done]
    size = len(records) // len(settings.eta)
    parts = [records[start : start + size] for start in range(0, len(records), size)]
    by_eta = [_of_step(settings, eta, part) for eta, part in zip(settings.eta, parts, strict=True)]
    return [curve for kind in zip(*by_eta, strict=True) for each in kind for curve in each]


def _of_step(
    settings: ConvergenceSettings, eta: float, records: Sequence[Record | None]
) -> tuple[list[Curve], list[Curve], list[Curve]]:
    """Losses, predictions and signs at one step size."""
    (spectrum, *descents), num, step = records, settings.seeds, at_step(settings, eta)
    steps = sorted({step for each in records if each for step in each["steps"]})
    losses = [_losses(each, steps) for each in descents]
    changed = [[math.nan if each is None else each["sign_changes"][-1]] for each in descents]
    predicted = _predicted(spectrum, num, len(steps))
    parts = [slice(place * num, (place + 1) * num) for place in range(len(PORTIONS))]
    style: Style = "dashdot" if step else "line"
    style_predicted: Style = "dotted" if step else "dashed"
    return (
        [series(name + step, steps, losses[part], style) for name, part in zip(PORTIONS, parts, strict=True)],
        [series(name + step + PREDICTED, steps, predicted[name], style_predicted) for name in PORTIONS],
        [
            series(name + step + CHANGED, steps[-1:], changed[part], "numbers")
            for name, part in zip(PORTIONS, parts, strict=True)
        ],
    )


def _losses(record: Mapping[str, Any] | None, steps: Sequence[int]) -> list[float]:
    """Losses at the steps: nan where a trial failed, infinite from where it diverged."""
    if record is None:
        return [math.nan] * len(steps)
    measured = dict(zip(record["steps"], record["loss"], strict=True))
    return [measured.get(step, math.inf) for step in steps]


def _predicted(
    record: Mapping[str, Any] | None, seeds: int, num_steps: int
) -> dict[str, list[Sequence[float]]]:
    """Predicted losses by kind and seed; only random labels differ from seed to seed."""
    if record is None:
        return {name: [[math.nan] * num_steps] * seeds for name in PORTIONS}
    true, *random, worst = record["predicted"]
    return {TRUE: [true] * seeds, RANDOM: random, WORST: [worst] * seeds}


CLAIMS = (
    Claim(
        "Descent converges faster on true labels than on random labels: its last loss is lower.",
        "section 4, answer to question 1; Figure 1",
        lambda settings, found: [
            check_below(f"last loss on {TRUE}", _last(found[TRUE]), f"that on {RANDOM}", _last(found[RANDOM]))
        ],
    ),
    Claim(
        "On worst-case labels it is extremely slow: the loss falls by less than half of what it falls by on "
        "random labels.",
        "section 4, answer to question 1",
        lambda settings, found: [_worst_is_slow(found)],
    ),
    Claim(
        "Theorem 4.1 estimates the loss of every iteration: ‖y − u(k)‖ and its prediction differ by less "
        "than a tenth of ‖y − u(0)‖.",
        "section 1, section 4",
        lambda settings, found: [_as_predicted(found, name, "") for name in PORTIONS],
    ),
    Claim(
        "Training is lazy, as the proof of Theorem 4.1 has it: fewer than "
        f"{LAZY:.0%} of the signs of w_rᵀx_i have changed by the end.",
        "Lemma C.2",
        lambda settings, found: [
            check_below(f"share of signs that changed on {name}", _last(found[name + CHANGED]), "", LAZY)
            for name in PORTIONS
        ],
        is_papers=False,
    ),
)
SMALLER_STEPS = Claim(
    "Theorem 4.1 estimates the loss of every iteration, by the same measure, at smaller step sizes that are "
    "not the paper's.",
    "section 1, section 4",
    lambda settings, found: [
        _as_predicted(found, name, at_step(settings, eta)) for eta in settings.eta[1:] for name in PORTIONS
    ],
    is_papers=False,
)


def _last(curve: Curve) -> Point:
    return curve.points[-1]


def _worst_is_slow(found: Curves) -> Check:
    worst, half = _fall(found[WORST]), _fall(found[RANDOM], 0.5)
    return check_below(f"fall of the loss on {WORST}", worst, f"half of that on {RANDOM}", half)


def _fall(curve: Curve, share: float = 1.0) -> Point:
    """A share of the fall of the loss from first to last, relative to the first; 0 where it rose."""
    pairs = zip(curve.points[0].best, curve.points[-1].best, strict=True)
    falls = tuple(share * max(0.0, 1 - last / first) for first, last in pairs)
    return Point(curve.points[-1].x, falls, falls)


def _as_predicted(found: Curves, name: str, step: str) -> Check:
    curve, predicted = found[name + step], found[name + step + PREDICTED]
    gaps = [
        [_gap(*losses) for losses in zip(here.best, there.best, curve.points[0].best, strict=True)]
        for here, there in zip(curve.points, predicted.points, strict=True)
    ]
    largest = tuple(max(by_seed) for by_seed in zip(*gaps, strict=True))
    return check_below(f"largest difference on {name}{step}", Point(math.inf, largest, largest), "", CLOSE)


def _gap(loss: float, predicted: float, first: float) -> float:
    """Of norms, relative to the first; infinite where a loss or its prediction grows without bound."""
    if math.isinf(loss) or math.isinf(predicted):
        return math.inf
    return abs(math.sqrt(loss) - math.sqrt(predicted)) / math.sqrt(first)


def convergence(
    name: str, data: str, images: str, scales: dict[Scale, ConvergenceSettings], *departures: str
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
        title=f"Gradient descent on true, random and worst-case labels of {images}",
        place=f"Figure {name[3]}({name[4]}), section 4",
        scales=scales,
        axes=AXES,
        plan=plan(data),
        curves=curves,
        claims=CLAIMS if len(scales["paper"].eta) == 1 else (*CLAIMS, SMALLER_STEPS),
        departures=(*DEPARTURES, *departures),
        needs=(data,),
    )
