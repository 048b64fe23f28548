"""An estimator: kernel ridge regression under a tangent kernel, as scikit-learn has its estimators."""

from typing import Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data
from widenet.compare.estimators import EstimatorMethod

from widenet.kernels import cross_matrix, gram_matrix, kernel_by_name


class TangentRidge(RegressorMixin, BaseEstimator):
    """(K + ρI)⁻¹ y for the kernel of a name."""

    def __init__(self, kernel: str = "relu2-all", ridge: float = 1e-3) -> None:
        self.kernel, self.ridge = kernel, ridge

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        X, y = validate_data(self, X, y, y_numeric=True, dtype=np.float64)
        self.X_fit_ = torch.from_numpy(X)
        K = gram_matrix(kernel_by_name(self.kernel), self.X_fit_)
        shifted = K + self.ridge * float(K.diagonal().mean()) * torch.eye(len(K), dtype=K.dtype)
        self.dual_coef_ = torch.linalg.solve(shifted, torch.from_numpy(np.asarray(y, dtype=np.float64)))
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        values = cross_matrix(kernel_by_name(self.kernel), torch.from_numpy(X), self.X_fit_)
        return (values @ self.dual_coef_).numpy()


def tangent_ridge(width: int, epochs: int) -> EstimatorMethod:
    """The estimator as a method of the comparison, its ridge chosen inside the training part."""
    return EstimatorMethod("tangent-ridge", TangentRidge, {"ridge": (1e-4, 1e-2)})
