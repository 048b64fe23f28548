"""Label noise put in on purpose, and data sets rebuilt around other labels or fewer rows."""

from dataclasses import replace

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.data.dataset import Dataset
from widenet.data.targets import class_columns

MOST_OF_A_CLASS = 0.4  # to flip one way: more, and what is left of the class might be called the noise
STEEPNESS = 2.0  # of the chance of a flip along a direction, per standard deviation


def flip_labels(
    labels: Tensor, rate: float, num_classes: int, *, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Give exactly round(rate · n) rows another class, each of the others equally likely.

    >>> labels = torch.tensor([0, 0, 1, 1, 2, 2])
    >>> flipped, chosen = flip_labels(labels, 0.5, 3, generator=torch.Generator().manual_seed(0))
    >>> int(chosen.sum()), bool(((flipped != labels) == chosen).all())
    (3, True)

    Args:
        labels: Class indices, int64, shape (n,).
        rate: Share of rows to flip, in [0, 1].
        num_classes: Number of classes, at least 2.
        generator: Source of all randomness.

    Returns:
        The new labels and which rows were flipped, both of shape (n,).
    """
    chosen = _some_rows(len(labels), rate, generator)
    return _other_classes(labels, chosen, num_classes, generator), chosen


def flip_one_way(
    labels: Tensor, rate: float, num_classes: int, *, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Give round(rate · n) rows of one class A the label of one class B, both drawn at random.

    Where A is too small for that, MOST_OF_A_CLASS of it is flipped.

    >>> labels = torch.tensor([0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
    >>> flipped, chosen = flip_one_way(labels, 0.4, 2, generator=torch.Generator().manual_seed(0))
    >>> int(chosen.sum()), len(labels[chosen].unique())
    (2, 1)

    Args:
        labels: Class indices, int64, shape (n,).
        rate: Share of all rows to flip, in [0, 1].
        num_classes: Number of classes, at least 2.
        generator: Source of all randomness.

    Returns:
        The new labels and which rows were flipped, both of shape (n,).
    """
    source, target = torch.randperm(num_classes, generator=generator)[:2].tolist()
    rows = (labels == source).nonzero()[:, 0]
    num = min(_num_changed(len(labels), rate), int(MOST_OF_A_CLASS * len(rows)))
    chosen = _mask(len(labels), rows[torch.randperm(len(rows), generator=generator)[:num]])
    return torch.where(chosen, target, labels), chosen


def flip_by_inputs(
    labels: Tensor, X: Tensor, rate: float, num_classes: int, *, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Flip exactly round(rate · n) rows, most of them at one end of the inputs.

    Rows are drawn one by one without replacement, row i with weight σ(STEEPNESS · z_i), where z is the
    projection of the inputs onto a random direction, standardised. At the far end about twice as many are
    flipped as on average. Each of the other classes is equally likely.

    Args:
        labels: Class indices, int64, shape (n,).
        X: Inputs, shape (n, d).
        rate: Share of rows to flip, in [0, 1].
        num_classes: Number of classes, at least 2.
        generator: Source of all randomness.

    Returns:
        The new labels and which rows were flipped, both of shape (n,).
    """
    along = X @ torch.randn(X.shape[1], generator=generator, dtype=X.dtype)
    weights = torch.sigmoid(STEEPNESS * (along - along.mean()) / along.std())
    num = _num_changed(len(labels), rate)
    drawn = torch.multinomial(weights, num, generator=generator) if num else torch.empty(0, dtype=torch.int64)
    chosen = _mask(len(labels), drawn)
    return _other_classes(labels, chosen, num_classes, generator), chosen


def redraw_labels(
    labels: Tensor, portion: float, num_classes: int, *, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Draw exactly round(portion · n) labels anew, all classes equally likely [fine-grained, Appendix A].

    A redrawn label can be the old one, so with two classes half of the portion changes.

    Args:
        labels: Class indices, int64, shape (n,).
        portion: Share of rows to redraw, in [0, 1].
        num_classes: Number of classes.
        generator: Source of all randomness.

    Returns:
        The new labels and which rows were redrawn, both of shape (n,).
    """
    chosen = _some_rows(len(labels), portion, generator)
    drawn = torch.randint(num_classes, (len(labels),), generator=generator)
    return torch.where(chosen, drawn, labels), chosen


def _other_classes(labels: Tensor, chosen: Tensor, num_classes: int, generator: torch.Generator) -> Tensor:
    """Labels (n,) of which the chosen ones are another class, each of the others equally likely."""
    step = torch.randint(1, num_classes, (len(labels),), generator=generator)
    return torch.where(chosen, (labels + step) % num_classes, labels)


def _some_rows(n: int, share: float, generator: torch.Generator) -> Tensor:
    """Mask of exactly round(share · n) rows, uniform among all such masks."""
    return _mask(n, torch.randperm(n, generator=generator)[: _num_changed(n, share)])


def _num_changed(n: int, share: float) -> int:
    if not 0 <= share <= 1:
        raise InputError(f"A share of {share} of the labels cannot be changed: give a number from 0 to 1.")
    return round(share * n)


def _mask(n: int, rows: Tensor) -> Tensor:
    """Shape (n,), true at the given rows."""
    return torch.zeros(n, dtype=torch.bool).index_fill_(0, rows, True)


def with_labels(dataset: Dataset, labels: Tensor) -> Dataset:
    """The data set with other class indices, shape (n,); `given` follows where a label has changed."""
    if dataset.labels is None:
        raise InputError(f"{dataset.name} has numbers as targets, so it has no labels to replace.")
    pairs = zip(dataset.labels.tolist(), labels.tolist(), dataset.given, strict=True)
    given = tuple(word if old == new else dataset.classes[new] for old, new, word in pairs)
    Y = class_columns(labels, len(dataset.classes))
    return replace(dataset, Y=Y, labels=labels, given=given, origin=None, leaks=())


def subset(dataset: Dataset, indices: Tensor) -> Dataset:
    """Some rows of a data set, by index (from 0), with their own row numbers and the same map and classes."""
    return replace(
        dataset,
        X=dataset.X[indices],
        Y=dataset.Y[indices],
        labels=None if dataset.labels is None else dataset.labels[indices],
        rows=dataset.rows[indices],
        given=tuple(dataset.given[index] for index in indices.tolist()),
        images=None if dataset.images is None else dataset.images[indices],
        files=tuple(dataset.files[index] for index in indices.tolist()) if dataset.files else (),
        cells=None if dataset.cells is None else dataset.cells.iloc[indices.tolist()],
        origin=None,
    )
