"""What figures 3(a) and 3(b) share: how large F must be beside αG(F) to be of help [section 8.1].

The paper's rate falls tenfold after half of the epochs. Test errors at the best and at the last epoch
differ most under this schedule, so a constant rate stands beside it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from widenet.papers.cells import Cell, curves_of, plan_of
from widenet.papers.claim import Claim
from widenet.papers.curve import Curve, Curves, check_above, check_below, lowest, reference
from widenet.papers.figure import Axes, Done
from widenet.papers.resnet_beyond_kernels.learning import CubeSettings, network_cells
from widenet.papers.verdict import Check
from widenet.runs.trial import Record
from widenet.study.settings import setting

AXES = Axes("m = number of hidden neurons", "Test error", log_x=True, log_y=True)
CONSTANT = ", constant rate"
DEPARTURES = (
    "Weights and biases are drawn from N(0, 1/m); the paper prints N(1, 1/m).",
    "The paper tries rates and decays of {1, 2, 5}·10^-k without saying for which k, and does not say how "
    "many test rows there were. Epochs are looked at 41 times.",
    "Dashed lines, with a rate that never falls, are not in the paper.",
)


@dataclass(frozen=True)
class SensitivitySettings(CubeSettings):
    """The sizes of F that are tried."""

    beta: tuple[float, ...] = setting((1.0, 0.5, 0.3, 0.2, 0.0), "Values of β.", low=0)


def curve_name(beta: float, trained: str, schedule: str = "") -> str:
    """As the paper's legend has it."""
    return f"resnet(β={beta:g},{trained}){schedule}"


def cells(settings: SensitivitySettings, trained: str) -> Iterator[Cell]:
    """The ResNet for every β, with the paper's schedule and with a constant rate."""
    for beta in settings.beta:
        name = curve_name(beta, trained)
        yield from network_cells(settings, name, f"3resnet-{trained}", beta)
    for beta in settings.beta:
        name = curve_name(beta, trained, CONSTANT)
        yield from network_cells(settings, name, f"3resnet-{trained}", beta, "dashed", drops=())


def plan(trained: str) -> Callable[[SensitivitySettings], Sequence[Sequence[Record]]]:
    """The plan of the figure in which these layers are trained."""
    return lambda settings: plan_of(list(cells(settings, trained)))


def curves(trained: str) -> Callable[[SensitivitySettings, Sequence[Done]], list[Curve]]:
    """Its curves, and half the height of what has not learned αG(F)."""
    return lambda settings, done: [
        *curves_of(list(cells(settings, trained)), done),
        reference("kα²/2", settings.m, settings.unlearned / 2, settings.seeds),
    ]


def claims(trained: str) -> tuple[Claim, ...]:
    """Both halves of what the paper reads off the figure, under both schedules."""
    return tuple(
        claim
        for schedule, aside in (("", ""), (CONSTANT, " With a constant rate, which is not the paper's."))
        for claim in (
            Claim(
                f"Where β > α, αG(F) is learned: the test error falls below half of kα².{aside}",
                "section 8.1, Experiment 2",
                _checks(trained, schedule, learned=True),
                is_papers=not schedule,
            ),
            Claim(
                "Where β ≤ α, learning αG(F) is practically impossible: the test error stays above half of "
                f"kα².{aside}",
                "section 8.1, Experiment 2",
                _checks(trained, schedule, learned=False),
                is_papers=not schedule,
            ),
        )
    )


def _checks(
    trained: str, schedule: str, *, learned: bool
) -> Callable[[SensitivitySettings, Curves], list[Check]]:
    check = check_below if learned else check_above

    def checks(settings: SensitivitySettings, found: Curves) -> list[Check]:
        names = [
            curve_name(beta, trained, schedule)
            for beta in settings.beta
            if (beta > settings.alpha) == learned
        ]
        return [
            check(
                f"test error of {name}, best m",
                lowest(name, found[name].points),
                "kα²/2",
                settings.unlearned / 2,
            )
            for name in names
        ]

    return checks
