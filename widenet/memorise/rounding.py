"""What rounding in float64 can have done to the net's numbers, at most."""

import torch
from torch import Tensor

from widenet.base.rounding import LEAST, ROOT, TINY, UNIT, gamma
from widenet.networks.quadratic import RandomLayer


def layer_errors(layer: RandomLayer | None, X: Tensor) -> Tensor:
    """How far the layer's ẑ_j in float64 can be from the exact z_j = s (Rx_j)^p, in norm, shape (n,).

    |ẑ_i − z_i| ≤ γ s (‖R_i‖ ‖x‖)^p with p(d + 4) + 16 roundings, and underflow loses at most `LEAST` in each
    multiplication. Without a layer z = x, which is exact.

    Args:
        layer: The random layer; None for two layers.
        X: Inputs, shape (n, d).
    """
    if layer is None:
        return torch.zeros(len(X), dtype=torch.float64)
    (k, d), p, s = layer.R.shape, layer.power, layer.scale
    reach = (float(layer.R.norm(dim=1).max()) + ROOT) * (X.norm(dim=1) + ROOT)
    return k**0.5 * (s * (gamma(p * (d + 4) + 16) * reach**p) + 4 * (p * s + 1) * LEAST)


def squares_moved(Z: Tensor, errors: Tensor) -> float:
    """How far [z_j^{⊗2}] can be from that of the exact rows, in the Frobenius norm.

    A column moves by ‖ẑ ⊗ ẑ − z ⊗ z‖ ≤ 2 ‖ẑ‖ e + e², and no singular value by more than the whole.

    Args:
        Z: Rows ẑ_j as they are stored, shape (n, k).
        errors: e_j, how far each can be from the exact one, shape (n,).
    """
    columns = 2 * Z.norm(dim=1) * errors + errors.square()
    return 1.001 * float(columns.norm())  # the rounding of these very lines, too


def output_rounding(Z: Tensor, errors: Tensor, W: Tensor, y: Tensor) -> float:
    """The most by which rounding can move an output, through the neurons as through Q.

    A term of Σ_i a_i (w_iᵀz)² goes through at most 2k + r + 2 roundings, whichever way it is summed, and
    Σ_i (|w_i|ᵀ|z|)² ≤ ‖W‖_F² ‖z‖². That z itself is off by e adds ‖W‖_F² (2 ‖z‖ e + e²).

    Args:
        Z: Rows, shape (n, k).
        errors: e_j, shape (n,).
        W: Weights, shape (k, r).
        y: Targets, shape (n,), from which outputs are subtracted.
    """
    k, r = W.shape
    norms = Z.norm(dim=1) + ROOT
    moved = gamma(2 * k + r + 16) * norms**2 + 2 * norms * errors + errors**2
    largest = (float(W.square().sum()) + k * r * TINY) * float(moved.max())
    return 1.001 * (largest + 4 * UNIT * float(y.abs().max())) + k * r * TINY
