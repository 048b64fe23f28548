"""Images of a trial: the first rows of a built-in set, with their labels or with others."""

import threading
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.data.dataset import Dataset
from widenet.data.loading import held_out, load
from widenet.data.noise import redraw_labels
from widenet.data.targets import class_columns
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.memorise.methods.method import generator_at
from widenet.spectrum.projections import Eigenvectors, LabelProjections, all_eigenvectors, projections_onto

TRAIN_LABELS, TEST_LABELS = 1, 2  # streams of random numbers of a seed; weights are drawn from another
KERNEL = "relu2-hidden"  # H∞ [fine-grained, equation (3)]
_ALONE = threading.Lock()  # an eigendecomposition takes most of the memory that there is


@dataclass(frozen=True)
class ImageRows:
    """Rows of norm 1, in the order of their file.

    Attributes:
        X: Inputs, float64, shape (n, d).
        labels: Index of each row's class, shape (n,).
        num_classes: Number of classes.
    """

    X: Tensor
    labels: Tensor
    num_classes: int

    def redrawn(self, portion: float, seed: int, stream: int) -> Tensor:
        """Class indices of which a portion is drawn anew, shape (n,)."""
        generator = generator_at(seed, stream)
        return redraw_labels(self.labels, portion, self.num_classes, generator=generator)[0]


@lru_cache(maxsize=2)
def whole_set(data: str) -> tuple[Dataset, Dataset]:
    """Training and test rows of a built-in set."""
    train = load(data)
    return train, held_out(data, train)


def image_rows(data: str, n: int, num_test: int) -> tuple[ImageRows, ImageRows]:
    """The first n training rows and the first test rows of a built-in set such as `mnist-2`."""
    train, test = whole_set(data)
    return _first(train, n), _first(test, num_test)


def signs_of(labels: Tensor) -> Tensor:
    """Labels ±1 for two classes, +1 for the first, float64, shape (n,)."""
    return class_columns(labels, 2)[:, 0]


def gram_of_images(data: str, n: int) -> Tensor:
    """H∞ of the first n training rows, shape (n, n)."""
    train, _ = image_rows(data, n, 1)
    return gram_matrix(kernel_by_name(KERNEL), train.X)


def image_projections(data: str, n: int, seeds: tuple[int, ...]) -> LabelProjections:
    """The spectrum of H∞ of the first n rows: columns of true labels, then of random ones for each seed."""
    train, _ = image_rows(data, n, 1)
    portions = [(0.0, 0), *((1.0, seed) for seed in seeds)]
    columns = [signs_of(train.redrawn(portion, seed, TRAIN_LABELS)) for portion, seed in portions]
    with _ALONE:
        return projections_onto(_eigenvectors(data, n), torch.stack(columns, dim=1))


@lru_cache(maxsize=1)
def _eigenvectors(data: str, n: int) -> Eigenvectors:
    """Minutes of work for 10,000 rows, which the trials of a figure share."""
    return all_eigenvectors(gram_of_images(data, n))


def _first(dataset: Dataset, num: int) -> ImageRows:
    if num > dataset.n:
        raise InputError(f"{dataset.name} has {dataset.n:,} rows, not {num:,}: use fewer.")
    assert dataset.labels is not None
    return ImageRows(dataset.X[:num], dataset.labels[:num], len(dataset.classes))
