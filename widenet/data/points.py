"""Rows as points: rows with the same inputs are one point with several targets.

No function of the inputs tells such rows apart, and one of them says too much about the others: who leaves a
row out leaves out its whole point.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.rounding import UNIT


@dataclass(frozen=True)
class Points:
    """The u distinct points of n rows.

    Attributes:
        place: For each row the index of its point, int64, shape (n,).
        first: For each point the index of its first row, int64, shape (u,).
        counts: m, how many rows each point has, float64, shape (u,).
    """

    place: Tensor
    first: Tensor
    counts: Tensor

    @property
    def num(self) -> int:
        """The number u of points."""
        return len(self.first)

    @property
    def num_repeated(self) -> int:
        """How many rows repeat an earlier one."""
        return len(self.place) - self.num

    def sums(self, values: Tensor) -> Tensor:
        """Sums over the rows of each point, shape (u, c), of values (n, c)."""
        return values.new_zeros(self.num, values.shape[1]).index_add_(0, self.place, values)

    def means(self, values: Tensor) -> Tensor:
        """Means over the rows of each point, shape (u, c), of values (n, c)."""
        return self.sums(values) / self.counts[:, None].to(values.dtype)

    def rounding_of_means(self, values: Tensor) -> Tensor:
        """How far `means` of values (n, c) in float64 may be off, shape (u, c); 0 where no row repeats.

        Sums of whole numbers, such as signs, are exact.
        """
        sizes, counts = self.sums(values.abs()), self.counts[:, None]
        is_whole = (self.sums((values != values.round()).to(values.dtype)) == 0) & (sizes < 1 / UNIT)
        off = torch.where(is_whole, self.means(values).abs(), (1 + 1 / counts) * sizes)
        return torch.where(counts > 1, 1.01 * UNIT * off, 0.0)

    def ordered(self, order: Tensor) -> "Points":
        """The points of the rows in another order (n,), each numbered by its first row there."""
        place = self.place[order]
        return points_of(_first_rows(place, self.num)[place])

    def to(self, device: torch.device) -> "Points":
        """The same points on another device."""
        return Points(self.place.to(device), self.first.to(device), self.counts.to(device))

    def mean_error(self, values: Tensor) -> float:
        """Standard error of the mean of values (n,) whose rows vary together within a point.

        The points' sums of deviations are independent of each other: √(Σ_points (Σ_rows v − v̄)²) / n, with
        u / (u − 1) for the mean that was taken from them.
        """
        sums = self.sums((values - values.mean())[:, None])
        return float(sums.square().sum().mul(self.num / max(self.num - 1, 1)).sqrt()) / len(values)


def points_of(group: Tensor) -> Points:
    """The points of rows (n,) that share a number where they are at the same one.

    >>> points = points_of(torch.tensor([5, 7, 5, 9]))
    >>> points.place, points.first
    (tensor([0, 1, 0, 2]), tensor([0, 1, 3]))
    """
    numbers, place, counts = torch.unique(group, return_inverse=True, return_counts=True)
    return Points(place, _first_rows(place, len(numbers)), counts.double())


def _first_rows(place: Tensor, num: int) -> Tensor:
    """For each of `num` points the index of its first row, shape (num,), by the place of each row (n,)."""
    n = len(place)
    return place.new_full((num,), n).scatter_reduce(0, place, torch.arange(n, device=place.device), "amin")


def every_row(n: int) -> Points:
    """Rows of which no two coincide."""
    return points_of(torch.arange(n))
