"""Problems with known answers, for tests and benchmarks."""

import torch
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
