"""Block Lanczos with full reorthogonalisation: Gram matrix and vectors to a spectral measure."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from widenet.base.checkpoint import NOWHERE, Arrays, Checkpoint, Saved
from widenet.spectrum.gram import Operator

RANK_TOLERANCE = 1e-13  # directions shorter than this, relative to λ_max, are rounding


@dataclass(frozen=True)
class Krylov:
    """The block tridiagonal matrix T = QᵀHQ of a Krylov space that starts at V = Q₁R.

    Block sizes may shrink when the space is exhausted in some directions.

    Attributes:
        diagonal: Blocks A_j, shapes (p_j, p_j).
        below: Blocks B_j under the diagonal, shapes (p_{j+1}, p_j); the last one leads out of the space.
        start: R, shape (p_1, p).
    """

    diagonal: tuple[Tensor, ...]
    below: tuple[Tensor, ...]
    start: Tensor

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
    checkpoint: Checkpoint = NOWHERE,
) -> Krylov:
    """Run block Lanczos from V (n, p) for at most `num_steps` products [Golub & Meurant 2010, §4.3].

    Every new block is orthogonalised against all earlier ones, twice, so that T is that of exact
    arithmetic up to rounding of size ε λ_max. `stop` is asked every `check_every` steps. A run that goes on
    from a checkpoint is bit for bit the one that was not interrupted.

    >>> from widenet.spectrum.gram import DenseGram
    >>> H, v = torch.diag(torch.tensor([1.0, 2.0, 4.0])), torch.ones(3, 1)
    >>> krylov = lanczos(DenseGram(H), v, num_steps=3)
    >>> krylov.exhausted, gauss_measure(krylov).nodes
    (True, tensor([1.0000, 2.0000, 4.0000]))
    """
    saved = checkpoint.load()
    if saved is None:
        Q, start = orthonormal_columns(V, scale=float(V.norm()))
        diagonal, below = list[Tensor](), list[Tensor]()
    else:
        krylov = _unpacked(saved.arrays)
        if "Q" not in saved.arrays:
            return krylov
        Q, start = torch.from_numpy(saved.arrays["Q"]), krylov.start
        diagonal, below = list(krylov.diagonal), list(krylov.below)
    # Transposed, so that the rows of steps that are never taken take no memory.
    basis = Q.new_empty(min(gram.n, V.shape[1] * num_steps), gram.n)
    size = num_saved = _fill(basis, saved)
    for step in range(len(diagonal) + 1, num_steps + 1):
        basis[size : size + Q.shape[1]] = Q.T
        size += Q.shape[1]
        W = gram.matmul(Q)
        A = Q.T @ W
        diagonal.append((A + A.T) / 2)
        known = basis[:size]
        for _ in range(2):
            W -= known.T @ (known @ W)
        scale = max(float(block.diagonal().max()) for block in diagonal)
        Q, B = orthonormal_columns(W, scale=scale, most=gram.n - size)
        below.append(B)
        krylov = Krylov(tuple(diagonal), tuple(below), start)
        if krylov.exhausted or (stop is not None and step % check_every == 0 and stop(krylov)):
            break
        if checkpoint.is_due():
            state = _packed(krylov) | {"Q": Q.numpy()}
            checkpoint.save(state, grown={"basis": basis[num_saved:size].numpy()})
            num_saved = size
    checkpoint.finish(_packed(krylov))
    return krylov


def _packed(krylov: Krylov) -> dict[str, np.ndarray]:
    """The blocks by name."""
    blocks = {f"{name} {j}": b for name in ("diagonal", "below") for j, b in enumerate(getattr(krylov, name))}
    return {name: block.numpy() for name, block in blocks.items()} | {"start": krylov.start.numpy()}


def _unpacked(arrays: Arrays) -> Krylov:
    """What `_packed` was given."""
    num_steps = sum(name.startswith("diagonal ") for name in arrays)
    diagonal, below = (
        tuple(torch.from_numpy(arrays[f"{name} {j}"]) for j in range(num_steps))
        for name in ("diagonal", "below")
    )
    return Krylov(diagonal, below, torch.from_numpy(arrays["start"]))


def _fill(basis: Tensor, saved: Saved | None) -> int:
    """Put what was kept of a basis into its rows, and return their number."""
    size = 0
    for piece in () if saved is None else saved.grown:
        rows = torch.from_numpy(piece["basis"])
        basis[size : size + len(rows)] = rows
        size += len(rows)
    return size


def orthonormal_columns(W: Tensor, *, scale: float, most: int | None = None) -> tuple[Tensor, Tensor]:
    """Factor W = Q B with orthonormal Q (n, r), dropping directions below rounding; B is (r, p)."""
    Q, R = torch.linalg.qr(W)
    U, singular_values, Vh = torch.linalg.svd(R)
    rank = int((singular_values > RANK_TOLERANCE * scale).sum())
    rank = rank if most is None else min(rank, most)
    # Laid out as what comes back from a checkpoint, so that both round alike.
    return (Q @ U[:, :rank]).contiguous(), (singular_values[:rank, None] * Vh[:rank]).contiguous()


def smallest_ritz_value(krylov: Krylov) -> tuple[float, float]:
    """The smallest Ritz value θ, which is at least λ_min, and its residual ‖Hx − θx‖ for the Ritz vector x.

    Some eigenvalue of H lies within the residual of θ.
    """
    values, vectors = torch.linalg.eigh(krylov.tridiagonal())
    B = krylov.below[-1]
    return float(values[0]), float((B @ vectors[-B.shape[1] :, 0]).norm())


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
    nodes, vectors = torch.linalg.eigh(T)
    components = vectors[: start.shape[0]].T @ start
    return SpectralMeasure(nodes, components.square())
