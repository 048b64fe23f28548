"""Coordinates in which the inputs' second moments are the identity.

The net does not change when inputs z become T^T z and weights W become T⁺W: it sees w^T z alone. But descent
and conjugate gradients do depend on the coordinates, and these suit them. For Gaussian inputs with E zz^T = I
the map Q ↦ E (z^T Q z) zz^T, by which a quadratic form moves, is 2Q + tr(Q) I: all directions but one weigh
the same.
"""

import torch
from torch import Tensor

from widenet.networks.quadratic import curvature


def whitening(Z: Tensor) -> Tensor:
    """T of shape (k, q) with 1/n Σ (T^T z)(T^T z)^T = I_q, q the numerical rank of Z (n, k).

    Columns are brought to one size first, so that a feature is not lost for being small; directions that the
    rows do not span to rounding are left out.
    """
    moments = curvature(Z, Z.new_ones(len(Z)))
    sizes = moments.diagonal().sqrt()
    used = sizes > 0
    inverse = torch.where(used, 1 / sizes.where(used, torch.ones_like(sizes)), torch.zeros_like(sizes))
    eigenvalues, vectors = torch.linalg.eigh(inverse[:, None] * moments * inverse)
    spanned = eigenvalues > len(sizes) * torch.finfo(Z.dtype).eps * eigenvalues[-1]
    return inverse[:, None] * vectors[:, spanned] / eigenvalues[spanned].sqrt()
