"""A Dask cluster as a place where trials run and panels of Gram matrices are held."""

import socket
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any

import cloudpickle

from widenet.base.errors import ClusterLostError, InputError, WidenetError, WorkerLostError
from widenet.base.memory import BASE_BYTES, usable_bytes
from widenet.runs.address import ClusterAddress, address_parts, refuse_open
from widenet.runs.trials import Work
from widenet.runs.versions import code_here, other_code
from widenet.runs.workers import WORKER_ENDED, Workers
from widenet.spectrum.distributed import Capacity

WAIT = 45.0  # seconds in which a worker must be there, also after the last one died
REACH = 2.0  # seconds in which a worker must answer to be talked to without the scheduler between
POLL = 0.5  # seconds between two looks at whether a worker that computes is still there
HELD_SHARE = 0.6  # of a worker's memory: from 0.7 on Dask moves data to disk, from 0.8 on it pauses
LOST = (
    "The connection to the scheduler was lost: start the scheduler and its workers again, and then the same "
    "command, which goes on from its store."
)


@contextmanager
def joined(cluster: Any) -> Iterator["Cluster | None"]:
    """The cluster, connected, its workers checked; what was open before stays open.

    Args:
        cluster: The address of a scheduler, a `ClusterAddress`, a client of Dask, or a cluster of Dask; None,
            or a `Cluster` that was joined before, stays what it is.
    """
    if cluster is None or isinstance(cluster, Cluster):
        yield cluster
        return
    if isinstance(cluster, str):
        cluster = ClusterAddress(cluster)
    with ExitStack() as opened:
        if isinstance(cluster, ClusterAddress):
            client, is_ours = opened.enter_context(cluster.client()), True
        elif hasattr(cluster, "get_client"):  # the client that is open for it, or a new one
            before, client = _open_client(), cluster.get_client()
            is_ours = client is not before
            if is_ours:
                opened.enter_context(client)
        else:
            client, is_ours = cluster, False
        is_plain = isinstance(cluster, ClusterAddress) and cluster.must_stay_here
        found = Cluster(client, stays_here=is_plain)
        found.check()
        if is_ours:
            client.direct_to_workers = all(map(_is_reached, client.nthreads()))
        yield found


def _open_client() -> Any:
    """The client of Dask that is open by now; None where there is none."""
    from distributed import Client

    try:
        return Client.current()
    except ValueError:
        return None


class Cluster:
    """A cluster that was joined.

    Args:
        client: The open client of Dask.
        stays_here: Whether its scheduler and all its workers must listen on this machine alone.
    """

    def __init__(self, client: Any, *, stays_here: bool = False) -> None:
        self.client, self.stays_here = client, stays_here
        self._counted, self._num_workers = 0.0, 0

    def check(self) -> None:
        """Wait for a worker, and refuse those that are open to others, or would compute by other code."""
        self._wait_for_worker()
        if self.stays_here:
            with _told(self.client):
                refuse_open(self.client.scheduler_info()["address"])
        for worker, code in self._asked(code_here).items():
            self._check_worker(worker, code)

    def _check_worker(self, worker: str, code: object) -> None:
        """Refuse a worker by its address, or by the code that it says it has."""
        if self.stays_here:
            refuse_open(worker)
        if code != code_here():
            raise other_code(worker, code_here(), code if isinstance(code, tuple) else None)

    def num_workers(self) -> int:
        """How many workers there are, as far as is known; not asked more than once in two seconds."""
        now = time.monotonic()
        if now - self._counted > 2:
            with suppress(Exception):  # a number for people, not worth an error
                self._num_workers = len(self.client.nthreads())
            self._counted = now
        return self._num_workers

    def num_threads(self) -> int:
        """How many trials the workers run at a time."""
        with _told(self.client):
            return sum(self.client.nthreads().values()) or 1

    @contextmanager
    def workers_for(self, work: Work) -> Iterator[Workers]:
        """Where trials run: each worker is given the work once, however many trials it runs."""
        from widenet.runs.shipment import Shipment, ShippedWork

        name = f"widenet-{uuid.uuid4().hex}"
        shipment = Shipment(cloudpickle.dumps(work))
        with _told(self.client):
            self.client.register_plugin(shipment, name=name)
        try:
            yield Workers(_Trials(self.client), ShippedWork(name, code_here()), None)
        finally:
            with suppress(Exception):  # the scheduler may be gone
                self.client.unregister_worker_plugin(name)

    def capacities(self) -> Mapping[str, Capacity]:
        """What each worker offers that is there now."""
        found: dict[str, Any] = {}
        while not found:  # one that answers may die before it is asked
            self._wait_for_worker()
            found = self._asked(_offer)
        for worker, offer in found.items():  # some may have joined since the others were checked
            if isinstance(offer, Exception):
                raise offer
            self._check_worker(worker, offer[0])
        return {worker: capacity for worker, (_, capacity) in found.items()}

    def place(self, worker: str, make: Callable[..., Any], *arguments: Any) -> "_Object":
        """An object that a worker makes and holds, as an actor: what actors hold is never moved to disk."""
        with _told(self.client):
            options = {"actor": True, "workers": [worker], "allow_other_workers": False, "pure": False}
            return _Object(self.client, worker, self.client.submit(make, *arguments, **options))

    def _asked(self, function: Callable[..., Any]) -> dict[str, Any]:
        """What a function returns, or raises, on each worker that is still there."""
        with _told(self.client):
            found = self.client.run(function, on_error="return")
        return {worker: each for worker, each in found.items() if not isinstance(each, OSError)}

    def _wait_for_worker(self) -> None:
        try:
            with _told(self.client, is_patient=True):
                self.client.wait_for_workers(1, timeout=WAIT)
        except TimeoutError:
            raise InputError(
                f"The cluster had no worker for {WAIT:.0f} seconds: start one with `dask worker` and the "
                "address of the scheduler."
            ) from None


class _Object:
    """An actor of Dask, and its future, which tells whether it is still there."""

    def __init__(self, client: Any, worker: str, future: Any) -> None:
        self._client, self._worker, self._future = client, worker, future

    def call(self, method: str, *arguments: Any) -> "_Call":
        try:
            actor = self.until_done(self._future)
            return _Call(self, getattr(actor, method)(*arguments))
        except Exception as error:
            return _Call(self, error)

    def release(self) -> None:
        # Python may collect what is not needed in any thread, also in the one that would have to answer.
        with suppress(Exception):  # the client may be closed
            cancel = partial(self._client.cancel, [self._future], asynchronous=True, force=True)
            self._client.loop.add_callback(cancel)

    def until_done(self, future: Any) -> Any:
        """The result of a future; looks now and then whether there is still somebody who makes it."""
        while True:
            try:
                return future.result(timeout=POLL)
            except TimeoutError as error:
                if self._is_gone():
                    raise self.explained(error) from None
            except Exception as error:
                raise self.explained(error) from None

    def explained(self, error: Exception) -> Exception:
        """An error of the method, or that the worker is gone, which Dask tells in several ways."""
        if isinstance(error, WidenetError):
            return error
        # A future is cancelled where the scheduler that knew it was lost, even if it is there again.
        is_lost = isinstance(error, OSError | CancelledError) or "Actor was lost" in str(error)
        is_lost = is_lost or self._is_gone()
        return WorkerLostError(f"The worker at {self._worker} is gone.") if is_lost else error

    def _is_gone(self) -> bool:
        with _told(self._client):
            return self._worker not in self._client.nthreads()


class _Call:
    """A call that has begun, or could not begin."""

    def __init__(self, target: _Object, begun: Any) -> None:
        self._target, self._begun = target, begun

    def result(self) -> Any:
        if isinstance(self._begun, Exception):
            raise self._target.explained(self._begun)
        return self._target.until_done(self._begun)


class _Trials:
    """The cluster as an executor; Dask itself runs trials again whose worker died."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        if self._client.status != "running":
            raise ClusterLostError(LOST)
        with _told(self._client):
            return _Trial(self._client, self._client.submit(function, *arguments, pure=False))


class _Trial(Future[Any]):
    """A future of Dask as one of Python's, with its errors in sentences."""

    def __init__(self, client: Any, future: Any) -> None:
        super().__init__()
        self._client, self._future = client, future
        future.add_done_callback(lambda _: self._settle())

    def _settle(self) -> None:
        if not self.set_running_or_notify_cancel():
            return
        try:
            self.set_result(self._future.result())
        except Exception as error:
            self.set_exception(self._explained(error))

    def _explained(self, error: Exception) -> Exception:
        """A sentence where the work itself did not fail."""
        if self._client.status != "running" or self._future.status in ("cancelled", "lost"):
            return ClusterLostError(LOST)
        return WidenetError(WORKER_ENDED) if type(error).__name__ == "KilledWorker" else error

    def cancel(self) -> bool:
        """Also where it runs: nobody will ask for it."""
        with suppress(Exception):  # the scheduler may be gone
            self._future.cancel(force=True)
        return super().cancel()


def _offer(dask_worker: Any) -> tuple[tuple[str, ...], Capacity]:
    """The code of a worker, and what it can hold; asked there."""
    limit = dask_worker.memory_manager.memory_limit or usable_bytes()
    return code_here(), Capacity(int(HELD_SHARE * limit) - BASE_BYTES, dask_worker.state.nthreads)


@contextmanager
def _told(client: Any, *, is_patient: bool = False) -> Iterator[None]:
    """Where the scheduler does not answer, say so in one sentence; who is patient is told of a timeout.

    A client that Dask closed meanwhile raises whatever it meets first.
    """
    try:
        yield
    except WidenetError:
        raise
    except Exception as error:
        is_late = is_patient and isinstance(error, TimeoutError)
        if client.status == "running" and (is_late or not isinstance(error, OSError | RuntimeError)):
            raise
        raise ClusterLostError(LOST) from error


def _is_reached(worker: str) -> bool:
    """Whether this machine reaches a worker: what is sent through the scheduler is sent twice."""
    _, host, port = address_parts(worker)
    try:
        with socket.create_connection((host, port), timeout=REACH):
            return True
    except OSError:
        return False
