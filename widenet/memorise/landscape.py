"""Where a net of squares stands on its loss: how low, how flat, and why flat means low.

With M = 1/n Σ_j δ_j z_j z_j^T: λ_min(∇²f) = −max_i |λ_i(M)| for r ≥ 2k + 2 [mild-memorisation, Lemma 3], and
f ≤ n k ‖M‖² / (4 σ²) for σ = σ_min of [z_j^{⊗2}] [Lemma 4]. So where there is no way down, all is fitted.

Rows that are one point with one target may be counted once in σ: a point of m rows has the weight m ≥ 1 in
nM, so ‖nM‖_F² ≥ σ² Σ (m δ)² ≥ σ² Σ m δ² = σ² 4 n f, which is all that Lemma 4 rests on.
"""

from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor

from widenet.base.rounding import UNIT
from widenet.networks.quadratic import curvature, form, form_outputs, loss


@dataclass(frozen=True)
class Landscape:
    """The landscape at one W."""

    loss: float  # f(W)
    max_residual: float  # max_j |δ_j|
    curvature_norm: float  # ‖M‖, the largest absolute eigenvalue of M
    lambda_min: float  # λ_min(∇²f) = −‖M‖ by Lemma 3; 0 at a global minimum
    bound: float  # n k ‖M‖² / (4 σ²) of Lemma 4; infinite where σ is not known to be positive
    holds: bool  # whether f is within that bound, up to the rounding of M


def landscape(Z: Tensor, y: Tensor, W: Tensor, sigma: float) -> Landscape:
    """The landscape at W (k, r) for rows Z (n, k), targets y (n,) and a lower bound on σ_min, in float64."""
    n, k = Z.shape
    delta = form_outputs(Z, form(W)) - y
    norm = spectral_norm(curvature(Z, delta))
    # M is a sum of n terms, each rounded, and eigenvalues are found up to a rounding of about k u ‖M‖.
    rounding = (n + k + 4) * UNIT * float((delta.abs() * Z.square().sum(1)).sum()) / n
    value = loss(delta)
    bound = loss_bound(n, k, norm, sigma)
    holds = bound < inf and value <= loss_bound(n, k, norm + rounding, sigma)
    return Landscape(value, float(delta.abs().max()), norm, -norm, bound, holds)


def spectral_norm(M: Tensor) -> float:
    """max_i |λ_i| of a symmetric matrix (k, k)."""
    return float(torch.linalg.eigvalsh(M).abs().max())


def loss_bound(n: int, k: int, norm: float, sigma: float) -> float:
    """The bound n k ‖M‖² / (4 σ²) on the loss [mild-memorisation, Lemma 4]."""
    if sigma <= 0:
        return inf
    ratio = norm / sigma
    return n * k * ratio * ratio / 4  # a power would raise an error where this is infinite
