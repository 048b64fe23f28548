"""Dense matrices of kernel values, made tile by tile so that the work between products stays in the cache."""

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.kernels.kernel import Kernel

TILE = 512  # a few tiles stay in the cache between operations, and their product is still efficient


def gram_matrix(kernel: Kernel, X: Tensor, *, tile: int = TILE) -> Tensor:
    """The matrix k(x_i, x_j), shape (n, n), exactly symmetric and with `kernel.diag` on its diagonal.

    Each pair is computed once; the peak memory is the result plus a few tiles.

    >>> from widenet.kernels.networks import Serial
    >>> from widenet.kernels.layers import Dense, Relu
    >>> gram_matrix(Serial(Dense(), Relu(), Dense(), trained="hidden"), torch.eye(2))  # H∞ of two axes
    tensor([[0.5000, 0.0000],
            [0.0000, 0.5000]])

    Args:
        kernel: The kernel.
        X: Rows of shape (n, d).
        tile: Rows and columns computed at a time.
    """
    n = _num_rows(X)
    gram = X.new_empty(n, n)
    for i in range(0, n, tile):
        rows = slice(i, i + tile)
        for j in range(0, i, tile):
            columns = slice(j, j + tile)
            values = kernel.tile(X[rows], X[columns])
            gram[rows, columns] = values
            gram[columns, rows] = values.T.contiguous()  # transposing on the way to a slice is slow
        block = X[rows]
        lower = kernel.tile(block, block).tril_(-1)
        gram[rows, rows] = lower + lower.T
    gram.diagonal().copy_(kernel.diag(X))
    return gram


def cross_matrix(kernel: Kernel, X: Tensor, Z: Tensor, *, tile: int = TILE) -> Tensor:
    """The matrix k(x_i, z_j), shape (n1, n2), of rows X (n1, d) and Z (n2, d)."""
    if _num_rows(X) and _num_rows(Z) and X.shape[1] != Z.shape[1]:
        raise InputError(f"The rows have {X.shape[1]} and {Z.shape[1]} columns; the numbers must agree.")
    values = X.new_empty(len(X), len(Z))
    for i in range(0, len(X), tile):
        for j in range(0, len(Z), tile):
            rows, columns = slice(i, i + tile), slice(j, j + tile)
            values[rows, columns] = kernel.tile(X[rows], Z[columns])
    return values


def _num_rows(X: Tensor) -> int:
    if X.ndim != 2 or X.dtype not in (torch.float32, torch.float64):
        raise InputError(
            f"Rows must be a float32 or float64 matrix, not {X.dtype} of shape {tuple(X.shape)}."
        )
    return len(X)
