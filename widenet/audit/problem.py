"""The kernel regression problem behind a data set: distinct rows, their Gram operator, their targets."""

from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.data.dataset import Dataset
from widenet.data.duplicates import Duplicates
from widenet.spectrum.gram import Gram, SizedGram


@dataclass(frozen=True)
class KernelProblem:
    """Gradient descent on rows of which some coincide, as an equal problem on the distinct ones.

    Rows that are one point get one prediction, so only the mean of their targets can be fitted. With m_i rows
    at point i, the n rows' H has the non-zero eigenvalues of D^½ H D^½ over the points, D = diag(m), and the
    labels the components of D^½ ȳ. Without repeated rows D = I.
    """

    gram: Gram  # D^½ H D^½
    weights: Tensor  # D^½, shape (u,)
    targets: Tensor  # D^½ ȳ, shape (u, c)
    unfittable: float  # Σ ‖y − ȳ‖² over all rows, the part of ‖Y‖² that no function of the rows can fit
    floor: float  # a certified lower bound on λ_min(D^½ H D^½); 0 where none is known


class WeightedGram(SizedGram):
    """D^½ H D^½ as an operator."""

    def __init__(self, gram: Gram, weights: Tensor) -> None:
        super().__init__(gram.n, gram.dtype)
        self.gram, self.weights = gram, weights

    def matmul(self, V: Tensor) -> Tensor:
        return self.weights[:, None] * self.gram.matmul(self.weights[:, None] * V)

    def diag(self) -> Tensor:
        return self.weights.square() * self.gram.diag()


def distinct_problem(dataset: Dataset, duplicates: Duplicates, gram: Gram, floor: float) -> KernelProblem:
    """Put the targets and multiplicities of coinciding rows onto the Gram operator of the distinct rows.

    Args:
        dataset: All rows.
        duplicates: Which of them coincide.
        gram: Operator over `duplicates.unique`, u rows.
        floor: Lower bound on its smallest eigenvalue; multiplicities can only raise it.
    """
    if duplicates.num_repeated == 0:
        return KernelProblem(gram, dataset.Y.new_ones(dataset.n), dataset.Y, 0.0, floor)
    place = torch.searchsorted(duplicates.unique, duplicates.group)
    counts = torch.bincount(place, minlength=len(duplicates.unique)).to(dataset.Y.dtype)
    sums = torch.zeros(len(counts), dataset.Y.shape[1], dtype=dataset.Y.dtype).index_add_(0, place, dataset.Y)
    means = sums / counts[:, None]
    weights = counts.sqrt()
    unfittable = float((dataset.Y - means[place]).square().sum())
    return KernelProblem(WeightedGram(gram, weights), weights, weights[:, None] * means, unfittable, floor)
