"""How settings are chosen inside a training part, and what every method gives back."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import torch
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit
from torch import Tensor

from widenet.data.dataset import Dataset
from widenet.data.noise import subset
from widenet.data.sample import drawn_rows
from widenet.predict.learning_curve import mistakes, squared_errors

Family = Literal["network", "kernel", "baseline"]
Choice = dict[str, Any]  # what was chosen, by name: numbers and words
FAMILY_GROUPS: dict[Family, str] = {"network": "networks", "kernel": "kernels", "baseline": "baselines"}

INNER_FOLDS = 3  # of a training part with few rows
INNER_FOLDS_BELOW = 500  # below it one held-out part would be too small to choose by
HELD_OUT = 0.25  # share held out of a training part with more rows
MOST_PILOT_ROWS = 1000  # at most, on which a method is timed whose time grows as the number of rows


@dataclass(frozen=True)
class RowForms:
    """Rows in the two forms that methods take.

    Attributes:
        X: On the unit sphere, shape (n, d): for networks and kernels.
        Z: The standardised columns before they are mapped to the sphere, shape (n, q), for baselines, which
            look at one column at a time; X itself where rows were only scaled.
    """

    X: Tensor
    Z: Tensor

    def __getitem__(self, rows: Tensor) -> "RowForms":
        return RowForms(self.X[rows], self.Z[rows])


@dataclass(frozen=True)
class Training:
    """What a method is fitted to.

    Attributes:
        dataset: Rows and targets; X is prepared by these rows alone.
        Z: The rows as in `RowForms`, shape (n, q).
    """

    dataset: Dataset
    Z: Tensor

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.dataset.n

    @property
    def inputs(self) -> RowForms:
        """The rows in both forms."""
        return RowForms(self.dataset.X, self.Z)

    @property
    def Y(self) -> Tensor:  # noqa: N802
        """Targets, shape (n, c)."""
        return self.dataset.Y

    @property
    def labels(self) -> Tensor | None:
        """Class indices, shape (n,); None for regression."""
        return self.dataset.labels

    @property
    def num_classes(self) -> int:
        """Number of classes; 0 for regression."""
        return len(self.dataset.classes)

    def __getitem__(self, rows: Tensor) -> "Training":
        return Training(subset(self.dataset, rows), self.Z[rows])

    def pilot(self) -> "Training":
        """Few rows to time a method on, with classes in their shares."""
        return self[drawn_rows(self.dataset, MOST_PILOT_ROWS, seed=0)]


@dataclass(frozen=True, order=True)
class Score:
    """What settings are chosen by: the error that is reported, and the squared error where that ties."""

    error: float
    squared: float


@dataclass(frozen=True)
class Unseen:
    """What a method puts out for rows of its training part that it was not fitted to, under what it chose."""

    outputs: Tensor  # in the code of Y, shape (m, c)
    rows: Tensor  # which rows of the training part these are, int64, shape (m,)


@dataclass(frozen=True)
class Model:
    """A fitted method."""

    predict: Callable[[RowForms], Tensor]  # outputs in the code of Y, shape (n2, c), for other rows
    setting: Choice  # what was chosen, by name
    score: Score  # the score by which it was chosen, measured inside the training part
    unseen: Unseen | None = None  # what that was measured on; None where a method does not tell


@dataclass(frozen=True)
class Judged:
    """Several candidates on the rows that the inner splits hold out."""

    scores: list[Score]  # the mean of each over the splits
    outputs: Tensor  # shape (candidates, m, c)
    rows: Tensor  # which rows of the training part these are, int64, shape (m,)

    def unseen(self, index: int) -> Unseen:
        """What one of the candidates put out."""
        return Unseen(self.outputs[index], self.rows)


class CompareMethod(Protocol):
    """One line of the comparison."""

    @property
    def name(self) -> str:
        """The name by which the command line knows it."""

    @property
    def family(self) -> Family:
        """Whose champion it may be."""

    def fit(self, training: Training, *, seed: int) -> Model:
        """Choose the settings within the training part, and fit to all of it."""

    def forecast(self, training: Training) -> float:
        """Seconds that `fit` will take, from timing a small piece of it."""


def losses(predictions: Tensor, Y: Tensor, *, classification: bool) -> Tensor:
    """Loss of each row, shape (..., n), for predictions of shape (..., n, c).

    Classes: 1 where the row is misclassified, else 0. Regression: ‖prediction − y‖², summed over outputs, not
    halved; with it kα² is the error of not having learned αG(F) [resnet-beyond-kernels, section 8.1].
    """
    return (mistakes if classification else squared_errors)(predictions, Y)


def scores(predictions: Tensor, training: Training) -> list[Score]:
    """The score of each of r sets of predictions, shape (r, n, c), for the rows of `training`."""
    classification = training.labels is not None
    error = losses(predictions, training.Y, classification=classification).mean(-1)
    squared = squared_errors(predictions, training.Y).mean(-1)
    return [Score(*pair) for pair in zip(error.tolist(), squared.tolist(), strict=True)]


def mean_score(parts: list[Score]) -> Score:
    """The mean over the inner splits."""
    return Score(float(np.mean([s.error for s in parts])), float(np.mean([s.squared for s in parts])))


def judged(training: Training, outputs_of: Callable[[Training, RowForms], Tensor], *, seed: int) -> Judged:
    """Judge candidates by the inner splits.

    Args:
        training: What is split.
        outputs_of: Outputs of the candidates that were fitted to one part for the rows of the other, shape
            (candidates, rows, c).
        seed: Seed of the splits.
    """
    parts, found = [], []
    splits = inner_splits(training, seed=seed)
    for fit, choose in splits:
        parts.append(outputs_of(training[fit], training.inputs[choose]))
        found.append(scores(parts[-1], training[choose]))
    means = [mean_score(list(each)) for each in zip(*found, strict=True)]
    return Judged(means, torch.cat(parts, dim=1), torch.cat([choose for _, choose in splits]))


def pilot_seconds(training: Training, work: Callable[[Training], object]) -> float:
    """Time of work whose time grows as the number of rows, from doing it on a few."""
    pilot = training.pilot()
    start = time.perf_counter()
    work(pilot)
    return (time.perf_counter() - start) * training.n / pilot.n


def judging_seconds(training: Training, fit_each: Callable[[Training], object], num_candidates: int) -> float:
    """Time to judge candidates and to fit one, from fitting each of them to a few rows."""
    seconds = pilot_seconds(training, fit_each)
    return seconds * (len(inner_splits(training, seed=0)) + 1 / num_candidates)


def by_score(candidates: Sequence[Score]) -> list[int]:
    """Indices from the smallest score on; without those that are not numbers."""
    usable = [i for i, score in enumerate(candidates) if np.isfinite([score.error, score.squared]).all()]
    return sorted(usable, key=lambda i: candidates[i])


def best_score(candidates: Sequence[Score]) -> int:
    """Index of the smallest score; a score that is not a number never wins."""
    return next(iter(by_score(candidates)), 0)


def inner_splits(training: Training, *, seed: int) -> list[tuple[Tensor, Tensor]]:
    """Rows to fit and rows to choose by: three folds where rows are few, else one held-out quarter.

    Rows are few as well where a quarter of them would have no room for every class.
    """
    few = training.n < INNER_FOLDS_BELOW or HELD_OUT * training.n < training.num_classes
    rows = np.zeros(training.n)
    if training.labels is None:
        plain = KFold(INNER_FOLDS, shuffle=True, random_state=seed)
        part = ShuffleSplit(n_splits=1, test_size=HELD_OUT, random_state=seed)
        splits = (plain if few else part).split(rows)
    else:
        folds = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=seed)
        one = StratifiedShuffleSplit(n_splits=1, test_size=HELD_OUT, random_state=seed)
        splits = (folds if few else one).split(rows, training.labels.numpy())
    return [(torch.from_numpy(fit), torch.from_numpy(choose)) for fit, choose in splits]
