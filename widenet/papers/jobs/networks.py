"""Networks trained on a draw of a concept class, under settings that see the same batches."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from widenet.networks.names import network_by_name
from widenet.papers.grid_run import GridRun
from widenet.papers.jobs.draws import draw_shape, draws
from widenet.papers.jobs.job import Desk, Job
from widenet.runs.trial import Record, TrialResult
from widenet.study.speed import Speed
from widenet.training.rows import as_rows
from widenet.training.run import TrainingRun
from widenet.training.settings import TrainingSettings
from widenet.training.together import RECORDS, train_together

FEWEST = 2  # copies that are trained together, with which a run is the same in any company
SETTINGS = tuple(TrainingSettings.__dataclass_fields__)
STEP_SECONDS = 2.5e-4  # of one step, whatever its size: some thirty small operations
SLOW = 1.7  # times the time of large matrix products, which those of a step are not
CACHE_ENTRIES = 2**23  # of weights, momenta and gradients of the copies that are trained together


def network_trial(
    data: str, num_held_out: int, network: str, width: int, settings: TrainingSettings
) -> dict[str, Any]:
    """The settings of one trial.

    Args:
        data: A concept class with its options, number of rows and seed.
        num_held_out: Validation rows, and as many test rows.
        network: A name of `network_by_name`.
        width: Its width.
        settings: How it is trained.
    """
    common = {"job": f"{__name__}:NETWORKS", "data": data, "num_held_out": num_held_out}
    return {**common, "network": network, "width": width, **settings.to_dict()}


def train_networks(trials: Sequence[Record], desk: Desk) -> Iterable[TrialResult]:
    """Train the trials together, in float32."""
    first = trials[0]
    rows = draws(first["data"], first["num_held_out"])
    train, validation, test = (
        as_rows(each.X, each.Y, torch.float32) for each in (rows.train, rows.validation, rows.test)
    )
    runs = train_together(
        network_by_name(first["network"], first["width"]),
        train,
        [TrainingSettings.from_dict({name: each[name] for name in SETTINGS}) for each in trials],
        test=test,
        validation=validation,
        fewest=FEWEST,
        progress=lambda epoch: desk.look_up(),
    )
    return [TrialResult(run.to_dict()) for run in runs]


def num_together(trial: Record) -> int:
    """Copies of a trial's network whose training fits into cache; a run is the same in any company."""
    return max(FEWEST, CACHE_ENTRIES // (3 * num_weights(trial)))


def num_weights(trial: Record) -> int:
    """Weights of a trial's network."""
    _, d, k = draw_shape(trial["data"])
    shapes = network_by_name(trial["network"], trial["width"]).shapes(d, k)
    return sum(p * q for p, q in shapes.values())


def networks_seconds(trials: Sequence[Record], speed: Speed) -> float:
    """Products with every weight: three for each row that is trained on, one for each that is looked at.

    Where only the last layer is trained, the way back through the others is not taken.
    """
    first = trials[0]
    n, _, _ = draw_shape(first["data"])
    products = 1 if first["network"].endswith("-last") else 3
    num_rows = products * n * first["epochs"] + RECORDS * (n + 2 * first["num_held_out"])
    num_steps = first["epochs"] * -(-n // (first["batch"] or n))
    operations = 2 * SLOW * len(trials) * num_weights(first) * num_rows
    return operations / speed.single + num_steps * STEP_SECONDS * (1 + len(trials) / 16)


NETWORKS = Job(train_networks, networks_seconds, together=num_together, small_steps=True)


def rate_and_decay(record: Mapping[str, Any]) -> list[GridRun]:
    """A trained network as a run of a grid over rates and decays."""
    return [grid_run(record, "rate", "decay")]


def grid_run(record: Mapping[str, Any], *names: str) -> GridRun:
    """A trained network as a run of a grid that varies the named settings."""
    run = TrainingRun.from_dict(dict(record))
    tried = {name: getattr(run.settings, name) for name in names}
    if run.diverged:
        return GridRun(tried, (), ())
    return GridRun(tried, run.test_error or (), run.validation_error or ())
