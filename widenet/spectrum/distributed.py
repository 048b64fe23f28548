"""A Gram operator whose lower half is held by workers elsewhere, in panels of tiles.

Its numbers do not depend on how many workers there are, which of them holds what, or who died on the way.
Those of up to `COLUMNS` vectors are those of a `TiledGram` on such a machine, bit for bit.
"""

import hashlib
import os
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count
from math import inf
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from widenet.base.errors import InputError, WidenetError, WorkerLostError
from widenet.base.threads import one_thread
from widenet.base.wording import counted, memory
from widenet.kernels.kernel import Kernel
from widenet.spectrum.gram import SizedGram, kernel_columns
from widenet.spectrum.panels import TILE, Panel, Tiles, added_up, panel_product, panels_of

MOST_ATTEMPTS = 10  # at a product: workers that take too much memory would be lost again and again
COLUMNS = 64  # of a product at a time: what all panels send back of them is held by the driver


class Pending(Protocol):
    """A call of a method elsewhere."""

    def result(self) -> Any:
        """What the method returned, or the error that it raised.

        Raises:
            WorkerLostError: If the worker is gone, and with it the object.
        """


class Remote(Protocol):
    """An object that a worker holds."""

    def call(self, method: str, *arguments: Any) -> Pending:
        """Begin a call of a method."""

    def release(self) -> None:
        """Let the worker forget it."""


@dataclass(frozen=True)
class Capacity:
    """What a worker offers."""

    num_bytes: int  # that it may hold
    num_threads: int


class Hosts(Protocol):
    """Workers that hold objects for others; those of a Dask cluster are, see `widenet.runs.cluster`."""

    def capacities(self) -> Mapping[str, Capacity]:
        """The workers that are there now, by their addresses; waits for the first where there is none."""

    def place(self, worker: str, make: Callable[..., Any], *arguments: Any) -> Remote:
        """The object `make(*arguments)`, made and held by a worker."""


@dataclass(frozen=True)
class RowsFile:
    """Rows (n, d) in a file that workers read for themselves, with the hash of their bytes."""

    path: str
    digest: str

    @classmethod
    def write(cls, path: Path, X: Tensor) -> "RowsFile":
        """Write rows to a file of NumPy's, whole or not at all."""
        array = X.contiguous().numpy()
        part = path.with_name(f"{path.name}.part")
        with part.open("wb") as file:
            np.save(file, array)
        os.replace(part, path)
        return cls(str(path.absolute()), _digest(array))

    def read(self) -> np.ndarray:
        """The rows, mapped into memory; refused where they are not those that were written."""
        try:
            array = np.load(self.path, mmap_mode="c", allow_pickle=False)  # torch takes none to read only
        except (OSError, ValueError) as error:
            raise InputError(
                f"A worker cannot read {self.path} ({error}): use a `store` in a folder that all workers see "
                "under the same path."
            ) from None
        if _digest(array) != self.digest:
            raise InputError(
                f"A worker found other rows in {self.path}: use a `store` in a folder that all workers share."
            )
        return array


def _digest(array: np.ndarray) -> str:
    # Shape and type belong to it: the same bytes can be other rows.
    return hashlib.sha256(array.data if array.size else b"").hexdigest() + f" {array.dtype} {array.shape}"


class PanelHolder:
    """What a worker holds: the tiles of some panels, computed when they are first used.

    Args:
        kernel: The kernel.
        rows: The rows of all panels.
        tile: Rows and columns of a tile.
        dtype: Precision of tiles, by its name in torch.
        keeps: Whether tiles are held; else they are computed anew for every product.
        num_threads: Panels whose products are computed side by side, each on one thread.
    """

    def __init__(
        self, kernel: Kernel, rows: RowsFile, tile: int, dtype: str, keeps: bool, num_threads: int
    ) -> None:
        X = torch.from_numpy(rows.read())
        self.tiles = Tiles(kernel, X, tile, getattr(torch, dtype), inf if keeps else 0)
        # Kept, because what BLAS prepares in a new thread takes up to a tenth of a small product.
        self._pool = ThreadPoolExecutor(num_threads, initializer=torch.set_num_threads, initargs=(1,))

    def products(self, panels: Sequence[Panel], Vt: np.ndarray) -> list[np.ndarray]:
        """What each panel contributes to (H V)ᵀ, for all columns of Vᵀ (p, n), shapes (p, rows)."""
        ends = range(self.tiles.size, Vt.shape[1], self.tiles.size)
        # Those of `blocks_of`, copied once: memory that is taken anew costs a worker more than the copy.
        blocks = [torch.tensor(block) for block in np.split(Vt, ends, axis=1)]
        found = self._pool.map(partial(panel_product, self.tiles, blocks=blocks), panels)
        return [product.numpy() for product in found]


class DistributedGram(SizedGram):
    """A Gram matrix that workers hold: each gets panels as it has room, and those of one that died move.

    Nothing is computed before the first product. Kernel values are computed in the precision of X and rounded
    to `dtype` as `Tiles` does, in which products of panels are made and sent; they are added up in the
    precision of the vectors.

    Args:
        hosts: The workers.
        kernel: The kernel.
        X: Rows, shape (n, d).
        rows: The same rows in a file that all workers see.
        dtype: Precision of the tiles.
        keeps: Whether workers hold their tiles; else they compute them anew for every product.
        tile: Rows and columns of a tile.
    """

    def __init__(
        self,
        hosts: Hosts,
        kernel: Kernel,
        X: Tensor,
        rows: RowsFile,
        *,
        dtype: torch.dtype | None = None,
        keeps: bool = True,
        tile: int = TILE,
    ) -> None:
        super().__init__(len(X), dtype or X.dtype)
        self.hosts, self.kernel, self.X, self.rows, self.keeps, self.tile = (
            hosts,
            kernel,
            X,
            rows,
            keeps,
            tile,
        )
        self.panels = panels_of(self.n, tile)
        self._holders: dict[str, Remote] = {}
        self._worker_of: dict[Panel, str] = {}
        weakref.finalize(self, _release, self._holders).atexit = False

    def diag(self) -> Tensor:
        return self.kernel.diag(self.X)

    def columns(self, places: Tensor) -> Tensor:
        """Computed here: they are few, and their rows are at hand."""
        return kernel_columns(self.kernel, self.X, places)

    def recomputed(self) -> "DistributedGram":
        """The same matrix in float64, its tiles computed anew for each product and not kept."""
        return DistributedGram(
            self.hosts, self.kernel, self.X, self.rows, dtype=torch.float64, keeps=False, tile=self.tile
        )

    def matmul(self, V: Tensor) -> Tensor:
        with one_thread():  # workers may need the other cores, on which further ones would wait in a loop
            parts = [self._product(V[:, j : j + COLUMNS]) for j in range(0, V.shape[1], COLUMNS)]
            return torch.cat(parts).T if parts else torch.zeros_like(V)

    def _product(self, V: Tensor) -> Tensor:
        """(H V)ᵀ, shape (p, n)."""
        products = self._products(V.T.to(self.dtype).contiguous().numpy())
        # In this order, whoever sent it, and when.
        ordered = (torch.from_numpy(products.pop(panel)) for panel in self.panels)
        return added_up(self.panels, ordered, V.T)

    def _products(self, Vt: np.ndarray) -> dict[Panel, np.ndarray]:
        """What each panel contributes; what is lost with a worker is computed by others."""
        found: dict[Panel, np.ndarray] = {}
        attempts = count(1)
        while missing := [panel for panel in self.panels if panel not in found]:
            if next(attempts) > MOST_ATTEMPTS:
                raise WidenetError(
                    "Workers are lost again and again while they compute: look into their logs, give them "
                    "more memory or start more of them, and start again."
                )
            self._settle(missing)
            by_worker: dict[str, list[Panel]] = {}
            for panel in missing:
                by_worker.setdefault(self._worker_of[panel], []).append(panel)
            calls = {
                worker: self._holders[worker].call("products", own, Vt) for worker, own in by_worker.items()
            }
            for worker, call in calls.items():
                own = by_worker[worker]
                try:
                    found |= zip(own, call.result(), strict=True)
                except WorkerLostError:
                    self._forget(worker)
        return found

    def _forget(self, worker: str) -> None:
        """Let others have the panels of a worker that is gone."""
        self._holders.pop(worker, None)
        self._worker_of = {panel: at for panel, at in self._worker_of.items() if at != worker}

    def _settle(self, panels: Collection[Panel]) -> None:
        """Give the panels that nobody holds to workers that have room, the least loaded first."""
        if all(panel in self._worker_of for panel in panels):
            return
        capacities = self.hosts.capacities()
        for worker in self._holders.keys() - capacities:
            self._forget(worker)
        loads = {worker: sum(map(self._size, self._held_by(worker))) for worker in capacities}
        for panel in panels:
            if panel in self._worker_of:
                continue
            size = self._size(panel)
            limits = {at: each.num_bytes if self.keeps else inf for at, each in capacities.items()}
            fitting = [at for at, limit in limits.items() if loads[at] + size <= limit]
            if not fitting:
                raise self._too_large(capacities)
            worker = min(fitting, key=lambda at: loads[at] / capacities[at].num_threads)
            if worker not in self._holders:
                self._holders[worker] = self._make_holder(worker, capacities[worker])
            self._worker_of[panel] = worker
            loads[worker] += size

    def _make_holder(self, worker: str, room: Capacity) -> Remote:
        given = (self.kernel, self.rows, self.tile, _name(self.dtype), self.keeps, room.num_threads)
        return self.hosts.place(worker, PanelHolder, *given)

    def _held_by(self, worker: str) -> list[Panel]:
        return [panel for panel, at in self._worker_of.items() if at == worker]

    def _size(self, panel: Panel) -> int:
        return panel.num_entries(self.n, self.tile) * self.dtype.itemsize

    def _too_large(self, capacities: Mapping[str, Capacity]) -> InputError:
        sizes = [self._size(panel) for panel in self.panels]
        room = sum(max(each.num_bytes, 0) for each in capacities.values())
        return InputError(
            f"The kernel matrix of {self.n:,} rows takes {memory(sum(sizes))} in panels of "
            f"{memory(max(sizes))}, but {counted(len(capacities), 'worker')} may hold {memory(room)} "
            "together: start more workers, or give them more memory."
        )


def _release(holders: dict[str, Remote]) -> None:
    """Let workers forget what they hold, as soon as nobody can ask for it: the next matrix needs the room."""
    for holder in holders.values():
        holder.release()


def _name(dtype: torch.dtype) -> str:
    """A precision as it is sent: torch's own objects are not numpy's."""
    return str(dtype).removeprefix("torch.")
