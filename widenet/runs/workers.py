"""Where trials run side by side on this machine, each on one core: threads, or processes for long work."""

import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cloudpickle
from loky import ProcessPoolExecutor

from widenet.base.errors import WidenetError
from widenet.base.memory import BASE_BYTES, usable_bytes
from widenet.base.threads import threads
from widenet.runs.trial import TrialResult
from widenet.runs.trials import Executor, Work

if TYPE_CHECKING:  # a cluster is made of what stands here
    from widenet.runs.cluster import Cluster

LONG = 15.0  # seconds from which work is worth processes, each of which imports torch again
IDLE = 60  # seconds without work after which a process ends
POLL = 1.0  # seconds between two looks at whether the parent is there
WORKER_ENDED = (
    "A worker process ended before its work was done, as happens where memory runs out: free memory, or use "
    "fewer rows, and start again."
)
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}


@dataclass(frozen=True)
class Workers:
    """What `run_trials` needs to know.

    Attributes:
        executor: Where trials are submitted.
        work: What runs them there.
        num_workers: How many of them run at a time; None where the place itself decides.
    """

    executor: Executor
    work: Work
    num_workers: int | None


@contextmanager
def workers_for(work: Work, seconds: float, cluster: "Cluster | None" = None) -> Iterator[Workers]:
    """Those of a cluster, or as many as torch has threads: processes if the work takes long, else threads.

    Many small operations of two threads wait for each other, because only one at a time holds Python's lock;
    processes do not. What trials compute is the same in both.

    Args:
        work: Maps settings of trials to their results.
        seconds: What all trials are expected to take.
        cluster: A cluster that was joined; None to stay on this machine.
    """
    import torch

    if cluster is not None:
        with cluster.workers_for(work) as workers:
            yield workers
        return

    num_workers = torch.get_num_threads()
    if worth_processes(seconds, num_workers) and (sent := _sent(work)) is not None:
        with processes(sent, num_workers) as workers:
            yield workers
    else:
        with threads() as (pool, _):
            yield Workers(pool, work, num_workers)


def worth_processes(seconds: float, num_workers: int, num_bytes: int = 0) -> bool:
    """Whether work of so many seconds is long enough, with memory for each to import all libraries.

    Args:
        seconds: What it is expected to take.
        num_workers: Processes.
        num_bytes: What the work itself holds at a time, in all of them.
    """
    room = usable_bytes() - num_bytes
    return seconds >= LONG and num_workers > 1 and num_workers * BASE_BYTES <= room


@contextmanager
def processes(sent: bytes, num_workers: int) -> Iterator[Workers]:
    """Processes of one thread each, which end with this one.

    Args:
        sent: The work, as of cloudpickle.
        num_workers: How many.
    """
    # Python's own pools run the script of the caller once more in each process; loky's do not.
    pool = ProcessPoolExecutor(
        num_workers, timeout=IDLE, initializer=_begin, initargs=(sent, os.getpid()), env=ONE_THREAD
    )
    try:
        yield Workers(pool, _run_sent, num_workers)
    finally:
        pool.shutdown(kill_workers=True)


def explained(error: Exception) -> Exception:
    """Why a trial failed: its own error, or a sentence where its process was ended from outside."""
    if not isinstance(error, BrokenProcessPool):
        return error
    return WidenetError(WORKER_ENDED)


def _sent(work: Work) -> bytes | None:
    """The work as it is sent to each process, once; None where a part of it cannot be sent."""
    try:
        return cloudpickle.dumps(work)
    except Exception:  # whatever a caller's own method raises when it is taken apart
        return None


_received: list[Work] = []  # in a worker process: the work that its trials are run by


def _begin(sent: bytes, parent: int) -> None:
    """Begin the life of a worker process."""
    import torch

    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes, but the first one decides
    torch.set_num_threads(1)
    _received.append(cloudpickle.loads(sent))


def _end_with(parent: int) -> None:
    """End once the parent is gone: what nobody waits for would keep a core from the run that goes on.

    Windows tells the number of a parent also when that is gone; there, processes end when they are `IDLE`.
    """
    while os.getppid() == parent:
        time.sleep(POLL)
    os._exit(1)


def _run_sent(settings: list[Mapping[str, Any]]) -> Iterable[TrialResult]:
    (work,) = _received
    return work(settings)
