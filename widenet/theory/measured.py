"""What theorems ask to know of data: eigenvalues, singular values, norms, the labels' complexity."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.data.dataset import Dataset
from widenet.data.duplicates import find_duplicates
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.spectrum.brackets import inverse_bracket
from widenet.spectrum.cholesky import EigenvalueBracket, smallest_eigenvalue
from widenet.spectrum.floor import eigenvalue_floor
from widenet.spectrum.gram import DenseGram
from widenet.spectrum.lanczos import Krylov, gauss_measure, lanczos

MOST_ROWS = 10_000  # eigenvalues of more are those of a part of the rows
NUM_STEPS = 240  # products with H∞ from the labels, at most
WIDTH = 1e-3  # relative width of the bracket of yᵀH⁻¹y that is narrow enough
UNIT = torch.finfo(torch.float64).eps / 2
ON_CUBE = 1e-9  # relative difference of the coordinates' sizes that rounding makes


@dataclass(frozen=True)
class Measured:
    """What was measured on a data set, rows scaled to norm 1 and labels to at most 1 for H∞.

    A part of the rows has a λ_min(H∞) and a σ that are at least those of all rows, and a yᵀH⁻¹y that is at
    most theirs: what the theorems ask for is then at least what is computed.

    Attributes:
        n: Number of rows.
        d: Number of columns.
        num_outputs: Columns of the targets.
        num_repeated: Rows that repeat an earlier one; with any, λ_min and σ of all rows are 0.
        num_measured: Distinct rows that the eigenvalues are of.
        lambda_min: Smallest eigenvalue of H∞, as computed.
        lambda_floor: A proven lower bound on it; 0.0 where none was found.
        lambda_max: Largest eigenvalue of H∞.
        sigma: Smallest singular value of [x^{⊗2}], as computed.
        sigma_floor: A proven lower bound on it; 0.0 where none was found.
        smallest_norm: Of a row.
        largest_norm: Of a row.
        largest_label: Largest |y|, classes being numbered from 0.
        start_loss: Σy²/(4n), the loss of a network that is 0, classes being numbered from 0.
        quadratic: yᵀH∞⁻¹y of the hardest target column, at least.
        quadratic_upper: The same, at most; None without a floor.
        on_cube: Whether all coordinates have one absolute value.
    """

    n: int
    d: int
    num_outputs: int
    num_repeated: int
    num_measured: int
    lambda_min: float
    lambda_floor: float
    lambda_max: float
    sigma: float
    sigma_floor: float
    smallest_norm: float
    largest_norm: float
    largest_label: float
    start_loss: float
    quadratic: float
    quadratic_upper: float | None
    on_cube: bool


def measure(
    dataset: Dataset, *, generator: torch.Generator, progress: Callable[[str], None] = lambda _: None
) -> Measured:
    """Measure a data set; at most `MOST_ROWS` distinct rows are used for what costs n³."""
    duplicates = find_duplicates(dataset)
    rows = _some(duplicates.unique, generator)
    norms = dataset.X.norm(dim=1)
    X = dataset.X[rows] / norms[rows, None]
    kernel = kernel_by_name("relu2-hidden")
    progress("kernel matrix")
    H = gram_matrix(kernel, X)
    floor = eigenvalue_floor(kernel, X)
    progress("smallest eigenvalue")
    lambda_min = smallest_eigenvalue(H, len(X)).value
    progress("complexity of the labels")
    quadratic, upper, lambda_max = _label_complexity(H, _small_targets(dataset.Y)[rows], floor)
    del H
    progress("smallest singular value")
    sigma = tensor_singular_value(dataset.X[rows])
    y = _numbers(dataset)
    return Measured(
        n=dataset.n,
        d=dataset.d,
        num_outputs=dataset.Y.shape[1],
        num_repeated=duplicates.num_repeated,
        num_measured=len(rows),
        lambda_min=max(lambda_min, floor),
        lambda_floor=floor,
        lambda_max=lambda_max,
        sigma=sigma.value,
        sigma_floor=sigma.lower,
        smallest_norm=float(norms.min()),
        largest_norm=float(norms.max()),
        largest_label=float(y.abs().max()),
        start_loss=float(y.square().mean()) / 4,
        quadratic=quadratic,
        quadratic_upper=upper,
        on_cube=_on_cube(dataset.X),
    )


def tensor_singular_value(X: Tensor) -> EigenvalueBracket:
    """Smallest singular value of [x_1^{⊗2} … x_n^{⊗2}], X (n, d): the root of λ_min((XXᵀ)^{∘2}).

    A product of rows is off by at most γ_d ‖x‖‖z‖ in whatever order it is summed, and its square by γ_{2d+2}
    [Higham 2002, (3.5)].
    """
    n, d = X.shape
    if n > d * (d + 1) // 2:
        return EigenvalueBracket(0.0, 0.0)

    def tile(top: int, bottom: int, left: int, right: int) -> Tensor:
        return (X[top:bottom] @ X[left:right].T).square_()

    formation = (2 * d + 2) * UNIT / (1 - (2 * d + 2) * UNIT)
    found = smallest_eigenvalue(tile, n, formation=formation)
    # A rounded root may be above the root: one step down is below it.
    return EigenvalueBracket(math.sqrt(found.value), math.sqrt(found.lower) * (1 - 2 * UNIT))


def _some(rows: Tensor, generator: torch.Generator) -> Tensor:
    """The rows, or a random part of them, in order."""
    if len(rows) <= MOST_ROWS:
        return rows
    chosen = torch.randperm(len(rows), generator=generator)[:MOST_ROWS]
    return rows[chosen.sort().values]


def _small_targets(Y: Tensor) -> Tensor:
    """Targets of at most 1, as the theorems have them."""
    return Y / max(1.0, float(Y.abs().max()))


def _label_complexity(H: Tensor, Y: Tensor, floor: float) -> tuple[float, float | None, float]:
    """Bounds on yᵀH⁻¹y of the hardest column, and λ_max(H), from one Lanczos run."""

    def closed(krylov: Krylov) -> bool:
        return inverse_bracket(krylov, floor).width() <= WIDTH

    krylov = lanczos(DenseGram(H), Y, num_steps=max(NUM_STEPS // Y.shape[1], 40), stop=closed)
    bounds = inverse_bracket(krylov, floor)
    hardest = int(bounds.lower.argmax())
    upper = None if bounds.upper is None else float(bounds.upper[hardest])
    return float(bounds.lower[hardest]), upper, float(gauss_measure(krylov).nodes[-1])


def _numbers(dataset: Dataset) -> Tensor:
    """The labels as numbers, classes counted from 0, as memorising takes them."""
    return dataset.Y if dataset.labels is None else dataset.labels.to(dataset.Y.dtype)


def _on_cube(X: Tensor) -> bool:
    sizes = X.abs()
    return bool((sizes.max() - sizes.min()) <= ON_CUBE * sizes.max())
