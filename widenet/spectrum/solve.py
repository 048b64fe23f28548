"""Solves with a shifted Gram matrix: conjugate gradients behind a Nyström preconditioner."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.errors import NotConvergedError
from widenet.spectrum.gram import Gram


@dataclass(frozen=True)
class Solution:
    """The solution of (H + ρI) Z = B, and how well it solves it."""

    Z: Tensor  # shape (n, p)
    residual: float  # largest ‖B − (H + ρI)Z‖ / ‖B‖ over the columns, as the recursion has it
    num_matvecs: int  # products with H that were made


@dataclass(frozen=True)
class NystromPreconditioner:
    """P⁻¹ for H + ρI from the randomised approximation H ≈ U diag(λ) Uᵀ of rank r.

    P⁻¹ = (λ_r + ρ) U diag(1/(λ + ρ)) Uᵀ + I − UUᵀ [Frangella, Tropp & Udell 2023, eq. 1.3].
    """

    vectors: Tensor  # U, (n, r)
    eigenvalues: Tensor  # λ, (r,), descending
    ridge: float

    def apply(self, V: Tensor) -> Tensor:
        """P⁻¹V for V of shape (n, p)."""
        scaled = (self.eigenvalues[-1] + self.ridge) / (self.eigenvalues + self.ridge) - 1
        return V + self.vectors @ (scaled[:, None] * (self.vectors.T @ V))


def nystrom_preconditioner(
    gram: Gram, ridge: float, *, rank: int, generator: torch.Generator
) -> NystromPreconditioner:
    """Sketch H with `rank` products [Frangella, Tropp & Udell 2023, Algorithm 2.1]."""
    test = torch.randn(gram.n, rank, generator=generator, dtype=torch.float64)
    test = torch.linalg.qr(test).Q
    sketch = gram.matmul(test)
    shift = torch.finfo(gram.dtype).eps * float(sketch.norm())
    sketch += shift * test  # keeps the Cholesky factorisation away from rounding; taken off again below
    core = test.T @ sketch
    factor = torch.linalg.cholesky((core + core.T) / 2)
    root = torch.linalg.solve_triangular(factor, sketch.T, upper=False).T
    U, singular_values, _ = torch.linalg.svd(root, full_matrices=False)
    eigenvalues = singular_values.square() - shift
    found = eigenvalues > shift
    return NystromPreconditioner(U[:, found], eigenvalues[found], ridge)


def conjugate_gradients(
    gram: Gram,
    B: Tensor,
    *,
    ridge: float = 0.0,
    preconditioner: NystromPreconditioner | None = None,
    rtol: float = 1e-8,
    max_matvecs: int = 1000,
    progress: Callable[[int], None] = lambda done: None,
) -> Solution:
    """Solve (H + ρI) Z = B for all columns of B (n, p) at once, each with its own step sizes.

    Raises:
        NotConvergedError: If a column's relative residual is above `rtol` after `max_matvecs` products.
    """
    precondition = (lambda V: V) if preconditioner is None else preconditioner.apply
    norms = B.norm(dim=0).clamp(min=torch.finfo(B.dtype).tiny)
    Z, R = torch.zeros_like(B), B.clone()
    direction = P = precondition(R)
    energy = (R * P).sum(0)
    for step in range(1, max_matvecs + 1):
        image = gram.matmul(direction) + ridge * direction
        # A column that has converged has energy 0 and must stay where it is.
        length = energy / (direction * image).sum(0).clamp(min=torch.finfo(B.dtype).tiny)
        Z = Z + length * direction
        R = R - length * image
        residual = float((R.norm(dim=0) / norms).max())
        progress(step)
        if residual <= rtol:
            return Solution(Z, residual, step)
        P = precondition(R)
        previous, energy = energy, (R * P).sum(0)
        direction = P + energy / previous.clamp(min=torch.finfo(B.dtype).tiny) * direction
    raise NotConvergedError(
        f"Conjugate gradients reached a residual of {residual:.1e} after {max_matvecs} products, not "
        f"{rtol:.0e}. Raise the ridge, the preconditioner's rank or max_matvecs."
    )
