"""Data as `fine-grained` has them, rows of norm 1 and labels of at most 1, and what is proven of H∞ there."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.rounding import UNIT
from widenet.data.concept_names import is_concept, parse_draw
from widenet.data.dataset import Dataset
from widenet.data.loading import load
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.spectrum.cholesky import MARGIN, cholesky_factor, shift_rounding, tiles_of
from widenet.theory.entry import Argument

KERNEL_STEPS = 128  # roundings allowed for a value of H∞ besides those of the cosine
NARROWEST = 1e-3  # sine of an angle below which rounding of the cosine is not followed
DATA = Argument("data: a built-in name, a concept class with options, or a file")
ROWS = Argument("number of rows n to take", low=1, high=5000)
SEED = Argument("seed of what is drawn", low=0, high=2**63 - 1)
COLUMN = Argument("column of the targets, counted from 0", low=0, high=10**6)


@dataclass(frozen=True)
class UnitRows:
    """Rows x_i of norm 1, shape (n, d), and labels with |y_i| ≤ 1, shape (n,)."""

    X: Tensor
    y: Tensor


def unit_directions(X: Tensor) -> Tensor:
    """Rows scaled to norm 1; rows of zeros have no direction and are refused."""
    norms = X.norm(dim=1, keepdim=True)
    if not bool(((norms > 0) & norms.isfinite()).all()):
        raise InputError("A row is all zeros or too large for float64, so it cannot have norm 1: remove it.")
    return X / norms


def take_rows(data: str, n: int, column: int, *, generator: torch.Generator) -> UnitRows:
    """Random n rows of a data set, labels divided by the largest |y| where that is above 1."""
    dataset = load(data)
    chosen = _some_rows(dataset, n, generator)
    if column >= dataset.Y.shape[1]:
        raise InputError(
            f"{dataset.name} has target columns 0 to {dataset.Y.shape[1] - 1}, so there is no column "
            f"{column}."
        )
    scale = max(1.0, float(dataset.Y.abs().max()))
    return UnitRows(unit_directions(dataset.X[chosen]), dataset.Y[chosen, column] / scale)


def independent_samples(
    data: str, n: int, num_samples: int, *, generator: torch.Generator
) -> Iterator[Tensor]:
    """Samples of n rows of norm 1 that do not share a row: as many as the data have, at most `num_samples`.

    A concept class is drawn anew each time. Rows of any other data are put in random order and cut into
    parts: if they are independent draws from one distribution, the parts are independent samples of it.
    """
    if is_concept(data):
        concept = parse_draw(data).concept
        for _ in range(num_samples):
            yield unit_directions(concept.sample(n, generator=generator)[0])
        return
    dataset = load(data)
    order = _some_rows(dataset, dataset.n, generator)
    _require_rows(dataset, n)
    for start in range(0, min(num_samples, dataset.n // n) * n, n):
        yield unit_directions(dataset.X[order[start : start + n]])


def h_infinity(X: Tensor) -> Tensor:
    """H∞ of unit rows X (n, d), shape (n, n)."""
    return gram_matrix(kernel_by_name("relu2-hidden"), X)


def proves_floor(X: Tensor, H: Tensor, floor: float) -> bool:
    """Whether λ_min(H∞) ≥ `floor` is proven for unit rows X (n, d), rounding included.

    H − τI is factorised at a τ above `floor` by all that rounding can do (`shift_rounding`).
    """
    shift = floor + MARGIN * shift_rounding(H.diagonal(), _formation(X))
    return shift < float(H.diagonal().max()) and cholesky_factor(tiles_of(H), len(X), shift) is not None


def _formation(X: Tensor) -> float:
    """How far a computed value of H∞ may be off, relative to its diagonal ½.

    A cosine is off by e, of d roundings and those of the kernel. The value t(π − arccos t)/2π then moves by
    at most (½ + 1/(2π sin θ))e, and by at most ½e + ½√(e/2) even for parallel rows, because
    |arccos s − arccos t| ≤ π√(|s − t|/2).
    """
    e = (X.shape[1] + KERNEL_STEPS) * UNIT
    cosines = (X @ X.T).abs().fill_diagonal_(0)
    sine = math.sqrt(max(0.0, 1 - float(cosines.max()) ** 2))
    steep = (1 + 1 / sine) * e if sine > NARROWEST else math.inf
    return 2 * min(steep, e / 2 + math.sqrt(e / 2) / 2)


def _some_rows(dataset: Dataset, n: int, generator: torch.Generator) -> Tensor:
    _require_rows(dataset, n)
    return torch.randperm(dataset.n, generator=generator)[:n]


def _require_rows(dataset: Dataset, n: int) -> None:
    if n > dataset.n:
        raise InputError(f"{dataset.name} has {dataset.n:,} rows, fewer than n = {n:,}: take a smaller n.")
