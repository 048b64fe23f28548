"""Rows in the form that training takes, and what a look at all of them sees."""

from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.networks.network import Network, Parameters, with_ones
from widenet.predict.learning_curve import mistakes, squared_errors
from widenet.training.losses import Loss

MEASURED_ENTRIES = 2**20  # hidden values of one piece of a measurement


@dataclass(frozen=True)
class Rows:
    """Inputs and targets in the dtype of the computation."""

    X: Tensor  # rows (x, 1), shape (n, d + 1)
    Y: Tensor  # targets, shape (n, k), in memory (k, n) as a network's outputs are

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.X.shape[0]

    def to(self, device: torch.device) -> "Rows":
        """The same rows on another device."""
        return Rows(self.X.to(device), self.Y.to(device))

    def __getitem__(self, rows: Tensor | slice) -> "Rows":
        return Rows(self.X[rows], self.Y.mT[:, rows].mT)


def as_rows(X: Tensor, Y: Tensor, dtype: torch.dtype) -> Rows:
    """Rows for inputs X (n, d) and targets Y (n, k)."""
    return Rows(with_ones(X.to(dtype)), Y.to(dtype).mT.contiguous().mT)


@dataclass(frozen=True)
class MeasuredErrors:
    """Means over rows, of every copy, each of shape (s,)."""

    loss: Tensor  # the loss that is trained
    error: Tensor  # ‖y − out‖²
    misclassified: Tensor  # `predict.learning_curve.mistakes`.


def measure_errors(network: Network, params: Parameters, rows: Rows, loss: Loss) -> MeasuredErrors:
    """Look at all rows, a piece at a time."""
    s = params["A"].shape[0]
    piece = max(1, MEASURED_ENTRIES // (s * network.width))
    totals = rows.X.new_zeros(3, s, dtype=torch.float64)
    for start in range(0, rows.n, piece):
        part = rows[start : start + piece]
        out = network.forward(params, part.X, network.tape(params, part.n))
        seen = loss.values(out, part.Y), squared_errors(out, part.Y), mistakes(out, part.Y)
        totals += torch.stack([values.sum(1, dtype=torch.float64) for values in seen])
    return MeasuredErrors(*(totals / rows.n))
