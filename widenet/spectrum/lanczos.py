"""Block Lanczos with full reorthogonalisation: Gram matrix and vectors to a spectral measure."""

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from widenet.base.checkpoint import NOWHERE, Arrays, Checkpoint, Saved
from widenet.base.threads import one_thread
from widenet.spectrum.gram import Operator
from widenet.spectrum.tridiagonal import BlockFactor, block_factor

# Directions shorter than this, relative to λ_max, are rounding of the operator's products.
RANK_TOLERANCE = {torch.float64: 1e-13, torch.float32: 1e-8}
SMALL_PART = 0.1  # of a block, along the basis: what rounding leaves of that is less than the rest's own
SHORT = 0.01  # of a block's longest direction: one that is shorter may be rounding along the basis
SMALL = 600  # rows of T up to which threads wait for each other longer than they share its decomposition


@dataclass(frozen=True)
class Krylov:
    """The block tridiagonal matrix T = QᵀHQ of a Krylov space that starts at V = Q₁R.

    Block sizes may shrink when the space is exhausted in some directions. The small blocks are on the CPU,
    wherever H is: what is read off them takes thousands of small steps.

    Attributes:
        diagonal: Blocks A_j, shapes (p_j, p_j).
        below: Blocks B_j under the diagonal, shapes (p_{j+1}, p_j); the last one leads out of the space.
        start: R, shape (p_1, p).
        solution: QT⁻¹QᵀV ≈ H⁻¹V, shape (n, p), where V is; None unless the run was asked to solve.
    """

    diagonal: tuple[Tensor, ...]
    below: tuple[Tensor, ...]
    start: Tensor
    solution: Tensor | None = None

    @property
    def num_steps(self) -> int:
        """Products with H that were made."""
        return len(self.diagonal)

    @property
    def exhausted(self) -> bool:
        """Whether the space is invariant, so that quadrature over it is exact."""
        return self.below[-1].shape[0] == 0

    def tridiagonal(self) -> Tensor:
        """T as a dense matrix of shape (k, k), k the dimension of the space."""
        T = torch.block_diag(*self.diagonal)
        at = 0
        for block, below in zip(self.diagonal, self.below[:-1], strict=False):
            above = at + len(block)
            T[above : above + len(below), at:above] = below
            T[at:above, above : above + len(below)] = below.T
            at = above
        return T

    @cached_property
    def factor(self) -> BlockFactor | None:
        """T, factorised; None where rounding has made it indefinite."""
        return block_factor(self.diagonal, self.below[:-1])


@dataclass(frozen=True)
class Galerkin:
    """Solutions z = QT⁻¹QᵀV of HZ = V within a Krylov space that starts at V, one per column.

    Attributes:
        quadratic: vᵀz, which rises to vᵀH⁻¹v, shape (p,).
        residual: ‖v − Hz‖, shape (p,). The error of the quadratic is at most its square over λ_min(H).
    """

    quadratic: Tensor
    residual: Tensor


def galerkin(krylov: Krylov) -> Galerkin | None:
    """How well the space solves HZ = V; None where rounding has made T indefinite.

    >>> from widenet.spectrum.gram import DenseGram
    >>> H, v = torch.diag(torch.tensor([1.0, 2.0, 4.0]).double()), torch.ones(3, 1).double()
    >>> found = galerkin(lanczos(DenseGram(H), v, num_steps=2))
    >>> print(f"{float(found.quadratic):.3f} <= 1.750 <= {float(found.quadratic + found.residual**2):.3f}")
    1.686 <= 1.750 <= 1.789
    """
    factor = krylov.factor
    if factor is None:
        return None
    coefficients = factor.solve(_started(krylov))
    last, B = coefficients[-len(krylov.diagonal[-1]) :], krylov.below[-1]
    quadratic = (krylov.start * coefficients[: len(krylov.start)]).sum(0)
    return Galerkin(quadratic, (B @ last).norm(dim=0))


def _started(krylov: Krylov) -> Tensor:
    """E₁R = QᵀV, shape (k, p)."""
    size = sum(len(block) for block in krylov.diagonal)
    rest = krylov.start.new_zeros(size - len(krylov.start), krylov.start.shape[1])
    return torch.cat([krylov.start, rest])


@dataclass(frozen=True)
class SpectralMeasure:
    """A discrete measure that stands for vᵀf(H)v ≈ Σ_j weights_j f(nodes_j), one column per vector.

    Attributes:
        nodes: Ritz values, ascending, shape (k,).
        weights: Non-negative, columns sum to ‖v‖², shape (k, p).
    """

    nodes: Tensor
    weights: Tensor

    def integrate(self, function: Callable[[Tensor], Tensor]) -> Tensor:
        """Σ_j weights_j f(nodes_j) for each column, shape (..., p) if f maps (k,) to (..., k)."""
        return function(self.nodes) @ self.weights


def lanczos(
    gram: Operator,
    V: Tensor,
    *,
    num_steps: int,
    stop: Callable[[Krylov], bool] | None = None,
    check_every: int = 8,
    solve: bool = False,
    checkpoint: Checkpoint = NOWHERE,
) -> Krylov:
    """Run block Lanczos from V (n, p) for at most `num_steps` products [Golub & Meurant 2010, §4.3].

    Every new block is orthogonalised against all earlier ones, so that T is that of exact arithmetic up to
    rounding of size ε λ_max. Of an operator in float32 the basis is kept in float32, too, and its blocks are
    orthogonal up to that. `stop` is asked every `check_every` steps. With `solve` the space is used for H⁻¹V
    at the end. A run that goes on from a checkpoint is bit for bit the one that was not interrupted.

    >>> from widenet.spectrum.gram import DenseGram
    >>> H, v = torch.diag(torch.tensor([1.0, 2.0, 4.0])), torch.ones(3, 1)
    >>> krylov = lanczos(DenseGram(H), v, num_steps=3)
    >>> krylov.exhausted, gauss_measure(krylov).nodes
    (True, tensor([1.0000, 2.0000, 4.0000]))
    """
    saved = checkpoint.load()
    if saved is None:
        Q, start = orthonormal_columns(V, shortest=RANK_TOLERANCE[V.dtype] * float(V.norm()))
        start, diagonal, below = start.cpu(), list[Tensor](), list[Tensor]()
    else:
        krylov = _unpacked(saved.arrays, V.device)
        if "Q" not in saved.arrays:
            return krylov
        Q, start = torch.from_numpy(saved.arrays["Q"]).to(V.device), krylov.start
        diagonal, below = list(krylov.diagonal), list(krylov.below)
    # Transposed, so that the rows of steps that are never taken take no memory.
    basis = Q.new_empty(min(gram.n, V.shape[1] * num_steps), gram.n, dtype=gram.dtype)
    size = num_saved = _fill(basis, saved)
    for step in range(len(diagonal) + 1, num_steps + 1):
        basis[size : size + Q.shape[1]] = Q.T
        size += Q.shape[1]
        W = gram.matmul(Q)
        A = Q.T @ W
        A = (A + A.T) / 2
        diagonal.append(A.cpu())
        W -= Q @ A  # the largest part, by a block in the precision of V
        if below:  # then that along the block before; only rounding is left along earlier ones
            before = basis[size - sum(below[-1].shape) : size - len(A)]
            W -= before.T.to(W.dtype) @ below[-1].T.to(W.device)
        W = _orthogonal_to(basis[:size], W)
        shortest = RANK_TOLERANCE[gram.dtype] * max(float(block.diagonal().max()) for block in diagonal)
        Q, B = orthonormal_columns(W, shortest=shortest, most=gram.n - size)
        Q, B = _orthogonal_again(basis[:size], Q, B)
        below.append(B.cpu())
        krylov = Krylov(tuple(diagonal), tuple(below), start)
        if krylov.exhausted or (stop is not None and step % check_every == 0 and stop(krylov)):
            break
        if checkpoint.is_due():
            state = _packed(krylov) | {"Q": Q.cpu().numpy()}
            checkpoint.save(state, grown={"basis": basis[num_saved:size].cpu().numpy()})
            num_saved = size
    if solve:
        krylov = replace(krylov, solution=_solution(gram, V, krylov, basis[:size]))
    checkpoint.finish(_packed(krylov))
    return krylov


def _orthogonal_to(basis: Tensor, W: Tensor) -> Tensor:
    """What is left of W (n, p) orthogonal to the rows of a basis (k, n), up to the precision of the basis.

    Rounding leaves a small share of what is taken away, so a second pass is made only where that was not
    small itself [Daniel, Gragg, Kaufman & Stewart 1976].
    """
    for _ in range(2):
        inside = basis @ W.to(basis.dtype)
        W = W - (basis.T @ inside).to(W.dtype)
        if bool((inside.norm(dim=0) <= SMALL_PART * W.norm(dim=0)).all()):
            break
    return W


def _orthogonal_again(basis: Tensor, Q: Tensor, B: Tensor) -> tuple[Tensor, Tensor]:
    """The factors of W = QB with Q orthogonal to a basis also in the directions in which W is short.

    There Q has what rounding left of W along the basis, larger by as much as W is shorter. Directions that
    are little else are dropped.
    """
    lengths = B.norm(dim=1)
    if not len(B) or float(lengths.min()) >= SHORT * float(lengths.max()):
        return Q, B
    Q, R = orthonormal_columns(_orthogonal_to(basis, Q), shortest=SMALL_PART)
    return Q, R @ B


def _solution(gram: Operator, V: Tensor, krylov: Krylov, basis: Tensor) -> Tensor | None:
    """QT⁻¹QᵀV, refined by one product: of a basis in float32, blocks far apart are not quite orthogonal."""
    if (factor := krylov.factor) is None:
        return None
    Z = _combined(basis, factor.solve(_started(krylov)).to(V.device))
    residual = V - gram.matmul(Z)
    projected = (basis @ residual.to(basis.dtype)).to("cpu", V.dtype)
    return Z + _combined(basis, factor.solve(projected).to(V.device))


def _combined(basis: Tensor, coefficients: Tensor) -> Tensor:
    """Combinations of the rows of a basis (k, n) by coefficients (k, p), in their precision, shape (n, p)."""
    total = coefficients.new_zeros(basis.shape[1], coefficients.shape[1])
    width = coefficients.shape[1]
    for rows, factors in zip(basis.split(width), coefficients.split(width), strict=True):
        total += rows.T.to(factors.dtype) @ factors
    return total


def _packed(krylov: Krylov) -> dict[str, np.ndarray]:
    """The blocks by name, and the solution if there is one."""
    blocks = {f"{name} {j}": b for name in ("diagonal", "below") for j, b in enumerate(getattr(krylov, name))}
    blocks |= {"start": krylov.start} | ({} if krylov.solution is None else {"solution": krylov.solution})
    return {name: block.cpu().numpy() for name, block in blocks.items()}


def _unpacked(arrays: Arrays, device: torch.device) -> Krylov:
    """What `_packed` was given, with its solution on this device."""
    num_steps = sum(name.startswith("diagonal ") for name in arrays)
    diagonal, below = (
        tuple(torch.from_numpy(arrays[f"{name} {j}"]) for j in range(num_steps))
        for name in ("diagonal", "below")
    )
    solution = torch.from_numpy(arrays["solution"]).to(device) if "solution" in arrays else None
    return Krylov(diagonal, below, torch.from_numpy(arrays["start"]), solution)


def _fill(basis: Tensor, saved: Saved | None) -> int:
    """Put what was kept of a basis into its rows, and return their number."""
    size = 0
    for piece in () if saved is None else saved.grown:
        rows = torch.from_numpy(piece["basis"])
        basis[size : size + len(rows)] = rows
        size += len(rows)
    return size


def orthonormal_columns(W: Tensor, *, shortest: float, most: int | None = None) -> tuple[Tensor, Tensor]:
    """Factor W = Q B with orthonormal Q (n, r), dropping directions up to `shortest`; B is (r, p)."""
    Q, R = torch.linalg.qr(W)
    U, singular_values, Vh = torch.linalg.svd(R)
    rank = int((singular_values > shortest).sum())
    rank = rank if most is None else min(rank, most)
    # Laid out as what comes back from a checkpoint, so that both round alike.
    return (Q @ U[:, :rank]).contiguous(), (singular_values[:rank, None] * Vh[:rank]).contiguous()


def smallest_ritz_value(krylov: Krylov) -> tuple[float, float]:
    """A number θ close to the smallest Ritz value, and the residual ‖Hx − θx‖ for its vector x.

    Up to rounding it is at least λ_min, and some eigenvalue of H lies within the residual of θ.
    """
    factor, B = krylov.factor, krylov.below[-1]
    if factor is None:  # a Ritz value is 0 up to rounding
        values, vectors = torch.linalg.eigh(krylov.tridiagonal())
        value, vector, inside = float(values[0]), vectors[:, :1], 0.0
    else:
        value, vector = factor.smallest()
        inside = float((factor.matmul(vector) - value * vector).norm())
    return value, math.hypot(inside, float((B @ vector[-B.shape[1] :]).norm()))


def gauss_measure(krylov: Krylov) -> SpectralMeasure:
    """Gauss quadrature: exact for polynomials of degree below twice the number of steps."""
    return _measure(krylov.tridiagonal(), krylov.start)


def radau_measure(krylov: Krylov, node: float) -> SpectralMeasure:
    """Gauss–Radau quadrature with a prescribed node below the spectrum, of the multiplicity of a block.

    The last block is A = a I + B (T − a I)⁻¹_kk Bᵀ, which makes a an eigenvalue of the enlarged T
    [Golub & Meurant 2010, §6.2; for blocks Zimmerling, Druskin & Simoncini 2024].
    """
    if krylov.exhausted:
        return gauss_measure(krylov)
    T, B = krylov.tridiagonal(), krylov.below[-1]
    k, q, p = T.shape[0], B.shape[0], B.shape[1]
    identity = torch.eye(max(k, q), dtype=T.dtype, device=T.device)
    corner = torch.linalg.solve(T - node * identity[:k, :k], identity[:k, k - p : k])[k - p :]
    enlarged = T.new_zeros(k + q, k + q)
    enlarged[:k, :k] = T
    enlarged[k:, k - p : k] = B
    enlarged[k - p : k, k:] = B.T
    block = node * identity[:q, :q] + B @ corner @ B.T
    enlarged[k:, k:] = (block + block.T) / 2
    return _measure(enlarged, krylov.start)


def _measure(T: Tensor, start: Tensor) -> SpectralMeasure:
    with one_thread() if len(T) <= SMALL else nullcontext():
        nodes, vectors = torch.linalg.eigh(T)
    components = vectors[: start.shape[0]].T @ start
    return SpectralMeasure(nodes, components.square())
