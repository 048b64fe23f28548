"""A kind of work that trials name: how it is done, what it costs, and which code it depends on."""

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from widenet.base.errors import WidenetError
from widenet.runs.code import code_version
from widenet.runs.kept import KeptState
from widenet.runs.store import Store
from widenet.runs.trial import Record, Trial, TrialResult
from widenet.study.speed import Speed
from widenet.study.study import named


@dataclass(frozen=True)
class Desk:
    """Where a job does its work.

    Attributes:
        store: The store's file, where states of long trials are kept; None where there is none.
        stopped: Set when the work is to end without a result; None where nobody can ask for that.
    """

    store: Path | None = None
    stopped: threading.Event | None = None

    def look_up(self) -> None:
        """Leave the work by an error if it is to end; to be called every second or so."""
        if self.stopped is not None and self.stopped.is_set():
            raise WidenetError("The run was stopped.")

    @contextmanager
    def kept(self, settings: Record) -> Iterator[KeptState]:
        """What an earlier run left of this trial, and a place to keep how far it is now."""
        if self.store is None:
            yield KeptState(None, figure_trial(settings))
            return
        with Store(self.store) as store:
            yield KeptState(store, figure_trial(settings))


@dataclass(frozen=True)
class Job:
    """One kind of work.

    Attributes:
        work: From the settings of trials that are computed together to a result for each, in order.
        seconds: What they take on one thread of a machine of this speed.
        num_bytes: Memory that they hold at a time; by default nothing to speak of.
        together: How many trials like one are best computed together at most; by default all.
        small_steps: Whether it takes many small steps, for which threads wait for each other: only one at a
            time holds Python's lock. Processes do not, but share nothing that one of them has computed.
    """

    work: Callable[[Sequence[Record], Desk], Iterable[TrialResult]]
    seconds: Callable[[Sequence[Record], Speed], float]
    num_bytes: Callable[[Sequence[Record]], int] = lambda trials: 0
    together: Callable[[Record], int] = lambda trial: sys.maxsize
    small_steps: bool = False


def job_of(settings: Record) -> Job:
    """The job of a trial, whose settings say where it stands, as "module:NAME"."""
    job: Job = named(settings["job"])
    return job


def figure_trial(settings: Record) -> Trial:
    """The trial with these settings, by the code of its job as it is now, with all that this imports.

    Its data follow from the settings.
    """
    module, _, _ = settings["job"].partition(":")
    return Trial(settings, f"{code_version(module)} torch {torch.__version__}", "")


def do_work(desk: Desk, settings: Sequence[Record]) -> list[TrialResult]:
    """The work of trials that are computed together."""
    desk.look_up()
    return list(job_of(settings[0]).work(settings, desk))


def work_at(desk: Desk) -> Callable[[Sequence[Record]], list[TrialResult]]:
    """The work as `run_trials` takes it."""
    return partial(do_work, desk)
