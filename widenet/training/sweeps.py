"""One network under one setting or under many, with a store that survives being killed."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from importlib import import_module
from typing import Any

import torch

from widenet.data.dataset import Dataset
from widenet.data.memory import require_memory
from widenet.errors import InputError, WidenetError
from widenet.networks.network import Network
from widenet.runs import Failure, Result, Store, Trial, code_version, data_hash, run_trials
from widenet.runs.trials import Executor, Progress
from widenet.training.rows import Rows, as_rows
from widenet.training.run import TrainingRun
from widenet.training.settings import TrainingSettings
from widenet.training.together import share_batches, train_together

MAX_GROUP = 32  # settings trained together: more share little that is not shared yet
CODE = (  # the modules on which results depend
    "widenet.networks.fully_connected",
    "widenet.networks.initialise",
    "widenet.networks.network",
    "widenet.networks.relu",
    "widenet.networks.resnet",
    "widenet.training.losses",
    "widenet.training.optimisers",
    "widenet.training.rows",
    "widenet.training.together",
)


def train(
    network: Network,
    dataset: Dataset,
    settings: TrainingSettings,
    *,
    test: Dataset | None = None,
    dtype: torch.dtype = torch.float32,
    progress: Callable[[int], None] | None = None,
) -> TrainingRun:
    """Train one network and return its run with the weights.

    Args:
        network: The architecture, as of `network_by_name`.
        dataset: Rows to train on.
        settings: How to train.
        test: Rows on which the error is measured on the way.
        dtype: Precision of the training.
        progress: Called with the number of epochs done, after each.
    """
    rows, tested = _rows(dataset, dtype), None if test is None else _rows(test, dtype)
    return train_together(network, rows, [settings], test=tested, keep_weights=True, progress=progress)[0]


def sweep(
    network: Network,
    dataset: Dataset,
    grid: Sequence[TrainingSettings],
    *,
    test: Dataset | None = None,
    keep_weights: bool = False,
    dtype: torch.dtype = torch.float32,
    executor: Executor | None = None,
    store: Store | None = None,
    progress: Progress = lambda done, total, text: None,
) -> tuple[TrainingRun, ...]:
    """Train one network under every setting, those together that see the same rows in the same order.

    Args:
        network: The architecture.
        dataset: Rows to train on.
        grid: The settings.
        test: Rows on which the error is measured on the way.
        keep_weights: Return (and store) the weights with the runs.
        dtype: Precision of the training.
        executor: Where groups of settings run, with the interface of `concurrent.futures`; by default in
            threads of this process, as many as torch uses.
        store: Where finished runs are kept; those that it has already are not trained again.
        progress: Called with the numbers of runs that are done and wanted.

    Returns:
        A run for each setting, in the order of the grid.
    """
    if not grid:
        raise InputError("A sweep needs at least one setting; its grid is empty.")
    rows, tested = _rows(dataset, dtype), None if test is None else _rows(test, dtype)
    groups = _groups(grid, torch.get_num_threads())
    _require_room(network, rows, max(map(len, groups)))
    data = data_hash(*(part for each in (rows, tested) if each is not None for part in (each.X, each.Y)))
    common = {"network": network.name, **asdict(network), "keep_weights": keep_weights}  # type: ignore[call-overload]
    trials = [
        [Trial({**common, **grid[index].to_dict()}, _code(), data) for index in group] for group in groups
    ]
    work = partial(_train_group, network, rows, tested, keep_weights)
    if executor is not None:
        outcomes = run_trials(trials, work, store=store, executor=executor, progress=progress)
    else:
        with threads() as (pool, stopped):
            stoppable = partial(work, stopped=stopped)
            outcomes = run_trials(trials, stoppable, store=store, executor=pool, progress=progress)
    order = [index for group in groups for index in group]
    runs = dict(zip(order, map(_as_run, outcomes), strict=True))
    return tuple(runs[index] for index in range(len(grid)))


def _rows(dataset: Dataset, dtype: torch.dtype) -> Rows:
    return as_rows(dataset.X, dataset.Y, dtype)


def _groups(grid: Sequence[TrainingSettings], num_workers: int) -> list[list[int]]:
    """Indices of settings that are trained together: few groups, but one for every worker."""
    alike: list[list[int]] = []
    for index, setting in enumerate(grid):
        mates = next((group for group in alike if share_batches(grid[group[0]], setting)), None)
        if mates is None:
            alike.append([index])
        else:
            mates.append(index)
    size = min(MAX_GROUP, -(-len(grid) // num_workers))
    return [group[start : start + size] for group in alike for start in range(0, len(group), size)]


def _require_room(network: Network, rows: Rows, num_copies: int) -> None:
    """Refuse a width whose weights and momentum would not fit, before any memory is taken."""
    shapes = network.shapes(rows.X.shape[1] - 1, rows.Y.shape[1]).values()
    entries = 3 * sum(p * q for p, q in shapes) * num_copies * torch.get_num_threads()
    what = f"Training {num_copies} networks of width {network.width:,}"
    require_memory(entries * rows.X.element_size(), what)


def _code() -> str:
    """The version of the code that trains, so that runs of other code are not mixed in."""
    return code_version(map(import_module, CODE))


def _train_group(
    network: Network,
    rows: Rows,
    test: Rows | None,
    keep_weights: bool,
    settings: Sequence[Mapping[str, Any]],
    *,
    stopped: threading.Event | None = None,
) -> list[Result]:
    """The work of one group, on settings as a trial holds them."""

    def stop_if_asked(epoch: int) -> None:
        if stopped is not None and stopped.is_set():
            raise WidenetError("The sweep was stopped.")

    fields = TrainingSettings.__dataclass_fields__
    chosen = [TrainingSettings.from_dict({name: each[name] for name in fields}) for each in settings]
    runs = train_together(
        network, rows, chosen, test=test, fewest=2, keep_weights=keep_weights, progress=stop_if_asked
    )
    return [
        Result(run.to_dict(), {name: part.numpy() for name, part in (run.weights or {}).items()})
        for run in runs
    ]


def _as_run(outcome: Result | Failure) -> TrainingRun:
    if isinstance(outcome, Failure):
        raise outcome.error
    weights = {name: torch.from_numpy(array) for name, array in outcome.arrays.items()}
    return TrainingRun.from_dict(dict(outcome.record), weights or None)


@contextmanager
def threads() -> Iterator[tuple[ThreadPoolExecutor, threading.Event]]:
    """As many threads as torch uses, with operations that are not split further, and a way to stop them.

    Splitting every small operation over cores costs more than it gains; whole groups side by side do not wait
    for each other.
    """
    num_threads = torch.get_num_threads()
    stopped = threading.Event()
    pool = ThreadPoolExecutor(num_threads, initializer=torch.set_num_threads, initargs=(1,))
    try:
        yield pool, stopped
    finally:
        stopped.set()
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(num_threads)  # what the pool's threads set is also the default of later threads
