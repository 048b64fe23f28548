"""The separation run: the kernels' bound, kernels with oracle weights, and the trained ResNet, against N."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from widenet.base.memory import BASE_BYTES, require_memory
from widenet.base.progress import SILENT, Progress, notes_alone
from widenet.kernels.kernel import Kernel
from widenet.kernels.names import kernel_by_name
from widenet.papers.resnet_beyond_kernels.separation.kernels import (
    CubeClass,
    ParityKernel,
    cube_class,
    cube_values,
    oracle_errors,
    oracle_seconds,
)
from widenet.papers.resnet_beyond_kernels.separation.network import (
    Member,
    TrainingPlan,
    draw_members,
    network_point,
    network_seconds,
)
from widenet.papers.resnet_beyond_kernels.separation.result import KernelCurve, NetworkPoint, SeparationResult
from widenet.papers.resnet_beyond_kernels.separation.settings import SeparationSettings
from widenet.runs.code import code_version
from widenet.runs.store import Store
from widenet.runs.trial import Failure, Trial, TrialResult, data_hash
from widenet.runs.trials import run_trials
from widenet.study.forecast import Forecast
from widenet.theory.resnet_beyond_kernels.lower_bound import class_size, kernel_floor
from widenet.training.settings import TrainingSettings


def run_separation(
    settings: SeparationSettings | None = None,
    *,
    store: Store | None = None,
    allow_long: bool = False,
    progress: Progress = SILENT,
) -> SeparationResult:
    """Measure kernels with oracle weights and the trained ResNet on the class (7.1), beside the bound.

    Args:
        settings: Sizes, kernels, network, seed; the defaults of `SeparationSettings` if left out.
        store: Where projections and training runs are kept, so that an interrupted call resumes from there.
        allow_long: Whether a run whose forecast exceeds an hour may go on.
        progress: Told of the kernels, and then of the networks, that are done.
    """
    begin = time.perf_counter()
    settings = settings or SeparationSettings()
    kernels: list[Kernel] = [*map(kernel_by_name, settings.kernels), ParityKernel(settings.d1, settings.k)]
    num_bytes = _require_room(settings)
    functions = cube_class(settings.d1, settings.k, settings.alpha)
    tuning, measured = _draw(settings)
    grid, notes = _grid(settings), notes_alone(progress)
    plan = TrainingPlan(tuning, measured, functions.points, grid, settings.width, store, notes)
    seconds = network_seconds(plan, settings.sizes)
    seconds += len(measured) * oracle_seconds(kernels, functions, measured[0].samples, settings.sizes)
    forecast = Forecast(seconds, BASE_BYTES + num_bytes)
    progress.note(forecast)
    forecast.refuse_long("use fewer `sizes`, `members` or `epochs`", allow_long=allow_long)
    return SeparationResult(
        settings=settings,
        class_size=class_size(settings.d1, settings.k),
        unlearned=settings.alpha**2,
        sizes=settings.sizes,
        floor=tuple(kernel_floor(size, settings.d1, settings.k, settings.alpha) for size in settings.sizes),
        kernels=kernel_curves(kernels, functions, measured, settings.sizes, progress, store),
        network=network_points(plan, settings.sizes, progress),
        subsets=tuple(member.subset for member in measured),
        tuning_subsets=tuple(member.subset for member in tuning),
        forecast=forecast,
        seconds=time.perf_counter() - begin,
    )


def _require_room(settings: SeparationSettings) -> int:
    """The bytes that the projection takes; refuses a cube or a class that would not fit."""
    size = class_size(settings.d1, settings.k)
    num_bytes = 4 * 8 * 2**settings.d1 * (settings.sizes[-1] + size)
    what = f"The projection of {size:,} functions on {2**settings.d1:,} points"
    require_memory(num_bytes, what, "use a smaller `d1`, smaller `sizes` or another `k`")
    return num_bytes


def _grid(settings: SeparationSettings) -> list[TrainingSettings]:
    """Every rate with every decay."""
    return [
        TrainingSettings(rate=rate, decay=decay, batch=settings.batch, epochs=settings.epochs)
        for rate in settings.rates
        for decay in settings.decays
    ]


def _draw(settings: SeparationSettings) -> tuple[list[Member], list[Member]]:
    """Functions to tune on, and others to measure on."""
    generator = torch.Generator().manual_seed(settings.seed)
    num_members, num_samples = settings.tuning + settings.members, settings.sizes[-1]
    of_class = (settings.d1, settings.k, settings.alpha)
    members = draw_members(*of_class, num_members, num_samples, generator=generator)
    return members[: settings.tuning], members[settings.tuning :]


def kernel_curves(
    kernels: Sequence[Kernel],
    functions: CubeClass,
    measured: Sequence[Member],
    sizes: Sequence[int],
    progress: Progress,
    store: Store | None = None,
) -> tuple[KernelCurve, ...]:
    """Every kernel on the samples of every member, each pair kept in the store as soon as it is done."""
    curves = []
    for done, kernel in enumerate(kernels):
        progress("kernels", done, len(kernels))
        draws = _member_errors(kernel, functions, measured, sizes, store)
        by_size = list(zip(*draws, strict=True))
        means, lowest = tuple(sum(each) / len(each) for each in by_size), tuple(map(min, by_size))
        curves.append(KernelCurve(kernel.name, means, lowest))
    progress("kernels", len(kernels), len(kernels))
    return tuple(curves)


def _member_errors(
    kernel: Kernel,
    functions: CubeClass,
    measured: Sequence[Member],
    sizes: Sequence[int],
    store: Store | None,
) -> list[list[float]]:
    """A kernel's errors at all sizes, on the samples of each member."""

    def work(settings: list[Mapping[str, Any]]) -> Iterator[TrialResult]:
        for own in settings:
            values = cube_values(kernel, functions.points, measured[own["member"]].samples)
            yield TrialResult({"errors": oracle_errors(values, functions, sizes)})

    code = f"{code_version(run_separation.__module__)} torch {torch.__version__}" if store else ""
    common = {"oracle": kernel.name, "k": functions.sets.shape[1], "alpha": functions.alpha, "sizes": sizes}
    trials = [
        Trial({**common, "member": place}, code, data_hash(member.samples))
        for place, member in enumerate(measured)
    ]
    found = run_trials([[trial] for trial in trials], work, store=store)
    for each in found:
        if isinstance(each, Failure):
            raise each.error
    return [list(each.record["errors"]) for each in found if isinstance(each, TrialResult)]


def network_points(plan: TrainingPlan, sizes: Sequence[int], progress: Progress) -> tuple[NetworkPoint, ...]:
    """The network at every number of samples."""
    total = len(sizes) * (len(plan.tuning) * len(plan.grid) + len(plan.measured))
    done = 0

    def tell(num_runs: int) -> None:
        nonlocal done
        done += num_runs
        progress("networks", done, total)

    tell(0)
    return tuple(network_point(plan, size, tell) for size in sizes)
