"""All eigenvalues of a Gram matrix, and how labels lie along its eigenvectors.

This is a full eigendecomposition, minutes for 10,000 rows: for pictures of the spectrum itself. What only
depends on sums over the spectrum, such as yᵀH⁻¹y or a training curve, comes from a few Lanczos steps.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.memory import require_memory


@dataclass(frozen=True)
class LabelProjections:
    """Labels in the eigenvectors of H, the largest eigenvalue first [fine-grained, figure 1].

    Attributes:
        eigenvalues: λ_1 ≥ … ≥ λ_n, shape (n,).
        projections: |v_iᵀy| for each of p columns of labels, shape (n, p).
        worst: √n v_n, shape (n,): the eigenvector of the smallest eigenvalue, on which descent is slowest.
            The paper says "normalized eigenvector"; it is scaled to the norm √n that labels of ±1 have, so
            that descent begins at the same loss. Of its two signs it has the one with the largest entry
            positive.
    """

    eigenvalues: Tensor
    projections: Tensor
    worst: Tensor


def label_projections(H: Tensor, Y: Tensor) -> LabelProjections:
    """Eigenvalues of H, the projections of labels onto its eigenvectors, and the worst labels there are.

    It takes 24 n² bytes besides H.

    >>> H = torch.tensor([[2.0, 1.0], [1.0, 2.0]], dtype=torch.float64)
    >>> found = label_projections(H, torch.tensor([[1.0], [1.0]], dtype=torch.float64))
    >>> found.eigenvalues.round(decimals=6).tolist(), found.projections.round(decimals=6).tolist()
    ([3.0, 1.0], [[1.414214], [0.0]])

    Args:
        H: Gram matrix, symmetric, float64, shape (n, n).
        Y: Labels, a vector in each column, shape (n, p).
    """
    if Y.shape[:-1] != H.shape[:1]:
        raise InputError(f"Labels must have shape ({len(H)}, columns), not {tuple(Y.shape)}.")
    return projections_onto(all_eigenvectors(H), Y)


@dataclass(frozen=True)
class Eigenvectors:
    """H = V diag(λ) Vᵀ."""

    eigenvalues: Tensor  # ascending, shape (n,)
    vectors: Tensor  # one in each column, shape (n, n)


def all_eigenvectors(H: Tensor) -> Eigenvectors:
    """All of a Gram matrix (n, n), float64; they can serve for several sets of labels."""
    require_memory(24 * len(H) ** 2, f"The eigenvectors of {len(H):,} rows", "use fewer rows")
    return Eigenvectors(*torch.linalg.eigh(H))


def projections_onto(eigen: Eigenvectors, Y: Tensor) -> LabelProjections:
    """`label_projections` of labels Y (n, p) where the eigenvectors are known."""
    last = eigen.vectors[:, 0]
    sign = torch.sign(last[last.abs().argmax()])
    return LabelProjections(
        eigenvalues=eigen.eigenvalues.flip(0),
        projections=(eigen.vectors.T @ Y).abs().flip(0),
        worst=math.sqrt(len(last)) * sign * last,
    )
