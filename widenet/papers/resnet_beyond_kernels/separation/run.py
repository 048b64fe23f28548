"""The separation run: the kernels' bound, kernels with oracle weights, and the trained ResNet, against N."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.wording import counted, shown
from widenet.kernels.kernel import Kernel
from widenet.kernels.names import kernel_by_name
from widenet.papers.resnet_beyond_kernels.separation.kernels import (
    CubeClass,
    ParityKernel,
    cube_class,
    cube_values,
    oracle_errors,
    oracle_forecast,
)
from widenet.papers.resnet_beyond_kernels.separation.network import (
    Member,
    draw_members,
    forecast,
    network_point,
)
from widenet.papers.resnet_beyond_kernels.separation.result import (
    SCHEMA,
    KernelCurve,
    NetworkPoint,
    SeparationResult,
)
from widenet.report.separation.verdict import verdict
from widenet.runs.store import Store
from widenet.runs.trials import Progress
from widenet.theory.resnet_beyond_kernels.lower_bound import class_size, kernel_floor
from widenet.training.settings import TrainingSettings

HOUR = 3600.0
LARGEST = {"members": 10**4, "tuning": 10**4, "width": 2**16, "epochs": 10**6, "batch": 2**16}
LARGEST_D1 = 16  # the cube has 2^16 points
SMALLEST_ALPHA = 1e-3  # so that α² stands out from the rounding errors of a projection
KERNELS = ("relu2-all", "relu3-all", "resnet3-all", "gaussian:h=2", "laplacian", "polynomial", "arcsin")


@dataclass(frozen=True)
class SeparationSettings:
    """What the run depends on.

    Attributes:
        d1: Coordinates of the cube {±1/√d₁}^d₁.
        k: Coordinates that a function of the class depends on, and outputs.
        alpha: α of H = F + αG(F).
        sizes: Numbers of samples N, ascending.
        kernels: Names of kernels; `ParityKernel` always joins them.
        members: Functions of the class on which the network is measured, each with samples of its own.
        tuning: Other functions, on which its rate and decay are chosen.
        width: Neurons of each of its hidden layers.
        epochs: Epochs of its training.
        batch: Rows of one of its steps.
        rates: Step sizes to choose from.
        decays: Weight decays to choose from.
        seed: Seed of every random choice.
    """

    d1: int = 12
    k: int = 3
    alpha: float = 0.5
    sizes: tuple[int, ...] = (20, 30, 40, 50, 60, 80, 100, 120, 150, 180, 220, 260)
    kernels: tuple[str, ...] = KERNELS
    members: int = 5
    tuning: int = 2
    width: int = 200
    epochs: int = 800
    batch: int = 20
    rates: tuple[float, ...] = (0.2, 0.1, 0.05)
    decays: tuple[float, ...] = (0.001, 0.005, 0.01, 0.02)
    seed: int = 0

    def __post_init__(self) -> None:
        for name, most in LARGEST.items():
            if not 1 <= getattr(self, name) <= most:
                raise InputError(f"{name} is {getattr(self, name)}, but must be from 1 to {most}.")
        if not 2 <= self.d1 <= LARGEST_D1:
            raise InputError(
                f"d1 is {self.d1}, but must be from 2 to {LARGEST_D1}: all 2^d1 points are looked at."
            )
        self._require_enough_functions()
        if not self.rates or not self.decays:
            raise InputError("The network needs at least one rate and one decay to choose from.")
        if not SMALLEST_ALPHA <= self.alpha <= 1:
            raise InputError(f"alpha is {self.alpha:g}, but must be from {SMALLEST_ALPHA:g} to 1.")
        if not self.sizes or list(self.sizes) != sorted(set(self.sizes)) or self.sizes[0] < 1:
            listed = shown(",".join(map(str, self.sizes)))
            raise InputError(f"sizes are {listed}, but must be positive and ascending.")
        if self.sizes[-1] > 2**self.d1:
            raise InputError(f"{self.sizes[-1]} samples are more than the {2**self.d1} points of the cube.")

    def _require_enough_functions(self) -> None:
        """What is measured must not have been tuned on, so all functions differ."""
        size = class_size(self.d1, self.k)
        if self.members + self.tuning > size:
            raise InputError(
                f"The class has {counted(size, 'function')} for d1 = {self.d1} and k = {self.k}, fewer than "
                f"{self.members} to measure and {self.tuning} others to tune on: take fewer members, a "
                "larger d1 or another k."
            )

    @property
    def grid(self) -> list[TrainingSettings]:
        """Every rate with every decay."""
        return [
            TrainingSettings(rate=rate, decay=decay, batch=self.batch, epochs=self.epochs)
            for rate in self.rates
            for decay in self.decays
        ]


def run_separation(
    settings: SeparationSettings | None = None,
    *,
    store: Store | None = None,
    allow_long: bool = False,
    progress: Progress = lambda done, total, text: None,
) -> SeparationResult:
    """Measure kernels with oracle weights and the trained ResNet on the class (7.1), beside the bound.

    Args:
        settings: Sizes, kernels, network, seed; the defaults of `SeparationSettings` if left out.
        store: Where finished training runs are kept, so that an interrupted call goes on from there.
        allow_long: Whether a run whose forecast is beyond an hour may go on.
        progress: Called with the numbers of kernels, and then of networks, that are done and wanted.
    """
    begin = time.perf_counter()
    settings = settings or SeparationSettings()
    kernels: list[Kernel] = [*map(kernel_by_name, settings.kernels), ParityKernel(settings.d1, settings.k)]
    _require_room(settings)
    functions = cube_class(settings.d1, settings.k, settings.alpha)
    tuning, measured = _draw(settings)
    expected = _forecast(kernels, functions, tuning, measured, settings)
    if expected > HOUR and not allow_long:
        raise InputError(
            f"This would take about {expected / HOUR:,.1f} hours: use fewer --sizes, --members or "
            "--epochs, or add --yes to run it all the same."
        )
    curves = kernel_curves(kernels, functions, measured, settings.sizes, progress)
    network = network_points(tuning, measured, functions.points, settings, store, progress)
    result = SeparationResult(
        schema=SCHEMA,
        version=version("widenet"),
        settings=asdict(settings),
        class_size=class_size(settings.d1, settings.k),
        unlearned=settings.alpha**2,
        sizes=settings.sizes,
        floor=tuple(kernel_floor(size, settings.d1, settings.k, settings.alpha) for size in settings.sizes),
        kernels=curves,
        network=network,
        subsets=tuple(member.subset for member in measured),
        tuning_subsets=tuple(member.subset for member in tuning),
        verdict=(),
        forecast=expected,
        seconds=0.0,
    )
    return replace(result, verdict=verdict(result), seconds=time.perf_counter() - begin)


def _require_room(settings: SeparationSettings) -> None:
    """Refuse a cube or a class that would not fit, before any memory is taken."""
    size = class_size(settings.d1, settings.k)
    require_memory(
        4 * 8 * 2**settings.d1 * (settings.sizes[-1] + size),
        f"The projection of {size:,} functions on {2**settings.d1:,} points",
        "take a smaller d1, fewer samples or another k",
    )


def _draw(settings: SeparationSettings) -> tuple[list[Member], list[Member]]:
    """Functions to tune on, and others to measure on."""
    members = draw_members(
        settings.d1,
        settings.k,
        settings.alpha,
        settings.tuning + settings.members,
        settings.sizes[-1],
        generator=torch.Generator().manual_seed(settings.seed),
    )
    return members[: settings.tuning], members[settings.tuning :]


def _forecast(
    kernels: Sequence[Kernel],
    functions: CubeClass,
    tuning: Sequence[Member],
    measured: Sequence[Member],
    settings: SeparationSettings,
) -> float:
    """Seconds that kernels and networks will take."""
    sizes, samples = settings.sizes, measured[0].samples
    networks = forecast(sizes, tuning, measured, functions.points, settings.grid, settings.width)
    return networks + len(measured) * oracle_forecast(kernels, functions, samples, sizes)


def kernel_curves(
    kernels: Sequence[Kernel],
    functions: CubeClass,
    measured: Sequence[Member],
    sizes: Sequence[int],
    progress: Progress,
) -> tuple[KernelCurve, ...]:
    """Every kernel on the samples of every member."""
    curves = []
    for done, kernel in enumerate(kernels):
        progress(done, len(kernels), "kernels")
        draws = [
            oracle_errors(cube_values(kernel, functions.points, member.samples), functions, sizes)
            for member in measured
        ]
        by_size = list(zip(*draws, strict=True))
        means, lowest = tuple(sum(each) / len(each) for each in by_size), tuple(map(min, by_size))
        curves.append(KernelCurve(kernel.name, means, lowest))
    progress(len(kernels), len(kernels), "kernels")
    return tuple(curves)


def network_points(
    tuning: Sequence[Member],
    measured: Sequence[Member],
    points: Tensor,
    settings: SeparationSettings,
    store: Store | None,
    progress: Progress,
) -> tuple[NetworkPoint, ...]:
    """The network at every number of samples."""
    grid = settings.grid
    total = len(settings.sizes) * (len(tuning) * len(grid) + len(measured))
    done = 0

    def tell(num_runs: int) -> None:
        nonlocal done
        done += num_runs
        progress(done, total, "networks")

    tell(0)
    return tuple(
        network_point(size, tuning, measured, points, grid, settings.width, store=store, progress=tell)
        for size in settings.sizes
    )
