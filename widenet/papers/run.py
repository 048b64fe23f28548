"""A figure, run: plan → forecast → trials in one store → curves → claims."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import cloudpickle
import torch

from widenet.base.memory import BASE_BYTES, usable_bytes
from widenet.base.progress import SILENT, Progress, on_workers
from widenet.base.threads import threads
from widenet.papers.claim import judged_claim
from widenet.papers.differences import differences
from widenet.papers.figure import Done, Figure, FigureSettings, Scale
from widenet.papers.jobs.job import Desk, figure_trial, job_of, work_at
from widenet.papers.plan import Piece, most_bytes, pieces, wall_seconds, workers_within
from widenet.papers.result import FailedTrial, FigureResult, trial_table
from widenet.runs.cluster import Cluster, joined
from widenet.runs.store import Store
from widenet.runs.trial import Failure, Record, TrialResult
from widenet.runs.trials import Executor, run_trials
from widenet.runs.workers import Workers, explained, processes, worth_processes
from widenet.study.forecast import Forecast
from widenet.study.speed import Speed, measure_thread_speed
from widenet.training.sweeps import on_one_thread


def run_figure(
    figure: Figure,
    scale: Scale = "quick",
    settings: FigureSettings | None = None,
    *,
    store: Store | None = None,
    executor: Executor | None = None,
    num_workers: int | None = None,
    cluster: Any = None,
    allow_long: bool = False,
    progress: Progress = SILENT,
) -> FigureResult:
    """Run a figure of a paper.

    Args:
        figure: From `figure_by_name`.
        scale: Where settings start from.
        settings: Settings in place of those of the scale.
        store: Where finished trials, and states of long ones, are kept; what it has is not run again.
        executor: Where pieces of the plan run side by side, with the interface of `concurrent.futures`; by
            default here, as many as torch has threads and memory has room for: in threads, or in processes
            where long work takes many small steps.
        num_workers: Pieces that the executor runs at a time; the plan is cut to keep as many busy.
        cluster: Where pieces run instead: the address of a Dask scheduler, a `ClusterAddress`, or a client or
            cluster of Dask. States of long trials are not kept there.
        allow_long: Whether a run whose forecast exceeds an hour may go on.
        progress: Told of the trials that are done.
    """
    begin = time.perf_counter()
    chosen = figure.scales[scale] if settings is None else settings
    with joined(cluster) as place:
        num_workers = num_workers or (torch.get_num_threads() if place is None else place.num_threads())
        planned = pieces(figure.plan(chosen), num_workers, measure_thread_speed())
        left = _left(planned, store)
        if executor is None and place is None:
            num_workers = workers_within(left, num_workers, usable_bytes())
        forecast = _forecast(left, num_workers)
        progress.note(forecast)
        forecast.refuse_long("use the scale quick, or a smaller size", allow_long=allow_long)
        told = progress if place is None else on_workers(progress, place.num_workers)
        with _workers(left, store, executor, place, num_workers) as workers:
            done = _run_pieces(planned, workers, store, told)
    results = [Done(trial, each if isinstance(each, TrialResult) else None) for trial, each in done]
    once = {figure_trial(trial).key: _summary(trial, each) for trial, each in done}  # some serve two curves
    curves = tuple(figure.curves(chosen, results))
    by_name = {curve.name: curve for curve in curves}
    return FigureResult(
        paper=figure.paper,
        figure=figure.name,
        title=figure.title,
        place=figure.place,
        scale=scale,
        settings=chosen,
        settings_changed=chosen != figure.scales[scale],
        claims=tuple(judged_claim(claim, chosen, by_name) for claim in figure.claims),
        differences=differences(figure, chosen),
        axes=figure.axes,
        curves=curves,
        trials=trial_table(list(once.values())),
        failures=tuple(
            FailedTrial(dict(trial), str(explained(each.error)))
            for trial, each in done
            if isinstance(each, Failure)
        ),
        forecast=forecast,
        seconds=time.perf_counter() - begin,
        seed=chosen.seed,
    )


def figure_forecast(
    figure: Figure,
    settings: FigureSettings,
    speed: Speed,
    store: Store | None = None,
    cluster: Cluster | None = None,
) -> Forecast:
    """What a figure costs on the threads of this process, or of a cluster, without what the store has."""
    num_workers = torch.get_num_threads() if cluster is None else cluster.num_threads()
    left = _left(pieces(figure.plan(settings), num_workers, speed), store)
    if cluster is None:
        num_workers = workers_within(left, num_workers, usable_bytes())
    return _forecast(left, num_workers)


def _run_pieces(
    planned: Sequence[Piece], workers: Workers, store: Store | None, progress: Progress
) -> list[tuple[Record, TrialResult | Failure]]:
    """What came of every trial, in the order of the plan."""
    outcomes = run_trials(
        [[figure_trial(settings) for settings in piece.trials] for piece in planned],
        workers.work,
        store=store,
        executor=workers.executor,
        num_workers=workers.num_workers,
        progress=progress,
    )
    places = [place for piece in planned for place in piece.places]
    trials = [trial for piece in planned for trial in piece.trials]
    in_order = sorted(zip(places, trials, outcomes, strict=True), key=lambda each: each[0])
    return [(trial, outcome) for _, trial, outcome in in_order]


@contextmanager
def _workers(
    left: Sequence[Piece],
    store: Store | None,
    executor: Executor | None,
    place: Cluster | None,
    num_workers: int,
) -> Iterator[Workers]:
    """Where the pieces run that are left: a cluster, the caller's executor, processes, or threads."""
    path = None if store is None else store.path
    if place is not None:
        with place.workers_for(work_at(Desk())) as workers:  # other machines do not see the store's file
            yield workers
    elif executor is not None:
        yield Workers(executor, on_one_thread(work_at(Desk(path))), num_workers)
    elif _are_for_processes(left, num_workers):
        with processes(cloudpickle.dumps(work_at(Desk(path))), min(num_workers, len(left))) as workers:
            yield workers
    else:
        with threads(num_workers) as (pool, stopped):
            yield Workers(pool, work_at(Desk(path, stopped)), num_workers)


def _are_for_processes(left: Sequence[Piece], num_workers: int) -> bool:
    """Whether they take long, most of the time in small steps."""
    small = sum(piece.seconds for piece in left if job_of(piece.trials[0]).small_steps)
    are_small = small > sum(piece.seconds for piece in left) / 2
    held = most_bytes(left, num_workers)
    return are_small and worth_processes(wall_seconds(left, num_workers), num_workers, held)


def _left(planned: Sequence[Piece], store: Store | None) -> Sequence[Piece]:
    """The pieces of which some trial is not in the store."""
    if store is None:
        return planned
    return [piece for piece in planned if any(store.get(figure_trial(one)) is None for one in piece.trials)]


def _forecast(left: Sequence[Piece], num_workers: int) -> Forecast:
    """What they cost."""
    return Forecast(wall_seconds(left, num_workers), BASE_BYTES + most_bytes(left, num_workers))


def _summary(settings: Record, outcome: TrialResult | Failure) -> dict[str, Any]:
    """A trial's settings, with the few numbers of its record that are no curve."""
    if isinstance(outcome, Failure):
        return {**settings, "failed": True}
    kept = (name for name, value in outcome.record.items() if isinstance(value, bool | int | float | str))
    return {**settings, **{name: outcome.record[name] for name in kept if name not in settings}}
