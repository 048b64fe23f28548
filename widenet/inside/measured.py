"""What theorems need to know of data: eigenvalues, singular values, norms, the labels' complexity."""

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.progress import SILENT, Progress
from widenet.base.rounding import TINY, UNIT
from widenet.data.dataset import Dataset
from widenet.data.duplicates import find_duplicates
from widenet.data.prepare import EXTREME
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.spectrum.brackets import inverse_bracket
from widenet.spectrum.cholesky import EigenvalueBracket, smallest_eigenvalue
from widenet.spectrum.floor import eigenvalue_floor
from widenet.spectrum.gram import DenseGram
from widenet.spectrum.lanczos import Krylov, gauss_measure, lanczos
from widenet.theory.mild_memorisation.random_layer import symmetric_dimension

MOST_ROWS = 10_000  # eigenvalues of more are those of a part of the rows
MOST_POWERS = 3  # p up to which a σ of [x^{⊗2p}] above 0 is looked for
NUM_STEPS = 240  # products with H∞ from the labels, at most
NARROW = 1e-3  # relative width of the bracket of yᵀH⁻¹y that is narrow enough
LARGEST_EXPONENT = 1024  # floats are below 2 to this power
ON_CUBE = 1e-9  # relative difference of the coordinates' sizes that rounding makes


@dataclass(frozen=True)
class MeasuredData:
    """What was measured on a data set, rows scaled to norm 1 and labels to at most 1 for H∞.

    A part of the rows has a λ_min(H∞) and a σ that are at least those of all rows, and a yᵀH⁻¹y that is at
    most theirs: what the theorems require is then at least what is computed.

    Attributes:
        n: Number of rows.
        d: Number of columns.
        num_outputs: Columns of the targets.
        num_repeated: Rows that repeat an earlier one; with any, λ_min and σ of all rows are 0.
        num_opposite: Other rows that are opposite to an earlier one; with any, σ of all rows is 0.
        num_measured: Distinct rows that the eigenvalues are of.
        lambda_min: Smallest eigenvalue of H∞, as computed.
        lambda_floor: A proven lower bound on it; 0.0 where none was found.
        lambda_max: Largest eigenvalue of H∞.
        sigma: Smallest singular value of [x^{⊗2}], of rows that are distinct up to their sign, as computed.
        sigma_floor: A proven lower bound on it; 0.0 where none was found.
        power: The least p for which the smallest singular value of [x^{⊗2p}] is proven to be above 0.
        power_sigma: That singular value, as computed.
        power_sigma_floor: A proven lower bound on it; 0.0 where there is no such p up to `MOST_POWERS`.
        smallest_norm, largest_norm: Of a row.
        largest_label: Largest |y|, classes being numbered from 0.
        start_loss: Σy²/(4n), the loss of a network that is 0, classes being numbered from 0.
        label_scale: What targets were divided by so that they are at most 1, as yᵀH∞⁻¹y has them.
        quadratic: yᵀH∞⁻¹y of the hardest target column, at least.
        quadratic_upper: The same, at most; None without a floor.
        cube_columns: Columns on a cube {±c}, as `cube_columns` counts them.
    """

    n: int
    d: int
    num_outputs: int
    num_repeated: int
    num_opposite: int
    num_measured: int
    lambda_min: float
    lambda_floor: float
    lambda_max: float
    sigma: float
    sigma_floor: float
    power: int
    power_sigma: float
    power_sigma_floor: float
    smallest_norm: float
    largest_norm: float
    largest_label: float
    start_loss: float
    label_scale: float
    quadratic: float
    quadratic_upper: float | None
    cube_columns: int


def measure_data(
    dataset: Dataset, *, generator: torch.Generator, progress: Progress = SILENT
) -> MeasuredData:
    """Measure a data set; at most `MOST_ROWS` distinct rows are used for what costs n³."""
    norms = _norms(dataset.X)
    duplicates = find_duplicates(replace(dataset, X=dataset.X / norms[:, None]))
    rows = _some(duplicates.unique, generator)
    X = dataset.X[rows] / norms[rows, None]
    kernel = kernel_by_name("relu2-hidden")
    progress("kernel matrix")
    H = gram_matrix(kernel, X)
    floor = eigenvalue_floor(kernel, X)
    progress("smallest eigenvalue")
    lambda_min = smallest_eigenvalue(H, len(X)).value
    progress("complexity of the labels")
    label_scale = max(1.0, float(dataset.Y.abs().max()))
    quadratic, upper, lambda_max = _label_complexity(H, dataset.Y[rows] / label_scale, floor)
    del H
    progress("smallest singular value")
    second = torch.tensor([row for _, row in duplicates.opposite], dtype=torch.int64)
    mirrored = torch.isin(dataset.rows, second)
    up_to_sign = dataset.X[rows[~mirrored[rows]]]
    sigma = tensor_singular_value(up_to_sign)
    power, power_sigma = _power_singular_value(up_to_sign, sigma)
    y = _numbers(dataset)
    return MeasuredData(
        n=dataset.n,
        d=dataset.d,
        num_outputs=dataset.Y.shape[1],
        num_repeated=duplicates.points.num_repeated,
        num_opposite=int(mirrored.sum()),
        num_measured=len(rows),
        lambda_min=max(lambda_min, floor),
        lambda_floor=floor,
        lambda_max=lambda_max,
        sigma=sigma.value,
        sigma_floor=sigma.lower,
        power=power,
        power_sigma=power_sigma.value,
        power_sigma_floor=power_sigma.lower,
        smallest_norm=float(norms.min()),
        largest_norm=float(norms.max()),
        largest_label=float(y.abs().max()),
        start_loss=float(y.square().mean()) / 4,
        label_scale=label_scale,
        quadratic=quadratic,
        quadratic_upper=upper,
        cube_columns=cube_columns(dataset.X, generator),
    )


def _norms(X: Tensor) -> Tensor:
    """Of the rows, refused where float64 cannot scale them to 1."""
    norms = X.norm(dim=1)
    smallest, largest = float(norms.min()), float(norms.max())
    if not 1 / EXTREME <= smallest <= largest <= EXTREME:
        raise InputError(
            f"The norms of the rows, from {smallest:.0e} to {largest:.0e}, are beyond what float64 can "
            "scale to 1: remove rows of zeros and rescale the others."
        )
    return norms


def tensor_singular_value(X: Tensor, p: int = 1) -> EigenvalueBracket:
    """Smallest singular value of [x_1^{⊗2p} … x_n^{⊗2p}], X (n, d): the root of λ_min((XXᵀ)^{∘2p}).

    A product of rows is off by at most γ_d ‖x‖‖z‖ in whatever order it is summed, and its power 2p, made of
    2p − 1 products, by γ_{2p(d+1)} [Higham 2002, (3.5)]. Rows are scaled by a power of 2, so that such powers
    stay in range; what this rounds is below the least normal number, and counted with underflow.
    """
    n, d = X.shape
    if n > symmetric_dimension(d, 2 * p):
        return EigenvalueBracket(0.0, 0.0)
    exponent = math.frexp(float(X.abs().max()))[1]
    X = torch.from_numpy(np.ldexp(X.numpy(), -exponent))

    def tile(top: int, bottom: int, left: int, right: int) -> Tensor:
        squares = (X[top:bottom] @ X[left:right].T).square_()
        powers = squares.clone()
        for _ in range(p - 1):
            powers *= squares
        return powers

    num_roundings = 2 * p * (d + 1)
    formation = num_roundings * UNIT / (1 - num_roundings * UNIT)
    found = smallest_eigenvalue(tile, n, formation=formation)
    # A rounded root may be above the root: one step down is below it.
    roots = EigenvalueBracket(math.sqrt(found.value), math.sqrt(found.lower) * (1 - 2 * UNIT))
    return _times_power_of_2(roots, 2 * p * exponent)


def _times_power_of_2(found: EigenvalueBracket, exponent: int) -> EigenvalueBracket:
    """The bracket times 2^exponent; nothing is known where float64 cannot hold that."""
    if math.frexp(found.value)[1] + exponent > LARGEST_EXPONENT:
        return EigenvalueBracket(0.0, 0.0)
    value, lower = (math.ldexp(each, exponent) for each in (found.value, found.lower))
    return EigenvalueBracket(value, lower if lower >= TINY else 0.0)


def _power_singular_value(X: Tensor, first: EigenvalueBracket) -> tuple[int, EigenvalueBracket]:
    """The least p for which σ of [x^{⊗2p}] is proven to be above 0, or the last one tried, with that σ."""
    p, found = 1, first
    while found.lower <= 0 and p < MOST_POWERS:
        p += 1
        found = tensor_singular_value(X, p)
    return p, found


def _some(rows: Tensor, generator: torch.Generator) -> Tensor:
    """The rows, or a random part of them, in order."""
    if len(rows) <= MOST_ROWS:
        return rows
    chosen = torch.randperm(len(rows), generator=generator)[:MOST_ROWS]
    return rows[chosen.sort().values]


def _label_complexity(H: Tensor, Y: Tensor, floor: float) -> tuple[float, float | None, float]:
    """Bounds on yᵀH⁻¹y of the hardest column, and λ_max(H), from one Lanczos run."""

    def closed(krylov: Krylov) -> bool:
        return inverse_bracket(krylov, floor).width() <= NARROW

    krylov = lanczos(DenseGram(H), Y, num_steps=max(NUM_STEPS // Y.shape[1], 40), stop=closed)
    bounds = inverse_bracket(krylov, floor)
    hardest = int(bounds.lower.argmax())
    upper = None if bounds.upper is None else float(bounds.upper[hardest])
    return float(bounds.lower[hardest]), upper, float(gauss_measure(krylov).nodes[-1])


def _numbers(dataset: Dataset) -> Tensor:
    """The labels as numbers, classes counted from 0, as memorising takes them."""
    return dataset.Y if dataset.labels is None else dataset.labels.to(dataset.Y.dtype)


def cube_columns(X: Tensor, generator: torch.Generator) -> int:
    """The most columns of X (n, d) that agree in absolute value, each with both signs, no two the same; or 0.

    Rows that were scaled to norm 1 have a c of their own, so that columns are compared row by row, and one
    column alone tells nothing. Columns that agree have one product with random weights, by which they are
    found without comparing all pairs.
    """
    signed = X[:, (X > 0).any(dim=0) & (X < 0).any(dim=0)]
    sizes, signs = signed.abs(), signed.sign() * signed[:1].sign()
    products = torch.rand(len(X), generator=generator, dtype=X.dtype) @ sizes
    order = products.argsort()
    apart = products[order].diff() > ON_CUBE * products[order][1:]
    sets = order.tensor_split((apart.nonzero()[:, 0] + 1).tolist())
    cubes = (signs[:, columns[_same(sizes[:, columns])]] for columns in sets if len(columns) > 1)
    most = max((cube.unique(dim=1).shape[1] for cube in cubes if cube.numel()), default=0)
    return most if most > 1 else 0


def _same(sizes: Tensor) -> Tensor:
    """Which columns agree with the first one, up to rounding, in every row; none if that has a 0."""
    first = sizes[:, :1]
    return ((sizes - first).abs() <= ON_CUBE * first).all(dim=0) & (first > 0).all()
