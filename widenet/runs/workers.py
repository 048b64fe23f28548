"""Where trials run side by side on this machine, each on one core: threads, or processes for long work."""

import signal
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
IDLE = 60  # seconds without work after which a process ends, such as when this one was killed
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
    sent = _sent(work) if seconds >= LONG and _have_room(num_workers) else None
    if sent is None:
        with threads() as (pool, _):
            yield Workers(pool, work, num_workers)
        return
    # Python's own pools run the script of the caller once more in each process; loky's do not.
    pool = ProcessPoolExecutor(
        num_workers, timeout=IDLE, initializer=_begin, initargs=(sent,), env=ONE_THREAD
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


def _have_room(num_workers: int) -> bool:
    """Whether there are several workers, and memory for each of them to import all libraries."""
    return num_workers > 1 and num_workers * BASE_BYTES <= usable_bytes()


def _sent(work: Work) -> bytes | None:
    """The work as it is sent to each process, once; None where a part of it cannot be sent."""
    try:
        return cloudpickle.dumps(work)
    except Exception:  # whatever a caller's own method raises when it is taken apart
        return None


_received: list[Work] = []  # in a worker process: the work that its trials are run by


def _begin(sent: bytes) -> None:
    """Begin the life of a worker process."""
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes, but the first one decides
    torch.set_num_threads(1)
    _received.append(cloudpickle.loads(sent))


def _run_sent(settings: list[Mapping[str, Any]]) -> Iterable[TrialResult]:
    (work,) = _received
    return work(settings)
