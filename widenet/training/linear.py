"""Linear models without steps: from one factorisation every ridge and every time of gradient flow.

A model that is linear in its trained weights (the NTK, or a last layer used once) is known by the Gram matrix
K of its features. With K = V diag(λ) Vᵀ every estimator here is a filter g(λ) of the spectrum: the
coefficients are α = V g(λ) VᵀY, and the predictions at new rows are their kernel with the training rows times
α. Ridge regression has g = 1/(λ + ρ); gradient flow on ½‖f − Y‖² from f = 0 has
g(t) = (1 − e^{−tλ})/λ, which leaves the residual e^{−tK}Y on the training rows.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.errors import InputError


@dataclass(frozen=True)
class Factorisation:
    """K = V diag(λ) Vᵀ."""

    eigenvalues: Tensor  # λ, ascending and not negative, shape (n,)
    vectors: Tensor  # V, one eigenvector a column, shape (n, n)


def factorise(K: Tensor) -> Factorisation:
    """Factorise a Gram matrix, positive semi-definite, float64, shape (n, n)."""
    eigenvalues, vectors = torch.linalg.eigh(K)
    return Factorisation(eigenvalues.clamp(min=0), vectors)  # below 0 there is only rounding


def ridge_filters(eigenvalues: Tensor, ridges: Tensor) -> Tensor:
    """Filters g = 1/(λ + ρ), shape (r, n), for ridges ρ > 0 of shape (r,)."""
    if not bool((ridges > 0).all()):
        raise InputError("Ridges must be positive; for the limit 0 give a very small one.")
    return 1 / (eigenvalues + ridges[:, None])


def flow_filters(eigenvalues: Tensor, times: Tensor) -> Tensor:
    """Filters g = (1 − e^{−tλ})/λ, shape (r, n), for times t ≥ 0 of shape (r,); its limit at λ = 0 is t."""
    if not bool((times >= 0).all()):
        raise InputError("Times of gradient flow cannot be negative.")
    exponents = times[:, None] * eigenvalues
    small = exponents < 1e-8  # there the series t (1 − tλ/2) is exact to rounding
    safe = torch.where(small, 1.0, eigenvalues)
    return torch.where(small, times[:, None] * (1 - exponents / 2), -torch.expm1(-exponents) / safe)


def ridge_coefficients(factors: Factorisation, Y: Tensor, ridges: Tensor) -> Tensor:
    """α = (K + ρI)⁻¹Y at every ridge, shape (r, n, k), for targets Y (n, k)."""
    return _filtered(factors, ridge_filters(factors.eigenvalues, ridges), factors.vectors, Y)


def ridge_predictions(factors: Factorisation, cross: Tensor, Y: Tensor, ridges: Tensor) -> Tensor:
    """Predictions of ridge regression at every ridge, shape (r, p, k).

    Args:
        factors: Factorisation of K over the n training rows.
        cross: Kernel between p rows and the training rows, shape (p, n).
        Y: Targets, shape (n, k).
        ridges: ρ > 0, shape (r,).
    """
    filters = ridge_filters(factors.eigenvalues, ridges)
    return _filtered(factors, filters, cross @ factors.vectors, Y)


def ridge_leave_one_out(factors: Factorisation, Y: Tensor, ridges: Tensor) -> Tensor:
    """What ridge regression on all other rows predicts for each row, at every ridge, shape (r, n, k).

    With A = K + ρI it is y_i − (A⁻¹Y)_i / (A⁻¹)_ii [rasmussen2006gp, equation 5.12]; arguments as in
    `ridge_predictions`.
    """
    filters = ridge_filters(factors.eigenvalues, ridges)
    precision = filters @ factors.vectors.square().T
    return Y - _filtered(factors, filters, factors.vectors, Y) / precision[..., None]


def flow_predictions(factors: Factorisation, cross: Tensor, Y: Tensor, times: Tensor) -> Tensor:
    """Predictions of gradient flow at every time, shape (r, p, k); arguments as in `ridge_predictions`."""
    filters = flow_filters(factors.eigenvalues, times)
    return _filtered(factors, filters, cross @ factors.vectors, Y)


def flow_residuals(factors: Factorisation, Y: Tensor, times: Tensor) -> Tensor:
    """What gradient flow has not fitted at every time, e^{−tK}Y, shape (r, n, k)."""
    decay = torch.exp(-times[:, None] * factors.eigenvalues)
    return _filtered(factors, decay, factors.vectors, Y)


def _filtered(factors: Factorisation, filters: Tensor, left: Tensor, Y: Tensor) -> Tensor:
    """Products left · g(λ) · VᵀY, shape (r, p, k), for left (p, n) and filters g of shape (r, n)."""
    return left @ (filters[..., None] * (factors.vectors.T @ Y))
