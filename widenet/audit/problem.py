"""The kernel regression problem behind a data set: distinct rows, their Gram operator, their targets."""

from dataclasses import dataclass

from torch import Tensor

from widenet.data.points import Points
from widenet.spectrum.gram import Gram, SizedGram


@dataclass(frozen=True)
class KernelProblem:
    """Gradient descent on rows of which some coincide, as an equal problem on the distinct ones.

    Rows that are one point get one prediction, so only the mean of their targets can be fitted. With m_i rows
    at point i, the n rows' H has the non-zero eigenvalues of D^½ H D^½ over the points, D = diag(m), and the
    labels the components of D^½ ȳ. Without repeated rows D = I.
    """

    gram: Gram  # D^½ H D^½
    points: Points
    Y: Tensor  # targets of all rows, shape (n, c)
    floor: float  # a certified lower bound on λ_min(H), and so on that of D^½ H D^½; 0 where none is known
    exact: "ExactGram | None" = None  # of H in float64; None where the matrix is held
    close_pair: Tensor | None = None  # e_i − e_j, shape (u, 1); None where none was sought

    def weighted(self, Y: Tensor) -> Tensor:
        """D^½ ȳ, shape (u, c), of targets (n, c) of the rows."""
        return self.points.sums(Y) / self.points.counts.sqrt()[:, None]

    @property
    def targets(self) -> Tensor:
        """D^½ ȳ, shape (u, c)."""
        return self.weighted(self.Y)

    @property
    def mean_diagonal(self) -> float:
        """k̄, the mean over all rows of the kernel's diagonal."""
        return float(self.gram.diag().sum()) / len(self.Y)

    @property
    def unfittable(self) -> float:
        """Σ ‖y − ȳ‖² over all rows, the part of ‖Y‖² that no function of the rows can fit."""
        return float((self.Y - self.points.means(self.Y)[self.points.place]).square().sum())


@dataclass(frozen=True)
class ExactGram:
    """H over the points in float64 and on the CPU, for bounds.

    Attributes:
        gram: The operator.
        rounding: How far an entry of its product with z may be off, over Σ|z_j|.
        is_proof: Whether that is known: the entries are computed as the proof takes them to be.
    """

    gram: Gram
    rounding: float
    is_proof: bool


class WeightedGram(SizedGram):
    """D^½ H D^½ as an operator."""

    def __init__(self, gram: Gram, weights: Tensor) -> None:
        super().__init__(gram.n, gram.dtype)
        self.gram, self.weights = gram, weights

    def matmul(self, V: Tensor) -> Tensor:
        return self.weights[:, None] * self.gram.matmul(self.weights[:, None] * V)

    def diag(self) -> Tensor:
        return self.weights.square() * self.gram.diag()

    def held(self) -> Tensor | None:
        matrix = self.gram.held()
        return None if matrix is None else self.weights[:, None] * matrix * self.weights

    def columns(self, places: Tensor) -> Tensor:
        columns = self.gram.columns(places)
        weights = self.weights.to(columns.dtype)  # in which the columns say how exact they are
        return weights[:, None] * columns * weights[places]

    def recomputed(self) -> "WeightedGram | None":
        gram = self.gram.recomputed()
        return None if gram is None else WeightedGram(gram, self.weights)


def weighted_gram(gram: Gram, points: Points) -> Gram:
    """D^½ H D^½ from the operator H of the distinct points; H itself where no row is repeated."""
    return WeightedGram(gram, points.counts.sqrt()) if points.num_repeated else gram
