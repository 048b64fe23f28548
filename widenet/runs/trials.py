"""Trials that are run once: found in the store, waited for, or computed group by group."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from widenet.base.errors import ClusterLostError, OutOfMemoryError, WidenetError
from widenet.base.memory import ADVICE, is_out_of_memory
from widenet.base.progress import SILENT, Progress
from widenet.runs.differences import note_differences
from widenet.runs.store import Store
from widenet.runs.tables import Row
from widenet.runs.trial import Failure, Trial, TrialResult

POLL = 0.25  # seconds between two looks at the trials that other processes run

Work = Callable[[list[Mapping[str, Any]]], Iterable[TrialResult]]


class Executor(Protocol):
    """A place where work runs: executors of `concurrent.futures` are, and so is a client of Dask."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any:
        """A future of the function's value."""


def run_trials(
    groups: Sequence[Sequence[Trial]],
    work: Work,
    *,
    store: Store | None = None,
    executor: Executor | None = None,
    num_workers: int | None = None,
    progress: Progress = SILENT,
) -> tuple[TrialResult | Failure, ...]:
    """Bring every trial to its end, each of them once.

    Finished trials are read from the store. Of each group the others are claimed, run together, and committed
    in one transaction as soon as they are done. What another process runs is waited for, and taken over if
    that process dies. A group that runs out of memory is halved: after all others have come to their end, its
    halves are run one at a time, down to single trials. When this function is left by an exception, such as a
    `KeyboardInterrupt`, groups that were done by then are committed and claims given back.

    Args:
        groups: Trials that are best computed together; a trial that occurs twice is run once.
        work: Maps the settings of some trials of one group to a result for each, in order. With an executor
            of processes it must be a function that can be sent to them, and they must ignore SIGINT, because
            a pool can hang when Ctrl-C ends its processes under it.
        store: Where finished trials are kept; without one, nothing outlives the call.
        executor: Where groups run side by side; by default one after the other in this process.
        num_workers: Groups that are claimed and submitted at a time, so that another process finds some left;
            None for all of them.
        progress: Told how many of the trials are done, and what keeps the run from going on from its store.

    Returns:
        What came of each trial, in the order of the groups and of the trials in them: a result as the store
        gives it back, or the failure of a group that raised an error, or of a trial that ran out of memory
        alone.
    """
    note_differences(store, [trial for group in groups for trial in group], progress)
    run = _Run(groups, work, store or _Nowhere(), executor or _InProcess(), num_workers, progress)
    try:
        run.finish()
    except BaseException:
        run.keep_what_is_done()
        raise
    return tuple(run.outcomes[trial.key] for group in groups for trial in group)


class _Nowhere:
    """Stands for a store where there is none."""

    def get(self, trial: Trial) -> TrialResult | None:
        return None

    def claim(self, trials: Iterable[Trial]) -> list[Trial]:
        return list(trials)

    def commit(self, rows: Sequence[Row]) -> list[TrialResult]:
        return [row.result() for row in rows]

    def release(self, trials: Iterable[Trial]) -> None:
        return None


class _InProcess:
    """Runs what is submitted at once; an interruption goes on to the caller."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


class _Run:
    """The state of `run_trials`: every trial waits, runs here, or has come to its end.

    Attributes:
        waiting: For each group the trials that nobody has begun, or that another process runs, by key.
        running: For each ticket the future of a group and its trials.
        too_large: Halves of groups that ran out of memory beside others; None once they run one at a time.
        outcomes: What came of the trials that have come to their end, by key.
    """

    def __init__(
        self,
        groups: Sequence[Sequence[Trial]],
        work: Work,
        store: Store | _Nowhere,
        executor: Executor,
        num_workers: int | None,
        progress: Progress,
    ) -> None:
        self.num_workers = num_workers
        self.work, self.store, self.executor, self.progress = work, store, executor, progress
        first = {trial.key: g for g in reversed(range(len(groups))) for trial in groups[g]}
        self.waiting = [
            {trial.key: trial for trial in group if first[trial.key] == g} for g, group in enumerate(groups)
        ]
        self.running: dict[int, tuple[Any, list[Trial]]] = {}
        self.too_large: list[dict[str, Trial]] | None = []
        self.outcomes: dict[str, TrialResult | Failure] = {}
        self.total = len(first)
        self._tickets = count()
        self._done: SimpleQueue[int] = SimpleQueue()

    def finish(self) -> None:
        self.load()
        self.finish_waiting()
        if self.too_large:
            self.waiting, self.too_large, self.num_workers = self.too_large, None, 1
            self.finish_waiting()

    def finish_waiting(self) -> None:
        while any(self.waiting) or self.running:
            for group in self.waiting:  # which may get longer on the way
                while self.num_workers is not None and len(self.running) >= self.num_workers:
                    self.settle(timeout=POLL)
                self.start(group)
                self.settle(timeout=0)  # in this process a group is done once it has started
            if any(self.waiting) or self.running:
                self.settle(timeout=POLL)
                self.load()

    def load(self) -> None:
        """Read what has been finished before or elsewhere."""
        for group in self.waiting:
            for key, trial in list(group.items()):
                result = self.store.get(trial)
                if result is not None:
                    self.outcomes[key] = result
                    del group[key]
        self.tell()

    def start(self, group: dict[str, Trial]) -> None:
        """Run those trials of a group together that nobody else runs."""
        claimed = self.store.claim(group.values()) if group else []
        if not claimed:
            return
        ticket = next(self._tickets)
        try:
            future = self.executor.submit(_run_group, self.work, claimed)
        except Exception as error:  # a pool whose processes were killed takes no more work
            future = Future()
            future.set_exception(error)
        self.running[ticket] = (future, claimed)
        for trial in claimed:
            del group[trial.key]
        future.add_done_callback(lambda _: self._done.put(ticket))

    def settle(self, *, timeout: float) -> None:
        """Commit the groups that are done, waiting for the first of them."""
        with suppress(Empty):
            self.settle_group(self._done.get(timeout=timeout))
            while True:
                self.settle_group(self._done.get_nowait())

    def settle_group(self, ticket: int) -> None:
        future, trials = self.running[ticket]
        try:
            rows = future.result()
        except ClusterLostError:  # the others would fail alike
            raise
        except Exception as error:
            self.store.release(trials)
            if is_out_of_memory(error):
                self.halve(trials)
            else:
                self.outcomes |= {trial.key: Failure(trial, error) for trial in trials}
        else:
            results = self.store.commit(rows)
            self.outcomes |= {trial.key: result for trial, result in zip(trials, results, strict=True)}
        del self.running[ticket]
        self.tell()

    def halve(self, trials: list[Trial]) -> None:
        """Let halves of a group that ran out of memory wait; a trial that had it to itself has failed."""
        if self.too_large is None and len(trials) == 1:
            error = OutOfMemoryError(f"It ran out of memory: {ADVICE}.")
            self.outcomes[trials[0].key] = Failure(trials[0], error)
            return
        middle = len(trials) // 2
        halves = [{trial.key: trial for trial in half} for half in (trials[:middle], trials[middle:])]
        (self.waiting if self.too_large is None else self.too_large).extend(filter(None, halves))

    def keep_what_is_done(self) -> None:
        """Commit groups that are done and give up the others, as far as the store can be written."""
        futures = [future for future, _ in self.running.values()]
        done = [future for future in futures if future.done()]
        for future in futures:
            if future not in done:
                future.cancel()
        with suppress(WidenetError):
            for future in done:
                if not future.cancelled() and future.exception() is None:
                    self.store.commit(future.result())
        with suppress(WidenetError):
            running = [trial for _, trials in self.running.values() for trial in trials]
            waiting = [*self.waiting, *(self.too_large or ())]
            self.store.release(running + [trial for group in waiting for trial in group.values()])

    def tell(self) -> None:
        self.progress("trials", len(self.outcomes), self.total)


def _run_group(work: Work, trials: list[Trial]) -> list[Row]:
    """The rows of a group's results, made where the work runs: what cannot be stored fails there."""
    results = list(work([trial.settings for trial in trials]))
    if len(results) != len(trials):
        raise WidenetError(f"The work gave {len(results)} results for {len(trials)} trials.")
    return [Row.of(trial, result) for trial, result in zip(trials, results, strict=True)]
