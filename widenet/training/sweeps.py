"""One network under one setting or under many, with a store that survives being killed."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import torch

from widenet.base.errors import InputError, WidenetError
from widenet.base.memory import in_halves, require_memory, usable_bytes
from widenet.base.progress import SILENT, Progress, on_workers
from widenet.base.threads import one_thread, threads
from widenet.data.dataset import Dataset
from widenet.networks.names import network_names
from widenet.networks.network import Network, Parameters
from widenet.runs import Failure, Store, Trial, TrialResult, code_version, data_hash, run_trials
from widenet.runs.cluster import Cluster, joined
from widenet.runs.code import has_source
from widenet.runs.device import device_named
from widenet.runs.trials import Executor, Work
from widenet.training.rows import Rows, as_rows
from widenet.training.run import TrainingRun
from widenet.training.settings import TrainingSettings
from widenet.training.together import share_batches, train_together, weights_together

MAX_GROUP = 32  # settings trained together: more share little that is not shared yet


def train(
    network: Network,
    dataset: Dataset,
    settings: TrainingSettings,
    *,
    test: Dataset | None = None,
    dtype: torch.dtype = torch.float32,
    device: str = "cpu",
    progress: Callable[[int], None] = lambda done: None,
) -> TrainingRun:
    """Train one network and return its run with the weights.

    >>> from widenet.data import load
    >>> from widenet.networks import network_by_name
    >>> dataset = load("resnet-cube:n=50,d=8")
    >>> settings = TrainingSettings(rate=0.05, epochs=20)
    >>> run = train(network_by_name("3resnet-all", 30), dataset, settings)
    >>> run.train_error[-1] < run.train_error[0], run.outputs(dataset.X).shape
    (True, torch.Size([50, 4]))

    Args:
        network: The architecture, as of `network_by_name`.
        dataset: Rows to train on.
        settings: How to train.
        test: Rows on which the error is measured on the way.
        dtype: Precision of the training.
        device: Where to train, such as cuda; the weights stay there.
        progress: Called with the number of epochs done, after each.
    """
    rows, tested = _rows(dataset, test, dtype)
    _require_room(network, rows, [settings], num_groups=1)
    rows, tested = _rows_on(device_named(device), rows, tested)
    return train_together(network, rows, [settings], test=tested, keep_weights=True, progress=progress)[0]


def trained_weights(
    network: Network,
    dataset: Dataset,
    grid: Sequence[TrainingSettings],
    *,
    dtype: torch.dtype = torch.float32,
) -> list[Parameters | None]:
    """Weights of one network at the end of training under every setting, shapes (1, …), all trained together.

    Where memory runs out, halves of them are.

    Args:
        network: The architecture.
        dataset: Rows to train on.
        grid: Settings that differ in rates and decays alone.
        dtype: Precision of the training.

    Returns:
        The weights under each setting; None where a run diverged.
    """
    rows, _ = _rows(dataset, None, dtype)
    _require_room(network, rows, grid, num_groups=1)
    return in_halves(lambda settings: weights_together(network, rows, settings), grid)


def sweep(
    network: Network,
    dataset: Dataset,
    grid: Sequence[TrainingSettings],
    *,
    test: Dataset | None = None,
    keep_weights: bool = False,
    dtype: torch.dtype = torch.float32,
    device: str = "cpu",
    executor: Executor | None = None,
    cluster: Any = None,
    store: Store | None = None,
    progress: Progress = SILENT,
) -> tuple[TrainingRun, ...]:
    """Train one network under every setting, those together that see the same rows in the same order.

    Args:
        network: The architecture, a dataclass whose class is one of `ARCHITECTURES`.
        dataset: Rows to train on.
        grid: The settings.
        test: Rows on which the error is measured on the way.
        keep_weights: Return (and store) the weights with the runs.
        dtype: Precision of the training.
        device: Where groups of settings are trained, such as cuda; runs come back to the CPU.
        executor: Where groups of settings run, with the interface of `concurrent.futures`; by default in
            threads of this process, as many as torch uses.
        cluster: Where groups run instead: the address of a Dask scheduler, a `ClusterAddress`, or a client or
            cluster of Dask.
        store: Where finished runs are kept; those that it has already are not trained again.
        progress: Told how many of the runs are done.

    Returns:
        A run for each setting, in the order of the grid.
    """
    if not grid:
        raise InputError("A sweep needs at least one setting; its grid is empty.")
    if network.name not in network_names():
        raise InputError(
            f"A sweep needs a network that has a name, not {network.name}: add its class to ARCHITECTURES "
            "of widenet.networks.names, or use train."
        )
    placed = device_named(device, cluster)
    rows, tested = _rows(dataset, test, dtype)
    data = data_hash(*(part for each in (rows, tested) if each is not None for part in (each.X, each.Y)))
    common = {"network": network.name, **asdict(network), "keep_weights": keep_weights, "device": device}  # type: ignore[call-overload]
    code = _code(network) if store is not None else ""  # what is not kept needs no version
    work = partial(_train_group, network, rows, tested, keep_weights, placed)
    with joined(cluster) as place:
        groups = _groups_at(place, network, rows, grid) if place else _groups_here(network, rows, grid)
        trials = [
            [Trial({**common, **grid[index].to_dict()}, code, data) for index in group] for group in groups
        ]
        outcomes = _outcomes(trials, work, store, executor, place, progress)
    failures = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    if failures:
        kept = "the others are in the store" if store else "with a store the others would not be lost"
        raise WidenetError(f"{len(failures)} of {len(grid)} runs failed, {kept}: {failures[0].error}")
    order = [index for group in groups for index in group]
    runs = map(_as_run, (outcome for outcome in outcomes if isinstance(outcome, TrialResult)))
    by_index = dict(zip(order, runs, strict=True))
    return tuple(by_index[index] for index in range(len(grid)))


def _outcomes(
    trials: Sequence[Sequence[Trial]],
    work: Callable[..., list[TrialResult]],
    store: Store | None,
    executor: Executor | None,
    place: Cluster | None,
    progress: Progress,
) -> tuple[TrialResult | Failure, ...]:
    """What came of every trial, on a cluster, on an executor, or in threads of this process."""
    run = partial(run_trials, trials, store=store)
    if place is not None:
        told = on_workers(progress, place.num_workers)
        with place.workers_for(work) as workers:
            return run(workers.work, executor=workers.executor, progress=told)
    if executor is not None:
        return run(on_one_thread(work), executor=executor, progress=progress)
    with threads() as (pool, stopped):
        stoppable = partial(work, stopped=stopped)
        return run(stoppable, executor=pool, num_workers=torch.get_num_threads(), progress=progress)


def _rows(dataset: Dataset, test: Dataset | None, dtype: torch.dtype) -> tuple[Rows, Rows | None]:
    rows = as_rows(dataset.X, dataset.Y, dtype)
    if test is None:
        return rows, None
    shapes = [(each.d, each.Y.shape[1]) for each in (dataset, test)]
    if shapes[0] != shapes[1]:
        raise InputError(
            f"Test rows have {shapes[1][0]} columns and {shapes[1][1]} targets, training rows {shapes[0][0]} "
            f"and {shapes[0][1]}; they must be prepared alike."
        )
    return rows, as_rows(test.X, test.Y, dtype)


def _rows_on(device: torch.device, rows: Rows, test: Rows | None) -> tuple[Rows, Rows | None]:
    return rows.to(device), None if test is None else test.to(device)


def _groups_here(network: Network, rows: Rows, grid: Sequence[TrainingSettings]) -> list[list[int]]:
    """Groups for the threads of this process; refused where not even few settings fit."""
    num_threads = torch.get_num_threads()
    groups = _groups_within(usable_bytes(), num_threads, network, rows, grid)
    largest = [grid[index] for index in max(groups, key=len)]
    _require_room(network, rows, largest, min(len(groups), num_threads))
    return groups


def _groups_at(
    place: Cluster, network: Network, rows: Rows, grid: Sequence[TrainingSettings]
) -> list[list[int]]:
    """Groups for the threads of a cluster, each of which has a share of its worker's memory."""
    offered = place.capacities().values()
    num_threads = sum(each.num_threads for each in offered)
    smallest = min(each.num_bytes // each.num_threads for each in offered)
    return _groups_within(num_threads * smallest, num_threads, network, rows, grid)


def _groups_within(
    num_bytes: int, num_threads: int, network: Network, rows: Rows, grid: Sequence[TrainingSettings]
) -> list[list[int]]:
    """Indices of settings that are trained together: few groups that fit, but one for every thread."""
    size = min(MAX_GROUP, -(-len(grid) // num_threads))
    while size > 1 and num_threads * _group_bytes(network, rows, grid[:size]) > num_bytes:
        size //= 2
    return _groups(grid, size)


def _groups(grid: Sequence[TrainingSettings], size: int) -> list[list[int]]:
    """Indices of settings that share batches, so many in each group at most."""
    alike: list[list[int]] = []
    for index, setting in enumerate(grid):
        mates = next((group for group in alike if share_batches(grid[group[0]], setting)), None)
        if mates is None:
            alike.append([index])
        else:
            mates.append(index)
    return [group[start : start + size] for group in alike for start in range(0, len(group), size)]


def _require_room(
    network: Network, rows: Rows, settings: Sequence[TrainingSettings], num_groups: int
) -> None:
    """Refuse a width whose weights, momentum and hidden values would not fit, before any memory is taken."""
    require_memory(
        num_groups * _group_bytes(network, rows, settings),
        f"Training {len(settings)} networks of width {network.width:,} at once",
        "use a smaller width or batch",
    )


def _group_bytes(network: Network, rows: Rows, settings: Sequence[TrainingSettings]) -> int:
    """What settings take that are trained together: weights, momentum and hidden values."""
    shapes = network.shapes(rows.X.shape[1] - 1, rows.Y.shape[1]).values()
    num_states = 4 if settings[0].optimiser == "adam" else 2
    hidden = 4 * min(settings[0].batch or rows.n, rows.n) * network.width
    entries = len(settings) * (num_states * sum(p * q for p, q in shapes) + hidden)
    return entries * rows.X.element_size()


def _code(network: Network) -> str:
    """The version of the code that trains this network, so that runs of other code are not mixed in."""
    home = type(network).__module__
    if not has_source(home):
        raise InputError(
            f"{type(network).__name__} has no source file, so a store cannot tell its versions apart: put it "
            "into a file, or leave out `store`."
        )
    return f"{code_version(home, 'widenet.training.together')} torch {torch.__version__}"


def _train_group(
    network: Network,
    rows: Rows,
    test: Rows | None,
    keep_weights: bool,
    device: torch.device,
    settings: Sequence[Mapping[str, Any]],
    *,
    stopped: threading.Event | None = None,
) -> list[TrialResult]:
    """The work of one group, on settings as a trial holds them."""

    def stop_if_asked(epoch: int) -> None:
        if stopped is not None and stopped.is_set():
            raise WidenetError("The sweep was stopped.")

    fields = TrainingSettings.__dataclass_fields__
    chosen = [TrainingSettings.from_dict({name: each[name] for name in fields}) for each in settings]
    rows, test = _rows_on(device, rows, test)
    runs = train_together(
        network, rows, chosen, test=test, fewest=2, keep_weights=keep_weights, progress=stop_if_asked
    )
    return [
        TrialResult(run.to_dict(), {name: part.cpu().numpy() for name, part in (run.weights or {}).items()})
        for run in runs
    ]


def on_one_thread(work: Work) -> Work:
    """The work without threads of its own: a forked process waits for ever for those of its parent."""
    return partial(_alone, work)


def _alone(work: Work, settings: list[Mapping[str, Any]]) -> Iterable[TrialResult]:
    with one_thread():
        return work(settings)


def _as_run(outcome: TrialResult) -> TrainingRun:
    weights = {name: torch.from_numpy(array) for name, array in outcome.arrays.items()}
    return TrainingRun.from_dict(dict(outcome.record), weights or None)
