"""Outer folds: what a method may see, what it is judged on, and how rows are prepared in between."""

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.wording import counted, shown
from widenet.compare.tuning import INNER_FOLDS, RowForms, Training
from widenet.data.dataset import Dataset
from widenet.data.prepare import standard_scales

READING_ERROR = 1e-9  # share of a column's range that reading it off X may have moved it by


@dataclass(frozen=True)
class Fold:
    """One outer fold."""

    training: Training  # all that a method is fitted to
    inputs: RowForms  # the rows to predict
    Y: Tensor  # their targets, which no method is given, shape (n2, c)
    labels: Tensor | None  # their classes, shape (n2,); None for regression
    seed: int  # seed of every random choice in this fold, the same for all methods


def outer_folds(dataset: Dataset, num_folds: int, repeats: int, *, seed: int) -> tuple[Tensor, ...]:
    """Test rows of each fold, by index: each repeat tests every row once, and classes keep their shares."""
    check_folds(dataset, num_folds)
    rows = np.zeros(dataset.n)
    if dataset.labels is None:
        splits = RepeatedKFold(n_splits=num_folds, n_repeats=repeats, random_state=seed).split(rows)
    else:
        stratified = RepeatedStratifiedKFold(n_splits=num_folds, n_repeats=repeats, random_state=seed)
        splits = stratified.split(rows, dataset.labels.numpy())
    return tuple(torch.from_numpy(test) for _, test in splits)


def fold_seeds(num_folds: int, *, seed: int) -> list[int]:
    """A seed for each fold."""
    generator = torch.Generator().manual_seed(seed)
    seeds: list[int] = torch.randint(2**31 - 1, (num_folds,), generator=generator).tolist()
    return seeds


def check_folds(dataset: Dataset, num_folds: int) -> None:
    """Refuse folds that would leave a class out of a test part or of an inner part."""
    counts = range(num_folds, 4 * INNER_FOLDS + num_folds)
    least = next(count for count in counts if count - math.ceil(count / num_folds) >= INNER_FOLDS)
    if dataset.labels is None:
        if dataset.n < 2 * least:
            raise InputError(
                f"{dataset.name} has {counted(dataset.n, 'row')}, too few for {num_folds} folds: "
                f"at least {2 * least} are needed."
            )
        return
    sizes = torch.bincount(dataset.labels, minlength=len(dataset.classes))
    smallest = int(sizes.argmin())
    if sizes[smallest] < least:
        raise InputError(
            f"Class {shown(dataset.classes[smallest])} has {counted(int(sizes[smallest]), 'row')}, too few "
            f"for {num_folds} folds, which need {least} of each class: use fewer `folds` or more rows, or "
            "drop the class."
        )


def make_fold(dataset: Dataset, test: Tensor, *, seed: int) -> Fold:
    """The fold whose test rows have these indices, prepared by its training rows alone."""
    is_test = torch.zeros(dataset.n, dtype=torch.bool)
    is_test[test] = True
    train, test = (~is_test).nonzero()[:, 0], is_test.nonzero()[:, 0]
    inputs = prepared_by(dataset, train)
    everything = Training(replace(dataset, X=inputs.X, images=None, cells=None), inputs.Z)
    training = everything[train]
    labels = None if dataset.labels is None else dataset.labels[test]
    return Fold(training, inputs[test], dataset.Y[test], labels, seed)


def prepared_by(dataset: Dataset, train: Tensor) -> RowForms:
    """All rows under the map that the training rows alone would have fitted.

    Under `standard` a row of X is (z, 1)/‖(z, 1)‖, so that z, the standardised columns, can be read off. They
    are standardised again by means and scales of the training rows, which gives what those rows would have
    given from the start. No other map has anything that is fitted.
    """
    preparation = dataset.preparation
    if preparation.kind != "standard":
        return RowForms(dataset.X, dataset.X)
    Z = dataset.X[:, :-1] / dataset.X[:, -1:] * preparation.scales  # in the units of the table
    seen = Z[train]
    variances, means = torch.var_mean(seen, dim=0, correction=0)
    constant = seen.amax(0) - seen.amin(0) <= READING_ERROR * (Z.amax(0) - Z.amin(0))
    variances[constant] = 0
    Z = (Z - means) / standard_scales(variances, preparation.columns, preparation.kept)
    X = torch.cat([Z, Z.new_ones(len(Z), 1)], dim=1)
    return RowForms(X / X.norm(dim=1, keepdim=True), Z)
