"""Work that every worker of a Dask cluster is given once: those that are there, and those that join later."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import cloudpickle
from distributed import Worker, WorkerPlugin, get_worker
from threadpoolctl import threadpool_limits

from widenet.base.errors import InputError
from widenet.runs.trial import TrialResult
from widenet.runs.trials import Work
from widenet.runs.versions import code_here, other_code


class Shipment(WorkerPlugin):
    """Holds the work on a worker; the scheduler keeps it for workers to come.

    Scattered data would be lost with the workers that hold it; arguments would be sent with every trial.
    """

    def __init__(self, sent: bytes) -> None:
        self.sent = sent

    def setup(self, worker: Worker) -> None:
        self._lock = threading.Lock()
        self._work: Work | None = None
        self._limits: threadpool_limits | None = None

    def teardown(self, worker: Worker) -> None:
        if self._limits is not None:
            self._limits.restore_original_limits()

    def work(self) -> Work:
        """The work, unpacked when a trial first needs it: that imports torch, for which no worker waits."""
        with self._lock:
            if self._work is None:
                self._work = _unpacked(self.sent)
                self._limits = threadpool_limits(1)  # of this process: numbers must not depend on its cores
            return self._work


def _unpacked(sent: bytes) -> Work:
    try:
        work: Work = cloudpickle.loads(sent)
    except ImportError as error:
        raise InputError(f"A worker lacks what this work needs ({error}): install it there, too.") from None
    return work


@dataclass(frozen=True)
class ShippedWork:
    """Work that is sent with every trial: the name of the shipment that has all else.

    Attributes:
        name: Of the shipment.
        code: What computes; a worker that joined later must have the same.
    """

    name: str
    code: tuple[str, ...]

    def __call__(self, settings: list[Mapping[str, Any]]) -> Iterable[TrialResult]:
        import torch

        if code_here() != self.code:
            raise other_code(get_worker().address, self.code, code_here())
        shipment = get_worker().plugins[self.name]
        assert isinstance(shipment, Shipment)
        work = shipment.work()
        torch.set_num_threads(1)  # of this thread
        return work(settings)
