"""What figures 2(a) and 2(b) share: networks against kernels on H = F + αG(F) [section 8.1]."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from widenet.papers.cells import Cell, curves_of, plan_of
from widenet.papers.claim import Claim
from widenet.papers.curve import Curve, Curves, check_above, check_below, lowest, reference
from widenet.papers.figure import Axes, Done
from widenet.papers.jobs.kernels import kernel_runs, kernel_trial
from widenet.papers.jobs.limits import limit_runs, limit_trial
from widenet.papers.resnet_beyond_kernels.learning import CubeSettings, network_cells
from widenet.papers.verdict import Check
from widenet.runs.trial import Record
from widenet.study.settings import setting

ARCHITECTURES = ("3resnet", "3layer", "2layer")
AXES = Axes("m = number of hidden neurons", "Test error", log_x=True, log_y=True)
LEARNED = {"all": 0.15, "hidden": 0.5}  # of kα²: the test error that counts as having learned αG(F)
DEPARTURES = (
    "Kernels of finite width are solved exactly for every ridge and every time of gradient flow, not by SGD.",
    "Weights and biases are drawn from N(0, 1/m); the paper prints N(1, 1/m).",
    "The paper tries rates and decays of {1, 2, 5}·10^-k without saying for which k, and does not say how "
    "many test rows there were. Epochs are looked at 41 times.",
    "The paper goes on to the largest m that fits into 16 GB of memory.",
    "Dashed lines, the limits of infinite width, are not in the paper.",
)


@dataclass(frozen=True)
class CubeComparison(CubeSettings):
    """The kernels that networks are compared with."""

    kernel_m: tuple[int, ...] = setting((20, 100, 1000), "Widths m of the kernels.", low=1, high=2**17)
    kernel_held_out: int = setting(500, "Validation rows of kernels, and as many test rows.", low=1)
    kernel_decays: tuple[float, ...] = setting(
        (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0), "Weight decays of kernels.", low=0, strict=True
    )


def cells(settings: CubeComparison, trained: str) -> Iterator[Cell]:
    """Networks, their kernels at finite width, and the limits of these."""
    for architecture in ARCHITECTURES:
        yield from network_cells(settings, f"{architecture}({trained})", f"{architecture}-{trained}")
    for kind, layers in (("last", "last"), ("NTK", trained)):
        for architecture in ARCHITECTURES:
            yield from _kernel_cells(settings, f"{architecture}({kind})", f"{architecture}-{layers}")
    for kind, layers in (("last", "last"), ("NTK", trained)):
        for architecture in ARCHITECTURES:
            yield from _limit_cells(settings, f"{architecture}({kind}), m = ∞", architecture, layers)


def plan(trained: str) -> Callable[[CubeComparison], Sequence[Sequence[Record]]]:
    """The plan of the figure in which these layers are trained."""
    return lambda settings: plan_of(list(cells(settings, trained)))


def curves(trained: str) -> Callable[[CubeComparison, Sequence[Done]], list[Curve]]:
    """Its curves, and the height of what has not learned αG(F)."""
    return lambda settings, done: [
        *curves_of(list(cells(settings, trained)), done),
        reference("kα²", settings.m, settings.unlearned, settings.seeds),
    ]


def claims(trained: str) -> tuple[Claim, ...]:
    """What the paper reads off the figure."""
    return (
        Claim(
            f"3resnet({trained}) learns αG(F): its test error falls below {LEARNED[trained]:.0%} of kα².",
            "section 8.1, Experiment 1",
            lambda settings, found: [_resnet_learns(settings, found, trained)],
        ),
        Claim(
            "No other method learns αG(F) to any non-trivial accuracy: none gets below kα².",
            "section 8.1, Experiment 1",
            lambda settings, found: list(_others_fail(settings, found, trained)),
        ),
        Claim(
            f"Every kernel method falls behind 3resnet({trained}), also where m is large.",
            "section 8.1, Experiment 1",
            lambda settings, found: list(_kernels_behind(found, trained)),
        ),
    )


def _resnet_learns(settings: CubeComparison, found: Curves, trained: str) -> Check:
    curve, share = found[f"3resnet({trained})"], LEARNED[trained]
    return check_below(
        _what(curve), lowest(curve.name, curve.points), f"{share:g}kα²", share * settings.unlearned
    )


def _others_fail(settings: CubeComparison, found: Curves, trained: str) -> Iterator[Check]:
    """Every other curve is above kα²."""
    for curve in found.values():
        if curve.name != f"3resnet({trained})" and curve.style != "reference":
            what = _what(curve)
            yield check_above(what, lowest(curve.name, curve.points), "kα²", settings.unlearned)


def _kernels_behind(found: Curves, trained: str) -> Iterator[Check]:
    resnet = found[f"3resnet({trained})"]
    best = lowest(resnet.name, resnet.points)
    for curve in found.values():
        if "(last)" in curve.name or "(NTK)" in curve.name:
            what = _what(curve)
            yield check_above(what, lowest(curve.name, curve.points), f"that of {resnet.name}", best)


def _kernel_cells(settings: CubeComparison, curve: str, network: str) -> Iterator[Cell]:
    for m in settings.kernel_m:
        for seed in settings.all_seeds:
            data, held_out = settings.data(seed), settings.kernel_held_out
            trial = kernel_trial(data, held_out, network, m, seed, settings.kernel_decays)
            yield Cell(curve, m, seed, (trial,), kernel_runs)


def _limit_cells(settings: CubeComparison, curve: str, architecture: str, layers: str) -> Iterator[Cell]:
    """The limit over all widths; the ResNet's is that of two layers and a constant (`networks.tangent`)."""
    depth = 3 if architecture == "3layer" else 2
    offset = resnet_offset(settings.d, layers) if architecture == "3resnet" else 0.0
    ends = sorted({min(settings.m), max(settings.m)})
    for m in ends:
        for seed in settings.all_seeds:
            trial = limit_trial(
                settings.data(seed),
                settings.held_out,
                f"relu{depth}-bias-{layers}",
                settings.kernel_decays,
                offset,
            )
            yield Cell(curve, m, seed, (trial,), limit_runs, "dashed")


def resnet_offset(d: int, layers: str) -> float:
    """What the second layer adds, where all rows have ‖x̃‖ = (d + 1)^½."""
    of_last = math.sqrt(d + 1) / math.pi + 0.5
    return {"hidden": 0.5, "last": of_last, "all": 0.5 + of_last}[layers]


def _what(curve: Curve) -> str:
    at = "" if curve.style == "dashed" else ", best m"
    return f"test error of {curve.name}{at}"
