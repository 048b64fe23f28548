"""Principal components: rows in the few directions in which they vary most."""

from dataclasses import dataclass

import torch
from sklearn.decomposition import PCA
from torch import Tensor

from widenet.base.errors import InputError


@dataclass(frozen=True)
class PrincipalComponents:
    """A map from d coordinates to the q in which rows vary most, kept so that new rows take the same way.

    Attributes:
        mean: Of the rows that it was fitted to, shape (d,); it is subtracted first.
        directions: Orthonormal columns, the one of the largest variance first, shape (d, q).
    """

    mean: Tensor
    directions: Tensor

    def apply(self, X: Tensor) -> Tensor:
        """The coordinates of the rows of X (n, d), shape (n, q)."""
        return (X - self.mean) @ self.directions


def principal_components(X: Tensor, num_directions: int) -> PrincipalComponents:
    """Fit the map to the rows of X (n, d), as scikit-learn's PCA does: centred, and not scaled."""
    if not 1 <= num_directions <= min(X.shape):
        raise InputError(
            f"{len(X):,} rows of {X.shape[1]:,} columns have at most {min(X.shape):,} principal components, "
            f"not {num_directions:,}."
        )
    fitted = PCA(num_directions, svd_solver="covariance_eigh").fit(X.numpy())
    return PrincipalComponents(torch.from_numpy(fitted.mean_), torch.from_numpy(fitted.components_.T.copy()))
