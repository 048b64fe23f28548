"""Label noise put in on purpose, and data sets rebuilt around other labels or fewer rows."""

from dataclasses import replace

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.data.dataset import Dataset
from widenet.data.targets import class_columns


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
    step = torch.randint(1, num_classes, (len(labels),), generator=generator)
    return torch.where(chosen, (labels + step) % num_classes, labels), chosen


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


def _some_rows(n: int, share: float, generator: torch.Generator) -> Tensor:
    """Mask of exactly round(share · n) rows, uniform among all such masks."""
    if not 0 <= share <= 1:
        raise InputError(f"A share of {share} of the labels cannot be changed: give a number from 0 to 1.")
    chosen = torch.zeros(n, dtype=torch.bool)
    chosen[torch.randperm(n, generator=generator)[: round(share * n)]] = True
    return chosen


def with_labels(dataset: Dataset, labels: Tensor) -> Dataset:
    """The data set with other class indices, shape (n,); `given` follows where a label has changed."""
    if dataset.labels is None:
        raise InputError(f"{dataset.name} has numbers as targets, so it has no labels to replace.")
    pairs = zip(dataset.labels.tolist(), labels.tolist(), dataset.given, strict=True)
    given = tuple(word if old == new else dataset.classes[new] for old, new, word in pairs)
    Y = class_columns(labels, len(dataset.classes))
    return replace(dataset, Y=Y, labels=labels, given=given, origin=None)


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
        origin=None,
    )
