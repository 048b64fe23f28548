"""Solves with a shifted Gram matrix: conjugate gradients behind a Nyström preconditioner."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from widenet.base.checkpoint import NOWHERE, Checkpoint, Saved
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
    gram: Gram,
    ridge: float,
    *,
    rank: int,
    generator: torch.Generator,
    checkpoint: Checkpoint = NOWHERE,
) -> NystromPreconditioner:
    """Sketch H with `rank` products [Frangella, Tropp & Udell 2023, Algorithm 2.1]."""
    if (saved := checkpoint.load()) is not None:
        U, eigenvalues = _loaded(saved, "U", "eigenvalues")
        return NystromPreconditioner(U, eigenvalues, ridge)
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
    U, eigenvalues = U[:, found].contiguous(), eigenvalues[found]
    checkpoint.finish({"U": U.numpy(), "eigenvalues": eigenvalues.numpy()})
    return NystromPreconditioner(U, eigenvalues, ridge)


def conjugate_gradients(
    gram: Gram,
    B: Tensor,
    *,
    ridge: float = 0.0,
    preconditioner: NystromPreconditioner | Callable[[], NystromPreconditioner] | None = None,
    rtol: float = 1e-8,
    max_matvecs: int = 1000,
    progress: Callable[[int], None] = lambda done: None,
    checkpoint: Checkpoint = NOWHERE,
) -> Solution:
    """Solve (H + ρI) Z = B for all columns of B (n, p) at once, each with its own step sizes.

    The preconditioner may be given as what makes it; a solution that is found in the checkpoint needs none.
    Solves that go on from there are bit for bit those that were not interrupted.

    Raises:
        NotConvergedError: If a column's relative residual is above `rtol` after `max_matvecs` products.
    """
    saved = checkpoint.load()
    if saved is not None and "residual" in saved.arrays:
        (Z,) = _loaded(saved, "Z")
        return Solution(Z, float(saved.arrays["residual"]), int(saved.arrays["step"]))
    made = preconditioner() if callable(preconditioner) else preconditioner
    precondition = (lambda V: V) if made is None else made.apply
    norms = B.norm(dim=0).clamp(min=torch.finfo(B.dtype).tiny)
    if saved is None:
        Z, R, num_done = torch.zeros_like(B), B.clone(), 0
        direction = precondition(R).contiguous()
        energy = (R * direction).sum(0)
    else:
        Z, R, direction, energy = _loaded(saved, "Z", "R", "direction", "energy")
        num_done = int(saved.arrays["step"])
    residual = float((R.norm(dim=0) / norms).max())
    for step in range(num_done + 1, max_matvecs + 1):
        image = gram.matmul(direction) + ridge * direction
        # A column that has converged has energy 0 and must stay where it is.
        length = energy / (direction * image).sum(0).clamp(min=torch.finfo(B.dtype).tiny)
        # Laid out as what comes back from a checkpoint, so that both round alike.
        Z = (Z + length * direction).contiguous()
        R = (R - length * image).contiguous()
        residual = float((R.norm(dim=0) / norms).max())
        progress(step)
        if residual <= rtol:
            checkpoint.finish({"Z": Z.numpy(), "residual": np.array(residual), "step": np.array(step)})
            return Solution(Z, residual, step)
        P = precondition(R)
        previous, energy = energy, (R * P).sum(0)
        share = energy / previous.clamp(min=torch.finfo(B.dtype).tiny)
        direction = (P + share * direction).contiguous()
        if checkpoint.is_due():
            state = {"Z": Z, "R": R, "direction": direction, "energy": energy, "step": torch.tensor(step)}
            checkpoint.save({name: part.numpy() for name, part in state.items()})
    raise NotConvergedError(
        f"Conjugate gradients reached a residual of {residual:.1e} after {max_matvecs} products, not "
        f"{rtol:.0e}. Raise the ridge, the preconditioner's rank or max_matvecs."
    )


def _loaded(saved: Saved, *names: str) -> tuple[Tensor, ...]:
    return tuple(torch.from_numpy(saved.arrays[name]) for name in names)
