"""Gram matrices as operators: what is dense today can be tiled tomorrow without touching a caller."""

from functools import partial
from typing import Protocol

import torch
from scipy.linalg.blas import dsymv, ssymv
from torch import Tensor

from widenet.base.threads import threads
from widenet.kernels.kernel import Kernel
from widenet.kernels.matrix import cross_matrix
from widenet.spectrum.panels import TILE, Tiles, added_up, blocks_of, panel_product, panels_of

FULL_BLOCK = 8  # products with a number of columns that is no multiple of this take up to a fifth longer


def num_to_fill(num_columns: int) -> int:
    """Columns that may join a product of so many without making it slower."""
    return -num_columns % FULL_BLOCK


class Operator(Protocol):
    """A symmetric positive semi-definite matrix H, known by its products alone."""

    @property
    def n(self) -> int:
        """Number of rows and columns."""

    @property
    def dtype(self) -> torch.dtype:
        """Precision of the products."""

    def matmul(self, V: Tensor) -> Tensor:
        """The product H V of shape (n, p), for V of shape (n, p), in the dtype of V."""


class Gram(Operator, Protocol):
    """One whose diagonal is known, too; what else an operator can do, it tells by overriding these."""

    def diag(self) -> Tensor:
        """The diagonal of H, shape (n,)."""

    def held(self) -> Tensor | None:
        """All entries, shape (n, n), where they are held; None where they are not."""
        return None

    def part(self, rows: Tensor) -> "Gram":
        """The operator of some rows and the same columns."""
        return PartOfGram(self, rows)

    def columns(self, places: Tensor) -> Tensor:
        """The columns at these places, shape (n, m) for m places."""
        units = self.diag().new_zeros(self.n, len(places))
        units[places, torch.arange(len(places), device=units.device)] = 1
        return self.matmul(units)

    def recomputed(self) -> "Gram | None":
        """The operator with entries that `Kernel.tile` computes anew from the rows, in their precision.

        Proofs rest on these, of rows in float64: what is made in float32 is rounded once more. None for an
        operator that comes by its entries in another way.
        """
        return None


class SizedGram(Gram):
    """One that is told its size and precision when it is made."""

    def __init__(self, n: int, dtype: torch.dtype) -> None:
        self._n, self._dtype = n, dtype

    @property
    def n(self) -> int:
        return self._n

    @property
    def dtype(self) -> torch.dtype:
        return self._dtype


class PartOfGram(SizedGram):
    """The rows and columns `rows` of a Gram operator, without computing it anew."""

    def __init__(self, gram: Gram, rows: Tensor) -> None:
        super().__init__(len(rows), gram.dtype)
        self.gram, self.rows = gram, rows

    def matmul(self, V: Tensor) -> Tensor:
        spread = V.new_zeros(self.gram.n, V.shape[1])
        spread[self.rows] = V
        return self.gram.matmul(spread)[self.rows]

    def diag(self) -> Tensor:
        return self.gram.diag()[self.rows]

    def columns(self, places: Tensor) -> Tensor:
        return self.gram.columns(self.rows[places])[self.rows]

    def recomputed(self) -> Gram | None:
        whole = self.gram.recomputed()
        return None if whole is None else PartOfGram(whole, self.rows)


class DenseGram(SizedGram):
    """Holds all n² entries."""

    def __init__(self, matrix: Tensor) -> None:
        super().__init__(len(matrix), matrix.dtype)
        self.matrix = matrix

    def matmul(self, V: Tensor) -> Tensor:
        if V.shape[1] == 1 and V.device.type == "cpu":
            return _symmetric_product(self.matrix, V[:, 0].to(self.dtype))[:, None].to(V.dtype)
        # (VᵀH)ᵀ: with a few columns, BLAS is up to twice as fast from this side.
        return (V.T.to(self.dtype).contiguous() @ self.matrix).T.to(V.dtype)

    def diag(self) -> Tensor:
        return self.matrix.diagonal()

    def held(self) -> Tensor:
        return self.matrix

    def columns(self, places: Tensor) -> Tensor:
        return self.matrix[:, places]

    def part(self, rows: Tensor) -> "DenseGram":
        return DenseGram(self.matrix[rows][:, rows])


def _symmetric_product(matrix: Tensor, v: Tensor) -> Tensor:
    """H v from one triangle of H: memory is what limits it, and only half of the matrix is read."""
    symv = dsymv if matrix.dtype == torch.float64 else ssymv
    # Columns are rows to BLAS, so its upper triangle is the lower one of a symmetric matrix stored by rows.
    return torch.from_numpy(symv(1.0, matrix.numpy().T, v.contiguous().numpy()))


def kernel_columns(kernel: Kernel, X: Tensor, places: Tensor) -> Tensor:
    """Columns of the Gram matrix of rows X (n, d), shape (n, m), in the precision of the rows."""
    values = cross_matrix(kernel, X, X[places])
    values[places, torch.arange(len(places), device=values.device)] = kernel.diag(X[places])
    return values


class TiledGram(SizedGram):
    """Holds the lower tiles that fit into `keep_bytes` and recomputes the others for every product.

    With room for all of them (4 n² bytes in float64) it is a packed symmetric matrix; with none, it never
    holds more than one for each thread. Nothing is computed before the first product. Kernel values are
    computed in the precision of X and then rounded to `dtype`, in which products of panels are made; they are
    added up in the precision of the vectors. Those in float32 are rounded to 24 bits in units of their tile,
    of which 3/2 n² bytes hold them all. Panels run side by side, each on one thread, so that numbers do not
    depend on how many threads there are.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Tensor,
        *,
        keep_bytes: int = 0,
        tile: int = TILE,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(len(X), dtype or X.dtype)
        self.kernel, self.X, self.tile = kernel, X, tile
        self.panels = panels_of(self.n, tile)
        self._tiles = Tiles(kernel, X, tile, self.dtype, keep_bytes)

    def recomputed(self) -> "TiledGram":
        """The operator that holds no tile, so that no second copy of them is held."""
        return TiledGram(self.kernel, self.X, tile=self.tile)

    def diag(self) -> Tensor:
        return self.kernel.diag(self.X)

    def columns(self, places: Tensor) -> Tensor:
        return kernel_columns(self.kernel, self.X, places)

    def matmul(self, V: Tensor) -> Tensor:
        blocks = blocks_of(V.T.to(self.dtype), self.tile)
        product = partial(panel_product, self._tiles, blocks=blocks)
        if V.device.type != "cpu" or torch.get_num_threads() == 1:
            return added_up(self.panels, map(product, self.panels), V.T).T
        with threads() as (pool, _):
            return added_up(self.panels, pool.map(product, self.panels), V.T).T
