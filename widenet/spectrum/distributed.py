"""A Gram operator whose lower half is held by workers elsewhere, in panels of tiles.

Which panels there are, and the order in which their products are added up, depends on n alone. So numbers do
not depend on how many workers there are, nor on which of them holds what, nor on those that died on the way.
"""

import hashlib
import os
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
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
from widenet.base.wording import counted, memory
from widenet.kernels.kernel import Kernel
from widenet.spectrum.gram import TILE, SizedGram, kernel_columns

MOST_TILES = 4  # along a side of a panel: 128 MiB in float64, so that loads can be even
PANEL_ROWS = 8  # of panels, while these can still grow: a product sends as many vectors back for each column
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
            array = np.load(self.path, mmap_mode="r", allow_pickle=False)
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


@dataclass(frozen=True)
class Panel:
    """Tiles of the lower half between two rows and two columns."""

    rows: tuple[int, int]
    columns: tuple[int, int]

    @property
    def is_diagonal(self) -> bool:
        """Whether it is symmetric, so that only its lower tiles are held."""
        return self.rows == self.columns

    def corners(self, tile: int) -> Iterator[tuple[int, int]]:
        """First row and column of each tile, in the order of their products."""
        for i in range(*self.rows, tile):
            for j in range(self.columns[0], min(self.columns[1], i + 1), tile):
                yield i, j

    def num_entries(self, n: int, tile: int) -> int:
        """Kernel values that it holds."""
        return sum(min(tile, n - i) * min(tile, n - j) for i, j in self.corners(tile))


def panels_of(n: int, tile: int = TILE) -> list[Panel]:
    """The panels of a matrix with n rows, in the order in which their products are added up.

    >>> [len(panels_of(n)) for n in (1_000, 10_000, 100_000)]
    [1, 15, 325]
    """
    side = tile * min(-(-n // (PANEL_ROWS * tile)), MOST_TILES)
    ends = [(i, min(i + side, n)) for i in range(0, n, side)]
    return [Panel(rows, columns) for k, rows in enumerate(ends) for columns in ends[: k + 1]]


def held_bytes(n: int, dtype: torch.dtype, tile: int = TILE) -> int:
    """What all panels of n rows take."""
    entries = sum(panel.num_entries(n, tile) for panel in panels_of(n, tile))
    return entries * torch.finfo(dtype).bits // 8


def _ends(panel: Panel) -> tuple[tuple[int, int], ...]:
    """Rows of the product that a panel contributes to: those of its rows, and of its columns if others."""
    return (panel.rows,) if panel.is_diagonal else (panel.rows, panel.columns)


def _width(panel: Panel) -> int:
    """How many rows of the product these are."""
    return sum(end - start for start, end in _ends(panel))


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
        self.kernel, self.tile, self.keeps = kernel, tile, keeps
        self.dtype: torch.dtype = getattr(torch, dtype)
        self.X = rows.read()
        # Kept, because what BLAS prepares in a new thread takes up to a tenth of a small product.
        self._pool = ThreadPoolExecutor(num_threads, initializer=torch.set_num_threads, initargs=(1,))
        self._kept: dict[tuple[int, int], Tensor] = {}

    def products(self, panels: Sequence[Panel], Vt: np.ndarray, dtype: str) -> np.ndarray:
        """The products of panels with columns of V, all of which are given, transposed, shape (p, n).

        Returns:
            Side by side the products of each panel, added up in the precision `dtype`, shape (p, Σ widths):
            those that belong to its rows, and unless it is diagonal, then those that belong to its columns.
        """
        vectors = torch.tensor(Vt)
        total = vectors.new_zeros(len(vectors), sum(map(_width, panels)), dtype=getattr(torch, dtype))
        parts = total.split(list(map(_width, panels)), dim=1)
        list(self._pool.map(partial(self._add_product, vectors), panels, parts))
        return total.numpy()

    def _add_product(self, Vt: Tensor, panel: Panel, total: Tensor) -> None:
        (top, bottom), (left, _) = panel.rows, panel.columns
        start = 0 if panel.is_diagonal else bottom - top  # of the products that belong to columns
        for i, j in panel.corners(self.tile):
            tile = self._tile(i, j)
            height, width = tile.shape
            total[:, i - top : i - top + height] += Vt[:, j : j + width] @ tile.T
            if i != j:
                at = start + j - left
                total[:, at : at + width] += Vt[:, i : i + height] @ tile

    def _tile(self, i: int, j: int) -> Tensor:
        tile = self._kept.get((i, j))
        if tile is None:
            tile = self._compute(i, j)
            if self.keeps:
                self._kept[i, j] = tile
        return tile

    def _compute(self, i: int, j: int) -> Tensor:
        rows = torch.tensor(self.X[i : i + self.tile])
        tile = self.kernel.tile(rows, rows if i == j else torch.tensor(self.X[j : j + self.tile]))
        if i == j:
            tile.diagonal().copy_(self.kernel.diag(rows))
        return tile.to(self.dtype)


class DistributedGram(SizedGram):
    """A Gram matrix that workers hold: each gets panels as it has room, and those of one that died move.

    Nothing is computed before the first product. Kernel values are computed in the precision of X and rounded
    to `dtype`, in which products of tiles are made; they are added up in the precision of the vectors.

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
        parts = [self._product(V[:, j : j + COLUMNS]) for j in range(0, V.shape[1], COLUMNS)]
        return torch.cat(parts).T if parts else torch.zeros_like(V)

    def _product(self, V: Tensor) -> Tensor:
        """(H V)ᵀ, shape (p, n)."""
        Vt = V.T.to(self.dtype).contiguous().numpy()
        products = self._products(Vt, _name(V.dtype))
        total = np.zeros(Vt.shape, dtype=_name(V.dtype))
        for panel in self.panels:  # in this order, whoever sent it, and when
            at, part = 0, products.pop(panel)
            for start, end in _ends(panel):
                total[:, start:end] += part[:, at : at + end - start]
                at += end - start
        return torch.from_numpy(total)

    def _products(self, Vt: np.ndarray, dtype: str) -> dict[Panel, np.ndarray]:
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
                worker: self._holders[worker].call("products", own, Vt, dtype)
                for worker, own in by_worker.items()
            }
            for worker, call in calls.items():
                own = by_worker[worker]
                try:
                    parts = np.split(call.result(), np.cumsum([_width(panel) for panel in own])[:-1], axis=1)
                except WorkerLostError:
                    self._forget(worker)
                else:
                    found |= zip(own, parts, strict=True)
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
        return panel.num_entries(self.n, self.tile) * torch.finfo(self.dtype).bits // 8

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
