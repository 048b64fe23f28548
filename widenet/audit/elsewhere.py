"""Kernel matrices of an audit that the workers of a cluster hold."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from widenet.audit.findings import GramPlan, Held
from widenet.base.progress import Progress, on_workers
from widenet.kernels.kernel import Kernel
from widenet.runs.cluster import Cluster, joined
from widenet.runs.store import Store
from widenet.spectrum.distributed import DistributedGram, RowsFile
from widenet.spectrum.panels import held_bytes
from widenet.study.forecast import Forecast


@dataclass(frozen=True)
class GramsElsewhere:
    """Makes Gram operators that workers hold.

    Attributes:
        cluster: The workers.
        path: File for the rows, which workers read for themselves; its name goes on with their precision.
    """

    cluster: Cluster
    path: Path
    _written: dict[torch.dtype, tuple[Tensor, RowsFile]] = field(default_factory=dict)

    def __call__(self, kernel: Kernel, X: Tensor, dtype: torch.dtype) -> DistributedGram:
        return DistributedGram(self.cluster, kernel, X, self._rows(X), dtype=dtype)

    def _rows(self, X: Tensor) -> RowsFile:
        """The file, written once: workers have it open while the next matrix is made of the same rows."""
        if X.dtype not in self._written or not torch.equal(self._written[X.dtype][0], X):
            bits = torch.finfo(X.dtype).bits
            path = self.path.with_name(f"{self.path.stem}{bits}{self.path.suffix}")
            self._written[X.dtype] = (X, RowsFile.write(path, X))
        return self._written[X.dtype][1]

    def remove_rows(self) -> None:
        """Remove what was written."""
        for _, rows in self._written.values():
            Path(rows.path).unlink(missing_ok=True)

    def planned(
        self, n: int, forecast: Forecast, plan: GramPlan
    ) -> tuple[Forecast, GramPlan, "GramsElsewhere | None"]:
        """The forecast and plan with the cluster; a matrix that this process can hold whole stays here.

        With the whole matrix at hand, an audit is exact in places where it estimates without. The time is
        that of this machine, shared by all threads of the workers, which is what a cluster gains at most.
        """
        if plan.held is Held.DENSE:
            return forecast, plan, None
        share = min(1.0, torch.get_num_threads() / self.cluster.num_threads())
        here = max(forecast.memory_bytes or 0, plan.num_bytes) - plan.num_bytes
        there = GramPlan(Held.WORKERS, held_bytes(n, torch.float32))
        return Forecast(share * forecast.seconds, here), there, self


@contextmanager
def grams_on(
    cluster: Any, store: Store | None, progress: Progress
) -> Iterator[tuple[GramsElsewhere, Progress]]:
    """What makes Gram operators on a cluster, and progress that tells how many workers there are.

    Args:
        cluster: What `joined` takes.
        store: The rows are put beside it while the audit lasts; without one, into a temporary folder.
        progress: Told of the stages.
    """
    with joined(cluster) as place, tempfile.TemporaryDirectory() as folder:
        assert place is not None
        path = Path(folder, "rows.npy")
        if store is not None:
            path = store.path.with_name(f"{store.path.name}.rows.npy")
        elsewhere = GramsElsewhere(place, path)
        try:
            yield elsewhere, on_workers(progress, place.num_workers)
        finally:
            elsewhere.remove_rows()
