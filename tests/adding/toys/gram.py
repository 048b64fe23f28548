"""A Gram operator: a kernel's matrix by its products alone, counted, and never held."""

import torch
from torch import Tensor

from widenet.kernels import Kernel, cross_matrix
from widenet.spectrum import Gram


class CountedGram(Gram):
    """H V, computed anew for every product; what it cannot do, `Gram` does for it."""

    def __init__(self, kernel: Kernel, X: Tensor, dtype: torch.dtype) -> None:
        self.kernel, self.X, self._dtype = kernel, X, dtype
        self.num_products = 0

    @property
    def n(self) -> int:
        return len(self.X)

    @property
    def dtype(self) -> torch.dtype:
        return self._dtype

    def matmul(self, V: Tensor) -> Tensor:
        self.num_products += 1
        return (cross_matrix(self.kernel, self.X, self.X).to(self.dtype) @ V.to(self.dtype)).to(V.dtype)

    def diag(self) -> Tensor:
        return self.kernel.diag(self.X)
