"""Kernels of networks at finite width on a draw of a concept class: every ridge and every time, exact."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import torch

from widenet.networks.initialise import Initialisation, draw_parameters
from widenet.networks.names import network_by_name
from widenet.papers.grid_run import GridRun
from widenet.papers.jobs.draws import draw_shape, draws
from widenet.papers.jobs.job import Desk, Job
from widenet.runs.trial import Record, TrialResult
from widenet.study.speed import Speed
from widenet.training.paths import linear_paths, path_bytes

TIMES = tuple(10.0 ** (power / 3) for power in range(-12, 4))  # of gradient flow
KRYLOV_PRODUCTS = 400  # that the flow takes, roughly
SOLVED = 1 / 3  # of the ridges, roughly, take a factorisation: those too small for the flow's Krylov space
SLOW = 1.3  # times the time of large matrix products, which a factorisation is not


def kernel_trial(
    data: str,
    num_held_out: int,
    network: str,
    width: int,
    seed: int,
    decays: Sequence[float],
    initialisation: Initialisation | None = None,
) -> dict[str, Any]:
    """The settings of one trial.

    Args:
        data: A concept class with its options, number of rows and seed.
        num_held_out: Validation rows, and as many test rows.
        network: A name of `network_by_name`; with `-last` its conjugate kernel, else its tangent kernel.
        width: Its width.
        seed: Of its weights, which are those of a network that is trained with this seed.
        decays: Weight decays; the ridge is n times that, as the loss of SGD is a mean over rows.
        initialisation: Where the weights come from.
    """
    common = {"job": f"{__name__}:KERNELS", "data": data, "num_held_out": num_held_out}
    start = {"seed": seed, "initialisation": asdict(initialisation or Initialisation())}
    return {**common, "network": network, "width": width, "decays": list(decays), **start}


def fit_kernels(trials: Sequence[Record], desk: Desk) -> Iterable[TrialResult]:
    """Fit the kernels one after the other; mean ‖y − f‖² on held-out rows at every ridge and every time."""
    for trial in trials:
        desk.look_up()
        rows = draws(trial["data"], trial["num_held_out"])
        network = network_by_name(trial["network"], trial["width"])
        start = draw_parameters(
            network,
            rows.train.X.shape[1],
            rows.train.Y.shape[1],
            Initialisation(**trial["initialisation"]),
            generator=torch.Generator().manual_seed(trial["seed"]),
            dtype=torch.float64,
        )
        n = len(rows.train.X)
        paths = linear_paths(
            network,
            start,
            rows.train.X,
            rows.train.Y,
            [(each.X, each.Y) for each in (rows.validation, rows.test)],
            [n * decay for decay in trial["decays"]],
            TIMES,
        )
        yield TrialResult({**asdict(paths), "decays": trial["decays"]})


def kernel_seconds(trials: Sequence[Record], speed: Speed) -> float:
    """Factorisations for some ridges, the Gram matrices, and products of the flow, which wait for memory."""
    first = trials[0]
    _, d, k = draw_shape(first["data"])
    outputs, size = num_outputs(first), num_equations(first)
    columns = 2 * first["num_held_out"] * outputs
    gram = 2 * size * (size + columns) * (first["width"] + d)
    solves = SOLVED * len(first["decays"]) * (size**3 / 3 + 2 * size * (columns + size) * (k / outputs))
    flow = 2 * KRYLOV_PRODUCTS * size * size
    return len(trials) * (SLOW * (gram + solves) + 4 * flow) / speed.double


def num_outputs(trial: Record) -> int:
    """Outputs that have rows of the kernel of their own; a conjugate kernel serves all."""
    _, _, k = draw_shape(trial["data"])
    return 1 if trial["network"].endswith("-last") else k


def num_equations(trial: Record) -> int:
    """Rows of the kernel."""
    n, _, _ = draw_shape(trial["data"])
    return n * num_outputs(trial)


def kernel_bytes(trials: Sequence[Record]) -> int:
    """One kernel at a time."""
    return max(path_bytes(num_equations(trial)) for trial in trials)


KERNELS = Job(fit_kernels, kernel_seconds, kernel_bytes, together=lambda trial: 1)


def kernel_runs(record: Record) -> list[GridRun]:
    """The fits of one trial as runs of a grid over decays, and of another over times of gradient flow."""
    ridges = _grid_runs("decay", record["decays"], record["ridge"])
    return ridges + (
        _grid_runs("time", record["flow"]["points"], record["flow"]) if record["converged"] else []
    )


def _grid_runs(name: str, values: Sequence[float], path: Record) -> list[GridRun]:
    validation, test = path["held_out"]
    columns = zip(values, test, validation, strict=True)
    return [GridRun({name: value}, (tested,), (validated,)) for value, tested, validated in columns]
