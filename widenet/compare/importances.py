"""What a fitted method relies on: how much its error grows when one feature is shuffled among the test rows.

The store is no concern of this module, so that stored trials do not depend on its code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from widenet.compare.folds import Fold
from widenet.compare.tuning import CompareMethod, RowForms, losses
from widenet.data.dataset import Dataset
from widenet.data.prepare import Kind, column_owners

MOST_FEATURES = 200  # beyond it, single ones say little and take long
MOST_SHUFFLES = 5  # of each feature on each fold, ...
ALL_SHUFFLES = 100  # ... and of all of them together, but at least one of each


class NotMeasured(Enum):
    """Why there are no importances."""

    IMAGES = "images"
    TOO_MANY_FEATURES = "too many features"
    NO_WINNER = "no winner"  # where nothing is shown to have been learned


@dataclass(frozen=True)
class Importance:
    """One feature of the data, as a person counts them.

    Attributes:
        feature: Its name.
        increase: Mean over the folds of how much the error grows when it is shuffled among the test rows.
        std: Standard deviation between the folds.
    """

    feature: str
    increase: float
    std: float


@dataclass(frozen=True)
class Importances:
    """What the method of the smallest error relies on.

    Attributes:
        method: Its name; None where nothing was measured.
        shuffles: How often each feature was shuffled on each fold.
        features: Every feature, the largest increase first.
        not_measured: Why nothing was measured; None where it was.
    """

    method: str | None = None
    shuffles: int = 0
    features: tuple[Importance, ...] = ()
    not_measured: NotMeasured | None = None


def feature_columns(dataset: Dataset) -> dict[str, Tensor]:
    """The columns of Z that each feature became: categories and marks of gaps belong to their column."""
    columns, kept = dataset.preparation.columns, dataset.preparation.kept
    owners = column_owners(columns)[kept]
    return {columns[k].name: (owners == k).nonzero()[:, 0] for k in owners.unique().tolist()}


def why_not_measured(dataset: Dataset) -> NotMeasured | None:
    """What about the data speaks against it."""
    if dataset.images is not None:
        return NotMeasured.IMAGES
    return NotMeasured.TOO_MANY_FEATURES if len(feature_columns(dataset)) > MOST_FEATURES else None


def num_shuffles(num_features: int) -> int:
    """How often each feature is shuffled on a fold."""
    return min(max(ALL_SHUFFLES // num_features, 1), MOST_SHUFFLES)


def shuffled(inputs: RowForms, columns: Tensor, order: Tensor, kind: Kind) -> RowForms:
    """Rows that have some columns of Z from others, in this order; X follows by the map of the preparation.

    Under `unit` the length of a row is not known any more: entries are exchanged after the scaling, and the
    rows scaled again.
    """
    Z = inputs.Z.clone()
    Z[:, columns] = inputs.Z[order][:, columns]
    if kind == "standard":
        return RowForms(normalize(torch.cat([Z, Z.new_ones(len(Z), 1)], dim=1), dim=1), Z)
    return RowForms(*[normalize(Z, dim=1) if kind == "unit" else Z] * 2)


def fold_increases(
    method: CompareMethod, fold: Fold, columns: Mapping[str, Tensor], shuffles: int
) -> dict[str, float]:
    """How much the error on the test rows grows, in the mean over the shuffles, by feature.

    Args:
        method: It is fitted to the training part again, as it was in its trial.
        fold: The fold.
        columns: As of `feature_columns`.
        shuffles: How often each is shuffled.
    """
    model = method.fit(fold.training, seed=fold.seed)
    generator = torch.Generator().manual_seed(fold.seed)
    kind, is_class = fold.training.dataset.preparation.kind, fold.labels is not None

    def error(inputs: RowForms) -> float:
        outputs = model.predict(inputs).to(fold.Y.dtype)
        return float(losses(outputs, fold.Y, classification=is_class).mean())

    whole, found = error(fold.inputs), {}
    for name, own in columns.items():
        orders = [torch.randperm(len(fold.Y), generator=generator) for _ in range(shuffles)]
        errors = [error(shuffled(fold.inputs, own, order, kind)) for order in orders]
        found[name] = float(np.mean(errors)) - whole
    return found


def importances_of(method: str, shuffles: int, folds: Sequence[Mapping[str, float]]) -> Importances:
    """Means and spreads over the folds of what `fold_increases` gives."""
    features = []
    for name in folds[0]:
        values = [fold[name] for fold in folds]
        features.append(Importance(name, float(np.mean(values)), float(np.std(values, ddof=1))))
    ordered = sorted(features, key=lambda each: -each.increase)
    return Importances(method, shuffles, tuple(ordered))
