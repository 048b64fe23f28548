"""The lower half of a symmetric matrix in panels of tiles, and products with it, panel by panel.

Which panels there are, and the order in which their products are added up, depends on n alone. So numbers do
not depend on how many workers compute them, nor on which of them holds what.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

import torch
from torch import Tensor

from widenet.base.threads import one_thread
from widenet.kernels.kernel import Kernel
from widenet.spectrum.compact import COMPACT_SHARE, Compact, compacted, rounded

TILE = 512  # 1 MiB in float32: a tile's second use, transposed, finds it in the cache beside the core
MOST_TILES = 8  # along a side of a panel: 128 MiB in float64, so that loads can be even
PANEL_ROWS = 4  # of panels, while these can still grow: workers send as many vectors back for each column
SLAB_BYTES = 2**26  # taken at once for tiles that are held, and given back at once
ALIGNED = 64  # bytes: products may round in another way where rows begin between two cache lines


@dataclass(frozen=True)
class Panel:
    """Tiles of the lower half between two rows and two columns."""

    rows: tuple[int, int]
    columns: tuple[int, int]

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Rows of the product that it contributes to: those of its rows, and of its columns if others."""
        return (self.rows,) if self.rows == self.columns else (self.rows, self.columns)

    def corners(self, tile: int) -> Iterator[tuple[int, int]]:
        """First row and column of each tile, in the order of their products."""
        for i in range(*self.rows, tile):
            for j in range(self.columns[0], min(self.columns[1], i + 1), tile):
                yield i, j

    def num_entries(self, n: int, tile: int) -> int:
        """Kernel values in its tiles."""
        return sum(min(tile, n - i) * min(tile, n - j) for i, j in self.corners(tile))


def panels_of(n: int, tile: int = TILE) -> list[Panel]:
    """The panels of a matrix with n rows, in the order in which their products are added up.

    >>> [len(panels_of(n)) for n in (1_000, 10_000, 100_000)]
    [3, 10, 325]
    """
    side = tile * min(max(1, -(-n // (PANEL_ROWS * tile))), MOST_TILES)
    ends = [(i, min(i + side, n)) for i in range(0, n, side)]
    return [Panel(rows, columns) for k, rows in enumerate(ends) for columns in ends[: k + 1]]


def held_bytes(n: int, dtype: torch.dtype, tile: int = TILE) -> int:
    """What all tiles of n rows take."""
    entries = sum(panel.num_entries(n, tile) for panel in panels_of(n, tile))
    return entries * dtype.itemsize


def are_compact(n: int, dtype: torch.dtype, keep_bytes: float, tile: int = TILE) -> bool:
    """Whether tiles of n rows are held in 24 bits: those in float32, where there is no room for all of it."""
    return dtype == torch.float32 and keep_bytes < held_bytes(n, dtype, tile)


class Tiles:
    """Tiles of kernel values: held as far as there is room, the others computed anew for every use.

    Values are computed in the precision of the rows and rounded to `dtype`: float32 to 24 bits, which are
    held as such where there is no room for all of float32. So numbers do not depend on how much room there
    is. What is held lies in slabs, which go back to the system as a whole: of tiles that were allocated one
    by one, between what is needed to compute others, the C library kept a quarter when they were gone.

    Args:
        kernel: The kernel.
        X: Rows, shape (n, d).
        size: Rows and columns of a tile.
        dtype: Precision of the tiles.
        keep_bytes: Room for them.
    """

    def __init__(self, kernel: Kernel, X: Tensor, size: int, dtype: torch.dtype, keep_bytes: float) -> None:
        self.kernel, self.X, self.size, self.dtype = kernel, X, size, dtype
        self._compacts = are_compact(len(X), dtype, keep_bytes, size)
        self._kept: dict[tuple[int, int], Tensor | Compact] = {}
        self._bytes_left = keep_bytes
        self._slab = _bytes(0, X.device)  # what is left of the last one
        self._counting = Lock()  # what is left, of several panels that are computed side by side

    def at(self, i: int, j: int, buffer: Tensor) -> Tensor:
        """The tile whose first row and column these are; a compact one is in this buffer until the next."""
        held = self._kept.get((i, j))
        if held is None:
            tile = self.compute(i, j)
            self._keep(i, j, tile)
            return tile
        return held.values(buffer) if isinstance(held, Compact) else held

    def buffer(self) -> Tensor:
        """Where compact tiles are spread out, one after the other."""
        size = self.size**2 if self._compacts else 0
        return torch.empty(2, size, dtype=torch.float32, device=self.X.device)

    def compute(self, i: int, j: int) -> Tensor:
        """The same, anew."""
        rows = self.X[i : i + self.size]
        tile = self.kernel.tile(rows, self.X[j : j + self.size])
        if i == j:
            tile.diagonal().copy_(self.kernel.diag(rows))
        tile = rounded(tile) if self.dtype == torch.float32 else tile.to(self.dtype)
        return tile.contiguous()  # as what is held, so that products with either round alike

    def _keep(self, i: int, j: int, tile: Tensor) -> None:
        """Hold a tile, if there is room."""
        place = self._place(int(tile.nbytes * COMPACT_SHARE) if self._compacts else tile.nbytes)
        if place is None:
            return
        if self._compacts:
            self._kept[i, j] = compacted(tile, place)
        else:
            self._kept[i, j] = place.view(tile.dtype).view(tile.shape).copy_(tile)

    def _place(self, num_bytes: int) -> Tensor | None:
        """Memory for a tile; None where there is no room, and then for no other tile either."""
        size = -(-num_bytes // ALIGNED) * ALIGNED
        with self._counting:
            if num_bytes > self._bytes_left:
                self._bytes_left = 0
                return None
            self._bytes_left -= num_bytes
            if size > len(self._slab):
                self._slab = _bytes(max(size, SLAB_BYTES), self.X.device)
            place, self._slab = self._slab[:num_bytes], self._slab[size:]
        return place


def _bytes(num: int, device: torch.device) -> Tensor:
    return torch.empty(num, dtype=torch.uint8, device=device)


def blocks_of(Vt: Tensor, size: int) -> list[Tensor]:
    """The columns of Vᵀ (p, n) that a tile multiplies, each a matrix of its own: so BLAS is fastest."""
    return [block.contiguous() for block in Vt.split(size, dim=1)]


def panel_product(tiles: Tiles, panel: Panel, blocks: Sequence[Tensor]) -> Tensor:
    """What a panel contributes to (H V)ᵀ in the precision of its tiles, span after span, shape (p, rows).

    Args:
        tiles: The tiles of H.
        panel: The panel.
        blocks: All of Vᵀ, as of `blocks_of`, in that precision.
    """
    size = tiles.size
    starts = [start for span in panel.spans for start in range(*span, size)]
    widths = [blocks[start // size].shape[1] for start in starts]
    product = blocks[0].new_zeros(len(blocks[0]), sum(widths))
    parts = dict(zip(starts, product.split(widths, dim=1), strict=True))
    buffer = tiles.buffer()
    for i, j in panel.corners(size):
        tile = tiles.at(i, j, buffer)
        # (VᵀH)ᵀ: with a few columns, BLAS is up to twice as fast from this side.
        parts[i].addmm_(blocks[j // size], tile.T)
        if i != j:
            parts[j].addmm_(blocks[i // size], tile)
    return product


def added_up(panels: Sequence[Panel], products: Iterable[Tensor], Vt: Tensor) -> Tensor:
    """(H V)ᵀ from what the panels contribute, in the precision and shape of Vᵀ.

    Sums are made on one thread: a second one would wait for the next of them in a loop, on a core that others
    need for the panels.
    """
    with one_thread():
        total = Vt.new_zeros(Vt.shape)  # row by row, whatever the layout of Vᵀ
        for panel, product in zip(panels, products, strict=True):
            at = 0
            for start, end in panel.spans:
                total[:, start:end] += product[:, at : at + end - start]
                at += end - start
        return total
