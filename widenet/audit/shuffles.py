"""These labels, shuffled: how complex they would be if it did not matter at which rows they stand.

Shuffling keeps the shares of the classes, or the values of the targets, and so what can be learned from these
alone. Labels that do not depend on the inputs are a shuffle like any other: their complexity has a uniform
rank among shuffles, on any inputs, for any kernel, and however rare a class is. Where rows are copies of each
other that holds for shuffles of whole points.
"""

import math
import sys
from dataclasses import dataclass

import torch
from scipy.special import stdtr
from torch import Tensor

from widenet.audit.problem import KernelProblem
from widenet.data.points import Points
from widenet.runs.device import CPU

NUM_SHUFFLES = 1199  # enough that none as low is below .001
LEAST_SHUFFLES = 199
FAR = 1e-9  # a p-value that more shuffles would not change for anyone
MOST_OPERATIONS = 4e11  # for shuffles; large data sets get fewer of them
BLOCK_COLUMNS = 256  # of shuffled targets, multiplied at once
TIE = 1e-9  # relative; a shuffle that gives the same labels again is as low as they are


@dataclass(frozen=True)
class ShuffleTest:
    """How hard the labels are to fit, among shuffles of them.

    That is q + e / k̄, where q = Σ_c y_cᵀA⁻¹y_c is a quadratic form, and e is the part of ‖Y‖² that no
    function of the inputs can fit, because rows with the same inputs differ (0 if none do): it counts as it
    would at an eigenvalue of k̄, the mean of the kernel's diagonal. With A = H, q is that of the complexity,
    in which noise on small eigenvalues weighs most. With A = H + k̄I, it is yᵀ(H + k̄I)⁻¹y over all rows, which
    tells labels from shuffles also where only a little of them depends on the inputs.

    Attributes:
        observed: q + e / k̄ of the labels as they stand.
        samples: The same of each shuffle, shape (s,).
        quadratics: q alone of each shuffle, shape (s,).
        rows: Rows that this was found on.
        least: 1 over the number of arrangements that can be told apart.
    """

    observed: float
    samples: Tensor
    quadratics: Tensor
    rows: int
    least: float = 0.0

    @property
    def p_value(self) -> float:
        """Probability that a shuffle is as low, (1 + shuffles as low) / (1 + shuffles).

        Where none is as low, their mean and spread tell how far away it is, by Student's distribution of one
        more draw from a normal one; but one of all arrangements is the one that was observed.
        """
        num = len(self.samples)
        as_low = int((self.samples <= self.observed * (1 + TIE)).sum())
        share = (1 + as_low) / (1 + num)
        if as_low:
            return share
        spread = float(self.samples.std()) * math.sqrt(1 + 1 / num)
        tail = stdtr(num - 1, (self.observed - float(self.samples.mean())) / spread)
        return min(share, max(float(tail), self.least, sys.float_info.min))

    def spread(self, n: int) -> float:
        """Standard deviation of q among shuffles over its mean, for n rows: it falls as their root.

        It is 0 where no function of the inputs tells any rows apart, so that q is 0 in every shuffle.
        """
        if not float(self.quadratics.mean()) > 0:
            return 0.0
        return float(self.quadratics.std() / self.quadratics.mean()) * math.sqrt(self.rows / n)


def shuffle_test(
    problem: KernelProblem, root: Tensor, *, generator: torch.Generator, by_point: bool = False
) -> ShuffleTest:
    """Shuffle the targets among all rows, again and again, until chance is decided on.

    Args:
        problem: Points, and targets of all n rows.
        root: R with RᵀR = A⁻¹, where A is D^½ H D^½ over the u points, or that plus k̄I, shape (u, u).
        generator: Draws the shuffles.
        by_point: Whether all targets of a point move together, to another point with as many rows. Copies of
            a row with their one target are then no evidence that targets depend on inputs.
    """
    by_row = [torch.arange(len(problem.Y))[:, None]]
    blocks = point_blocks(problem.points.to(CPU)) if by_point else by_row
    n, c = problem.Y.shape
    affordable = int(MOST_OPERATIONS / (2 * len(root) ** 2 * c))
    num = min(NUM_SHUFFLES, max(LEAST_SHUFFLES, affordable))
    scale, least = problem.mean_diagonal, math.exp(-_log_arrangements(problem.Y, blocks))
    energy = float(problem.Y.square().sum())

    def judge(Y: Tensor) -> tuple[Tensor, Tensor]:
        """The forms q and q + e / k̄, each of shape (s,), of targets (n, s · c)."""
        V = problem.weighted(Y)
        quadratic = (root @ V).square().sum(0).reshape(-1, c).sum(1)
        fittable = V.square().sum(0).reshape(-1, c).sum(1)
        return quadratic, quadratic + (energy - fittable) / scale

    observed, quadratics, samples = float(judge(problem.Y)[1]), *problem.Y.new_empty(2, 0)
    for size in torch.ones(num).split(max(1, BLOCK_COLUMNS // c)):
        orders = torch.stack([_order(blocks, n, generator) for _ in size], 1)
        more, values = judge(problem.Y[orders].reshape(n, -1))
        quadratics, samples = torch.cat([quadratics, more]), torch.cat([samples, values])
        test = ShuffleTest(observed, samples, quadratics, n, least)
        if len(samples) >= LEAST_SHUFFLES and test.p_value < FAR:
            break
    return test


def point_blocks(points: Points) -> list[Tensor]:
    """The rows at the points that have m rows, for each m that occurs, shape (number of such points, m).

    >>> from widenet.data.points import points_of
    >>> point_blocks(points_of(torch.tensor([0, 1, 0, 2])))
    [tensor([[1],
            [3]]), tensor([[0, 2]])]
    """
    rows = torch.argsort(points.place, stable=True)
    counts = points.counts.to(torch.int64)[points.place[rows]]
    return [rows[counts == m].reshape(-1, m) for m in counts.unique().tolist()]


def _log_arrangements(Y: Tensor, blocks: list[Tensor]) -> float:
    """Logarithm of the number of shuffles that differ, Σ log(k! / Π (equal ones)!) over the blocks."""
    total = 0.0
    for rows in blocks:
        equal = torch.unique(Y[rows].flatten(1), dim=0, return_counts=True)[1]
        total += math.lgamma(len(rows) + 1) - float(torch.lgamma(equal.double() + 1).sum())
    return total


def _order(blocks: list[Tensor], n: int, generator: torch.Generator) -> Tensor:
    """An order of n rows in which the rows of each block have changed places, shape (n,)."""
    order = torch.empty(n, dtype=torch.int64)
    for rows in blocks:
        order[rows] = rows[torch.randperm(len(rows), generator=generator)]
    return order
