"""Estimators of scikit-learn, and of whoever follows its conventions, as methods of the comparison."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sklearn.base import is_classifier
from sklearn.multioutput import MultiOutputRegressor
from torch import Tensor

from widenet.base.errors import WidenetError
from widenet.compare.tuning import (
    Choice,
    Family,
    Model,
    RowForms,
    Training,
    best_score,
    judged,
    judging_seconds,
)
from widenet.data.targets import class_columns


@dataclass(frozen=True)
class EstimatorMethod:
    """Any estimator with `fit` and `predict`: its parameters are chosen from a grid by the inner splits.

    A classifier is fitted to class indices and predicts by `predict_proba` where it has that. A regressor is
    fitted to the columns of Y, for classes too, where these are ±1 or one-hot; each of several columns gets a
    model of its own.

    Attributes:
        name: Name of the method.
        make: An estimator that is not fitted yet, given whether there are classes to predict. Where it has a
            `random_state`, that is set.
        grid: Parameters to choose from, as `set_params` takes them.
    """

    name: str
    make: Callable[[bool], Any]
    grid: Sequence[Choice] = ({},)
    family: Family = "baseline"

    def fit(self, training: Training, *, seed: int) -> Model:
        def outputs_of(part: Training, inputs: RowForms) -> Tensor:
            fits = (self._fitted(part, choice, seed) for choice in self.grid)
            return torch.stack([estimated(each, inputs, part) for each in fits])

        found = judged(training, outputs_of, seed=seed)
        best = best_score(found.scores)
        fitted = self._fitted(training, self.grid[best], seed)
        return Model(
            lambda inputs: estimated(fitted, inputs, training),
            self.grid[best],
            found.scores[best],
            found.unseen(best),
        )

    def forecast(self, training: Training) -> float:
        """From fits to a few rows, as if the time grew as the number of rows."""

        def fit_each(pilot: Training) -> None:
            with suppress(WidenetError):  # what fails here will fail in the trials, where it is kept
                for choice in self.grid:
                    estimated(self._fitted(pilot, choice, seed=0), pilot.inputs, pilot)

        return judging_seconds(training, fit_each, len(self.grid))

    def _fitted(self, training: Training, choice: Choice, seed: int) -> Any:
        estimator = self.make(training.labels is not None)
        random = {"random_state": seed} if "random_state" in estimator.get_params() else {}
        estimator.set_params(**random, **choice)
        targets = sklearn_targets(training, as_classes=is_classifier(estimator))
        estimator = estimator if targets.ndim == 1 else MultiOutputRegressor(estimator)
        with _failures():
            return estimator.fit(training.Z.numpy(), targets)


def sklearn_targets(training: Training, *, as_classes: bool) -> np.ndarray:
    """Class indices, numbers (n,), or several columns of numbers (n, c)."""
    if training.labels is not None and as_classes:
        return training.labels.numpy()
    return (training.Y[:, 0] if training.Y.shape[1] == 1 else training.Y).numpy()


def estimated(estimator: Any, inputs: RowForms, training: Training) -> Tensor:
    """Outputs of a fitted estimator in the code of Y, shape (n2, c)."""
    Z = inputs.Z.numpy()
    with _failures():
        if training.labels is None or not is_classifier(estimator):
            return torch.from_numpy(estimator.predict(Z).reshape(len(Z), -1))
        if hasattr(estimator, "predict_proba"):
            shares = estimator.predict_proba(Z)
        else:
            shares = (estimator.predict(Z)[:, None] == estimator.classes_).astype(np.float64)
    return coded(shares, estimator.classes_, training.num_classes)


@contextmanager
def _failures() -> Iterator[None]:
    """Estimators refuse what they cannot fit by a ValueError, which is a failure of that method alone."""
    try:
        yield
    except ValueError as error:
        raise WidenetError(" ".join(str(error).split()).rstrip(".")) from error


def coded(shares: np.ndarray, classes: np.ndarray, num_classes: int) -> Tensor:
    """Shares of classes in the code of Y: expected ±1 in one column for two classes, else one column each."""
    codes = class_columns(torch.from_numpy(classes.astype(np.int64)), num_classes)
    return torch.from_numpy(shares) @ codes
