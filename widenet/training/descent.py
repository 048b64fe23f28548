"""Full-batch gradient descent on the hidden layer of a two-layer network [fine-grained, section 3.1]."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.networks.two_layer import FineGrainedNet

DIVERGED = 1e3  # times the initial residual: stable descent only ever falls
BLOCK_ENTRIES = 2**20  # of one tile of neurons times rows: small enough to stay in cache between passes
LANES = 8  # matrix products with rows that are no multiple of this lose up to a third of their speed


@dataclass(frozen=True)
class DescentRun:
    """What gradient descent did, step by step.

    Attributes:
        eta: Step size η.
        residual_norms: ‖y − u(k)‖ for k = 0..K, float64, shape (K + 1,).
        distances: ‖W(k) − W(0)‖_F for k = 0..K, float64, shape (K + 1,).
        neuron_movement: ‖w_r(K) − w_r(0)‖ of every neuron, shape (m,).
        sign_changes: Share of the m·n signs of w_r^T x_i that differ between W(0) and W(K).
        diverged: True when the run was stopped because its residual outgrew `DIVERGED` times the initial one
            or was no longer finite; K is then the step of the stop, not `num_steps`.
        params: The network at step K.
    """

    eta: float
    residual_norms: Tensor
    distances: Tensor
    neuron_movement: Tensor
    sign_changes: float
    diverged: bool
    params: FineGrainedNet


def descend(
    params: FineGrainedNet,
    X: Tensor,
    y: Tensor,
    *,
    eta: float,
    num_steps: int,
    progress: Callable[[int], None] = lambda done: None,
) -> DescentRun:
    """Run W(k+1) = W(k) − η ∇Φ(W(k)) on Φ = ½‖y − u‖², in the dtype of the parameters.

    Gradients are combinations of the rows of X, so W only moves within their span. The descent therefore runs
    in coordinates of that span, which changes nothing but the cost: images leave many coordinates unused, and
    n rows span at most n. Each step is one product with X forwards and one backwards, over tiles of neurons.

    Args:
        params: The network at initialisation.
        X: Inputs, shape (n, d).
        y: Targets, shape (n,).
        eta: Step size; the linear theory is stable below 2/λ_max(H∞).
        num_steps: Steps to take.
        progress: Called with the number of steps done, after each.
    """
    if y.shape != X.shape[:1]:
        raise InputError(f"A network has one output, so y must have shape ({len(X)},), not {tuple(y.shape)}.")
    dtype = params.W.dtype
    basis = row_space(X)
    X_span, W_start = (X @ basis).to(dtype), params.W @ basis.to(dtype)
    y = y.to(dtype)
    moved = torch.zeros_like(W_start)
    active = torch.empty(params.width, len(y), dtype=torch.bool)

    residual = y - _forward(W_start, moved, params.a, X_span, active)
    active_at_start = active.clone()
    residual_norms, distances = [float(residual.norm())], [0.0]
    diverged = False
    for step in range(1, num_steps + 1):
        _backward(moved, active, params.a, X_span, residual, eta)
        residual = y - _forward(W_start, moved, params.a, X_span, active)
        residual_norms.append(float(residual.norm()))
        distances.append(float(moved.norm()))
        diverged = not residual_norms[-1] <= DIVERGED * residual_norms[0]
        if diverged:
            break
        progress(step)

    return DescentRun(
        eta=eta,
        residual_norms=torch.tensor(residual_norms, dtype=torch.float64),
        distances=torch.tensor(distances, dtype=torch.float64),
        neuron_movement=moved.norm(dim=1),
        sign_changes=float((active != active_at_start).sum()) / active.numel(),
        diverged=diverged,
        params=FineGrainedNet(W=params.W + moved @ basis.to(dtype).T, a=params.a),
    )


def row_space(X: Tensor) -> Tensor:
    """Orthonormal columns Q whose span holds the rows of X (n, d), so that X Q Q^T = X.

    There are as many as the rank of X, rounded up to a multiple of `LANES` where more directions exist.
    """
    _, singular_values, directions = torch.linalg.svd(X, full_matrices=False)
    threshold = singular_values[0] * max(X.shape) * torch.finfo(X.dtype).eps
    rank = int((singular_values > threshold).sum())
    return directions[: -(-rank // LANES) * LANES].T.contiguous()


def _forward(W_start: Tensor, moved: Tensor, a: Tensor, X: Tensor, active: Tensor) -> Tensor:
    """Outputs u (n,) at W_start + moved; writes I[w_r^T x_i ≥ 0] into `active` (m, n)."""
    u = torch.zeros(X.shape[0], dtype=X.dtype)
    for neurons in _blocks(active):
        preactivations = (W_start[neurons] + moved[neurons]) @ X.T
        torch.ge(preactivations, 0, out=active[neurons])
        u += a[neurons] @ preactivations.clamp_(min=0)
    return u / math.sqrt(len(a))


def _backward(moved: Tensor, active: Tensor, a: Tensor, X: Tensor, residual: Tensor, eta: float) -> None:
    """Add −η ∇Φ = η m^{-1/2} a_r Σ_i I[w_r^T x_i ≥ 0] (y_i − u_i) x_i to `moved` (m, d), in place."""
    weighted = eta / math.sqrt(len(a)) * residual[:, None] * X
    for neurons in _blocks(active):
        moved[neurons].addcmul_(a[neurons, None], active[neurons].to(X.dtype) @ weighted)


def _blocks(active: Tensor) -> list[slice]:
    """Slices of neurons whose tiles of shape (neurons, n) have about `BLOCK_ENTRIES` entries."""
    m, n = active.shape
    size = max(1, BLOCK_ENTRIES // n)
    return [slice(start, start + size) for start in range(0, m, size)]
