"""The net with squares as activations [mild-memorisation, section 2.2], and the random layer before it.

ŷ(z) = Σ_i a_i (w_i^T z)² with a_i = +1 for the first half of the r neurons and −1 for the second. Only
W = [w_1 … w_r], shape (k, r), is trained, on f(W) = 1/(4n) Σ_j δ_j² with δ_j = ŷ(z_j) − y_j. The net depends
on W through the symmetric Q = W A W^T alone, A = diag(a): ŷ(z) = z^T Q z. So there are two ways to
everything: through Q and M = 1/n Σ_j δ_j z_j z_j^T, whose cost does not grow with n r, and through the
neurons, for few rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

Way = Literal["form", "neurons"]

ROOM = 2**23  # bytes of one temporary; rows go in blocks of this size, which stay in the cache
PARTS = 8  # column blocks of a symmetric product: of 8 × 8 blocks 36 are computed
NARROW = 64  # columns in a block below which a matrix product is too thin to be fast


def signs(r: int, dtype: torch.dtype = torch.float64, device: torch.device | str = "cpu") -> Tensor:
    """The fixed output weights a, +1 for the first half and −1 for the second, shape (r,)."""
    a = torch.ones(r, dtype=dtype, device=device)
    a[r // 2 :] = -1
    return a


def form(W: Tensor) -> Tensor:
    """Q = W A W^T, the quadratic form that the net computes, exactly symmetric, shape (k, k)."""
    return _symmetric_product((W * signs(W.shape[1], W.dtype, W.device)).T, W.T)


def quadratic_outputs(Z: Tensor, W: Tensor) -> Tensor:
    """ŷ_j of the rows of Z (n, k), by the cheaper way, shape (n,)."""
    if choose_gradient(len(Z), *W.shape) == "form":
        return form_outputs(Z, form(W))
    return neuron_outputs(Z, W)


def neuron_outputs(Z: Tensor, W: Tensor) -> Tensor:
    """ŷ_j = Σ_i a_i (w_i^T z_j)² neuron by neuron, at a cost of 2nkr, shape (n,)."""
    a = signs(W.shape[1], W.dtype, W.device)
    return torch.cat([(Z[rows] @ W).square_() @ a for rows in _row_blocks(Z, W.shape[1])])


def form_outputs(Z: Tensor, Q: Tensor) -> Tensor:
    """ŷ_j = z_j^T Q z_j for symmetric Q (k, k), shape (n,)."""
    k = Z.shape[1]
    halves = _halves(Q)
    values = Z.new_zeros(len(Z))
    for rows in _row_blocks(Z, k):
        for part in _parts(k):
            left = Z[rows, : part.stop] @ halves[: part.stop, part]
            values[rows] += left.mul_(Z[rows, part]).sum(1)
    return values


def curvature(Z: Tensor, delta: Tensor) -> Tensor:
    """M = 1/n Σ_j δ_j z_j z_j^T, exactly symmetric, shape (k, k)."""
    M = Z.new_zeros(Z.shape[1], Z.shape[1])
    for rows in _row_blocks(Z, Z.shape[1]):
        M += _symmetric_product(Z[rows] * delta[rows, None], Z[rows])
    return M / len(Z)


def loss(delta: Tensor) -> float:
    """The loss f = Σ_j δ_j² / (4n), summed in float64."""
    return float(delta.to(torch.float64).square().sum()) / (4 * len(delta))


def quadratic_gradient(Z: Tensor, y: Tensor, W: Tensor) -> Tensor:
    """∇f(W) = M W A, column i being a_i M w_i [mild-memorisation, Appendix C], shape (k, r).

    Through Q and M, at a cost of nk² + k²r.
    """
    delta = form_outputs(Z, form(W)) - y
    return curvature(Z, delta) @ W * signs(W.shape[1], W.dtype, W.device)


def neuron_gradient(Z: Tensor, y: Tensor, W: Tensor) -> Tensor:
    """The same gradient through the neurons' values Z W, at a cost of bkr for b rows, shape (k, r)."""
    a = signs(W.shape[1], W.dtype, W.device)
    total = torch.zeros_like(W)
    for rows in _row_blocks(Z, W.shape[1]):
        values = Z[rows] @ W
        delta = values.square() @ a - y[rows]
        total.addmm_(Z[rows].T, values.mul_(delta[:, None]))
    return total.mul_(a / len(Z))


def choose_gradient(n: int, k: int, r: int) -> Way:
    """The cheaper way to the gradient on n rows: `form` (Q and M) or `neurons`."""
    share = sum(part.stop * (part.stop - part.start) for part in _parts(k)) / k**2
    through_form = share * (n * k**2 + k**2 * r / 2) + k**2 * r / 2
    return "form" if through_form < n * k * r else "neurons"


def hessian_product(Z: Tensor, y: Tensor, W: Tensor, V: Tensor) -> Tensor:
    """∇²f(W)[V] = M V A + 2/n Σ_j (z_j^T W A V^T z_j) z_j z_j^T W A, shape (k, r).

    The derivative of M W A along V [mild-memorisation, Appendix C]: δ_j moves by 2 z_j^T W A V^T z_j, and so
    M by twice the curvature of the numbers z_j^T S z_j, S the symmetric part of W A V^T.
    """
    a = signs(W.shape[1], W.dtype, W.device)
    delta = form_outputs(Z, form(W)) - y
    mixed = W * a @ V.T
    movement = form_outputs(Z, (mixed + mixed.T) / 2)
    return (curvature(Z, delta) @ V + 2 * curvature(Z, movement) @ W) * a


@dataclass(frozen=True)
class RandomLayer:
    """The first of three layers, z = scale · (R x)^p elementwise; it is drawn and never trained.

    Attributes:
        R: Its weights, a random direction in each row, shape (k, d).
        power: The activation's exponent p.
        scale: What z is multiplied by; W takes up its inverse, so it changes no statement but the numbers'
            size.
    """

    R: Tensor
    power: int
    scale: float

    def __call__(self, X: Tensor) -> Tensor:
        """Z for the rows of X (n, d), shape (n, k)."""
        return (X @ self.R.T).pow_(self.power).mul_(self.scale)


def _row_blocks(Z: Tensor, width: int) -> Iterator[slice]:
    """Slices of rows such that a temporary of `width` columns keeps within ROOM."""
    step = max(1, ROOM // (width * Z.element_size()))
    return (slice(start, min(start + step, len(Z))) for start in range(0, len(Z), step))


def _parts(k: int) -> list[slice]:
    """Column blocks of a symmetric matrix (k, k); one where blocks would be too thin."""
    step = max(NARROW, -(-k // PARTS))
    return [slice(start, min(start + step, k)) for start in range(0, k, step)]


def _symmetric_product(left: Tensor, right: Tensor) -> Tensor:
    """left^T right of two matrices (b, k), known to be symmetric: the blocks below the diagonal, mirrored."""
    k = right.shape[1]
    product = right.new_empty(k, k)
    for part in _parts(k):
        torch.mm(left[:, part].T, right[:, : part.stop], out=product[part, : part.stop])
    lower = product.tril_()
    return lower + lower.tril(-1).T


def _halves(Q: Tensor) -> Tensor:
    """Weights T with z^T Q z = Σ_blocks z^T T z over the upper blocks: those off the diagonal count twice."""
    halves = 2 * Q
    for part in _parts(len(Q)):
        halves[part, part] = Q[part, part]
    return halves
