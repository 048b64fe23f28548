"""Solves with a shifted Gram matrix: conjugate gradients behind a Nyström preconditioner."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from widenet.base.checkpoint import NOWHERE, Checkpoint, Saved
from widenet.base.errors import NotConvergedError
from widenet.spectrum.gram import Gram, num_to_fill

ROWS = 4096  # of a tall matrix that are computed at a time


@dataclass(frozen=True)
class Solution:
    """The solution of (H + ρI) Z = B, and how well it solves it."""

    Z: Tensor  # shape (n, p)
    residual: float  # largest ‖B − (H + ρI)Z‖ / ‖B‖ over the columns, as the recursion has it
    num_matvecs: int  # products with H that were made


@dataclass(frozen=True)
class NystromPreconditioner:
    """P⁻¹ for H + ρI from an approximation H ≈ U diag(λ) Uᵀ of rank r.

    P⁻¹ = (λ_r + ρ) U diag(1/(λ + ρ)) Uᵀ + I − UUᵀ [Frangella, Tropp & Udell 2023, eq. 1.3].
    """

    vectors: Tensor  # U, (n, r)
    eigenvalues: Tensor  # λ, (r,), descending
    ridge: float

    def apply(self, V: Tensor) -> Tensor:
        """P⁻¹V for V of shape (n, p)."""
        scaled = (self.eigenvalues[-1] + self.ridge) / (self.eigenvalues + self.ridge) - 1
        within = self.vectors.T @ V.to(self.vectors.dtype)
        return V + (self.vectors @ (scaled[:, None].to(within.dtype) * within)).to(V.dtype)


def nystrom_preconditioner(
    gram: Gram,
    ridge: float,
    *,
    rank: int,
    generator: torch.Generator,
    checkpoint: Checkpoint = NOWHERE,
) -> NystromPreconditioner:
    """Approximate H by C W⁻¹ Cᵀ with `rank` of its columns C, drawn at random [Williams & Seeger 2001].

    W holds the rows of C at the same places. Columns cost far less than a product with H.
    """
    if (saved := checkpoint.load()) is not None:
        U, eigenvalues = _loaded(saved, gram.diag().device, "U", "eigenvalues")
        return NystromPreconditioner(U, eigenvalues, ridge)
    places = torch.randperm(gram.n, generator=generator)[:rank]
    columns = gram.columns(places)
    rounding = torch.finfo(columns.dtype).eps
    columns = columns.to(torch.float64)
    core = columns[places]
    shift = rounding * float(core.diagonal().sum())  # keeps the factorisation away from rounding
    core.diagonal().add_(shift)
    factor = torch.linalg.cholesky((core + core.T) / 2)
    root = torch.linalg.solve_triangular(factor.T, columns, upper=True, left=False, out=columns)
    eigenvalues, vectors = torch.linalg.eigh(root.T @ root)
    found = (eigenvalues > shift).nonzero()[:, 0].flip(0)
    eigenvalues = eigenvalues[found]
    U = root.new_empty(gram.n, len(found), dtype=gram.dtype)
    for rows, part in zip(U.split(ROWS), root.split(ROWS), strict=True):  # no second copy in float64
        rows.copy_(part @ (vectors[:, found] / eigenvalues.sqrt()))
    checkpoint.finish({"U": U.cpu().numpy(), "eigenvalues": eigenvalues.cpu().numpy()})
    return NystromPreconditioner(U, eigenvalues, ridge)


def conjugate_gradients(
    gram: Gram,
    B: Tensor,
    *,
    ridge: float = 0.0,
    preconditioner: NystromPreconditioner | Callable[[], NystromPreconditioner] | None = None,
    rtol: float | Tensor = 1e-8,
    max_matvecs: int = 1000,
    progress: Callable[[int], None] = lambda done: None,
    checkpoint: Checkpoint = NOWHERE,
) -> Solution:
    """Solve (H + ρI) Z = B for all columns of B (n, p) at once, each with its own step sizes.

    The preconditioner may be given as what makes it; a solution that is found in the checkpoint needs none.
    Columns that are done are left out of later products where that makes them faster. Solves that go on from
    a checkpoint are bit for bit those that were not interrupted.

    Args:
        gram: Operator of H.
        B: Right-hand sides.
        ridge: ρ ≥ 0.
        preconditioner: P⁻¹, or what makes it.
        rtol: Relative residual to reach, of all columns or of each, shape (p,).
        max_matvecs: Products with H, at most.
        progress: Called with the number of products made.
        checkpoint: Where the solves are kept on the way.

    Raises:
        NotConvergedError: If a column's relative residual is above `rtol` after `max_matvecs` products, or at
                once where it is no number any more.
    """
    saved = checkpoint.load()
    if saved is not None and "residual" in saved.arrays:
        (Z,) = _loaded(saved, B.device, "Z")
        return Solution(Z, float(saved.arrays["residual"]), int(saved.arrays["step"]))
    made = preconditioner() if callable(preconditioner) else preconditioner
    precondition = (lambda V: V) if made is None else made.apply
    norms = B.norm(dim=0).clamp(min=torch.finfo(B.dtype).tiny)
    solves = _begun(B, precondition) if saved is None else _resumed(saved, B.device)
    while solves.step < max_matvecs:
        solves.advance(gram.matmul(solves.direction) + ridge * solves.direction)
        progress(solves.step)
        residuals = solves.residuals / norms
        if bool((residuals <= rtol).all()):
            residual = float(residuals.max())
            checkpoint.finish(
                {"Z": solves.Z.cpu().numpy(), "residual": np.array(residual), "step": np.array(solves.step)}
            )
            return Solution(solves.Z, residual, solves.step)
        if not bool(residuals.isfinite().all()):
            break
        solves.turn(precondition)
        solves.narrow((residuals / rtol)[solves.active])
        if checkpoint.is_due():
            checkpoint.save(solves.arrays())
    raise NotConvergedError(
        f"Conjugate gradients are at {float((solves.residuals / norms / rtol).max()):.1g} times the residual "
        f"that was asked for after {solves.step} products. Raise the ridge, the preconditioner's rank or "
        "max_matvecs."
    )


@dataclass
class _Solves:
    """Conjugate gradients under way for p columns, of which q are active: the others are done."""

    Z: Tensor  # (n, p)
    residuals: Tensor  # ‖B − (H + ρI)Z‖ of each column, (p,)
    active: Tensor  # places of the active columns, (q,)
    R: Tensor  # their B − (H + ρI)Z, (n, q)
    direction: Tensor  # (n, q)
    energy: Tensor  # RᵀP⁻¹R of each, (q,)
    step: int

    def advance(self, image: Tensor) -> None:
        """Take the best step along the direction, whose image under H + ρI is given."""
        smallest = torch.finfo(image.dtype).tiny
        # A column that has converged has energy 0 and must stay where it is.
        length = self.energy / (self.direction * image).sum(0).clamp(min=smallest)
        self.Z[:, self.active] += length * self.direction
        # Laid out as what comes back from a checkpoint, so that both round alike.
        self.R = (self.R - length * image).contiguous()
        self.residuals[self.active] = self.R.norm(dim=0)
        self.step += 1

    def turn(self, precondition: Callable[[Tensor], Tensor]) -> None:
        """Choose the next direction."""
        P = precondition(self.R)
        previous, self.energy = self.energy, (self.R * P).sum(0)
        share = self.energy / previous.clamp(min=torch.finfo(P.dtype).tiny)
        self.direction = (P + share * self.direction).contiguous()

    def narrow(self, missing: Tensor) -> None:
        """Go on with the columns that miss their goal, by factors (q,), and with others at no cost."""
        num_open = int((missing > 1).sum())
        num_kept = min(len(missing), num_open + num_to_fill(num_open))
        kept = missing.topk(num_kept).indices.sort().values
        self.active, self.energy = self.active[kept], self.energy[kept]
        self.R, self.direction = self.R[:, kept].contiguous(), self.direction[:, kept].contiguous()

    def arrays(self) -> dict[str, np.ndarray]:
        """All of it by name."""
        parts = vars(self).items()
        return {
            name: part.cpu().numpy() if isinstance(part, Tensor) else np.array(part) for name, part in parts
        }


def _begun(B: Tensor, precondition: Callable[[Tensor], Tensor]) -> _Solves:
    direction = precondition(B).contiguous()
    energy, active = (B * direction).sum(0), torch.arange(B.shape[1], device=B.device)
    return _Solves(torch.zeros_like(B), B.norm(dim=0), active, B.clone(), direction, energy, step=0)


def _resumed(saved: Saved, device: torch.device) -> _Solves:
    names = ("Z", "residuals", "active", "R", "direction", "energy")
    Z, residuals, active, R, direction, energy = _loaded(saved, device, *names)
    return _Solves(Z, residuals, active, R, direction, energy, int(saved.arrays["step"]))


def _loaded(saved: Saved, device: torch.device, *names: str) -> tuple[Tensor, ...]:
    return tuple(torch.from_numpy(saved.arrays[name]).to(device) for name in names)
