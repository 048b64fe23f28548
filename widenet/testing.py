"""Problems with known answers, for tests and benchmarks."""

from typing import Any

import torch
from mpmath import mp
from torch import Tensor


def unit_rows(n: int, d: int, *, generator: torch.Generator) -> Tensor:
    """Rows drawn uniformly from the unit sphere, float64, shape (n, d)."""
    rows = torch.randn(n, d, generator=generator, dtype=torch.float64)
    return rows / rows.norm(dim=1, keepdim=True)


def decaying_matrix(n: int, *, generator: torch.Generator, smallest: float = 1e-3) -> Tensor:
    """A symmetric matrix whose eigenvalues fall from n to `smallest` geometrically, shape (n, n)."""
    basis = torch.linalg.qr(torch.randn(n, n, generator=generator, dtype=torch.float64)).Q
    exponents = torch.linspace(0, 1, n, dtype=torch.float64)
    matrix = basis * (n * (smallest / n) ** exponents) @ basis.T
    return (matrix + matrix.T) / 2


def rows_that_nearly_meet(n: int, d: int, angle: float, *, generator: torch.Generator) -> Tensor:
    """Random unit rows, each with one at about this angle and one as near to its opposite, shape (3n, d)."""
    rows = unit_rows(n, d, generator=generator)
    near = rows + angle * unit_rows(n, d, generator=generator)
    opposite = angle * unit_rows(n, d, generator=generator) - rows
    together = torch.cat([rows, near, opposite])
    return together / together.norm(dim=1, keepdim=True)


def exact_h_infinity(X: Tensor) -> Any:
    """H∞ of rows X (n, d) as directions, by its definition in the digits that mpmath is set to."""
    n, rows = len(X), [[mp.mpf(value) for value in row] for row in X.tolist()]
    norms = [mp.sqrt(mp.fdot(row, row)) for row in rows]
    H = mp.matrix(n, n)
    for i in range(n):
        H[i, i] = mp.mpf(1) / 2
        for j in range(i):
            cosine = mp.fdot(rows[i], rows[j]) / (norms[i] * norms[j])
            H[i, j] = H[j, i] = cosine * (mp.pi - mp.acos(cosine)) / (2 * mp.pi)
    return H
