"""The methods that anyone would ask about: linear regression, a random forest, gradient boosting."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from widenet.compare.kernels import KernelMethod
from widenet.compare.tuning import (
    Family,
    Inputs,
    Model,
    Score,
    Setting,
    Training,
    best_score,
    inner_splits,
    mean_score,
    scores,
)
from widenet.data.targets import class_columns
from widenet.kernels.names import kernel_by_name

NUM_TREES = 200
FORESTS: tuple[Setting, ...] = (
    {"max_features": "sqrt", "min_samples_leaf": 1},
    {"max_features": "sqrt", "min_samples_leaf": 5},
    {"max_features": 0.5, "min_samples_leaf": 1},
    {"max_features": 0.5, "min_samples_leaf": 5},
)
PILOT_TREES = 16
MAX_ITERATIONS = 100
EVERY = 5  # iterations between two that can be chosen
BOOSTINGS: tuple[Setting, ...] = (
    {"learning_rate": 0.1, "max_leaf_nodes": 31},
    {"learning_rate": 0.2, "max_leaf_nodes": 7},
)
PILOT_ITERATIONS = 12


@dataclass(frozen=True)
class RidgeMethod:
    """Linear ridge regression with an intercept, the ridge chosen by leave-one-out."""

    name = "ridge"
    family: Family = "baseline"

    def fit(self, training: Training, *, seed: int) -> Model:
        return self._centred(training).fit(training, seed=seed)

    def forecast(self, training: Training) -> float:
        return self._centred(training).forecast(training)

    def _centred(self, training: Training) -> KernelMethod:
        centre = training.inputs.Z.mean(0)
        linear = kernel_by_name("polynomial:degree=1,offset=0")
        return KernelMethod(
            self.name, lambda d, generator: [({}, linear)], self.family, lambda inputs: inputs.Z - centre
        )


@dataclass(frozen=True)
class ForestMethod:
    """A random forest of scikit-learn; each row is judged by the trees that did not see it (out of bag)."""

    name = "forest"
    family: Family = "baseline"

    def fit(self, training: Training, *, seed: int) -> Model:
        models = [self._grown(training, setting, seed) for setting in FORESTS]
        return models[best_score([model.score for model in models])]

    def forecast(self, training: Training) -> float:
        pilot = training.pilot()
        start = time.perf_counter()
        for setting in FORESTS:
            _forest(pilot, setting, PILOT_TREES, seed=0, oob=False)
        return (time.perf_counter() - start) * NUM_TREES / PILOT_TREES * training.n / pilot.n

    def _grown(self, training: Training, setting: Setting, seed: int) -> Model:
        forest = _forest(training, setting, NUM_TREES, seed=seed, oob=True)
        if training.labels is None:
            unseen = torch.from_numpy(forest.oob_prediction_.reshape(training.Y.shape))
            return Model(lambda inputs: _numbers(forest, inputs), setting, scores(unseen[None], training)[0])
        unseen = _coded(forest.oob_decision_function_, forest.classes_, training.num_classes)
        return Model(
            lambda inputs: _classes(forest, inputs, training.num_classes),
            setting,
            scores(unseen[None], training)[0],
        )


@dataclass(frozen=True)
class BoostingMethod:
    """Gradient-boosted trees of scikit-learn; size of the trees and number of steps chosen on held-out rows.

    They have one output, so targets of several columns get one model for each column.
    """

    name = "boosting"
    family: Family = "baseline"

    def fit(self, training: Training, *, seed: int) -> Model:
        splits = inner_splits(training, seed=seed)
        judged: list[tuple[Score, Setting]] = []
        for setting in BOOSTINGS:
            parts = [_staged_scores(training, *split, setting, seed) for split in splits]
            for index, part_scores in enumerate(zip(*parts, strict=True), start=1):
                judged.append((mean_score(list(part_scores)), setting | {"iterations": EVERY * index}))
        score, chosen = judged[best_score([score for score, _ in judged])]
        setting = {name: value for name, value in chosen.items() if name != "iterations"}
        boosted = _boost(training, setting, chosen["iterations"], seed)
        return Model(lambda inputs: _last(boosted, inputs, training), chosen, score)

    def forecast(self, training: Training) -> float:
        pilot = training.pilot()
        start = time.perf_counter()
        for setting in BOOSTINGS:
            _boost(pilot, setting, PILOT_ITERATIONS, seed=0)
        seconds = (time.perf_counter() - start) * MAX_ITERATIONS / PILOT_ITERATIONS * training.n / pilot.n
        return seconds * (len(inner_splits(training, seed=0)) + 1 / len(BOOSTINGS))


def _forest(training: Training, setting: Setting, num_trees: int, *, seed: int, oob: bool) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestRegressor if training.labels is None else RandomForestClassifier
    forest = kind(num_trees, oob_score=oob, random_state=seed, n_jobs=-1, **setting)
    forest.fit(training.inputs.Z.numpy(), _sklearn_targets(training))
    return forest.set_params(n_jobs=1)  # threads would add predictions up in any order, and so round anyhow


def _sklearn_targets(training: Training) -> np.ndarray:
    """Class indices, numbers (n,), or several columns of numbers (n, c)."""
    if training.labels is not None:
        return training.labels.numpy()
    return (training.Y[:, 0] if training.Y.shape[1] == 1 else training.Y).numpy()


def _boost(training: Training, setting: Setting, iterations: int, seed: int) -> list[Any]:
    """One classifier, or one regressor for each column."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    options = {**setting, "max_iter": iterations, "early_stopping": False, "random_state": seed}
    Z = training.inputs.Z.numpy()
    if training.labels is not None:
        return [HistGradientBoostingClassifier(**options).fit(Z, training.labels.numpy())]
    return [HistGradientBoostingRegressor(**options).fit(Z, column) for column in training.Y.T.numpy()]


def _staged_scores(
    training: Training, fit: Tensor, choose: Tensor, setting: Setting, seed: int
) -> list[Score]:
    """Scores on held-out rows after every few steps."""
    part, held_out = training[fit], training[choose]
    boosted = _boost(part, setting, MAX_ITERATIONS, seed)
    stages = list(_stages(boosted, held_out.inputs, part))[EVERY - 1 :: EVERY]
    return scores(torch.stack(stages), held_out)


def _stages(boosted: list[Any], inputs: Inputs, training: Training) -> Iterator[Tensor]:
    """Outputs after each step."""
    Z = inputs.Z.numpy()
    if training.labels is not None:
        for shares in boosted[0].staged_predict_proba(Z):
            yield _coded(shares, boosted[0].classes_, training.num_classes)
        return
    for columns in zip(*(model.staged_predict(Z) for model in boosted), strict=True):
        yield torch.from_numpy(np.stack(columns, axis=1))


def _last(boosted: list[Any], inputs: Inputs, training: Training) -> Tensor:
    if training.labels is not None:
        return _classes(boosted[0], inputs, training.num_classes)
    return torch.cat([_numbers(model, inputs) for model in boosted], dim=1)


def _numbers(model: Any, inputs: Inputs) -> Tensor:
    return torch.from_numpy(model.predict(inputs.Z.numpy()).reshape(len(inputs.Z), -1))


def _classes(model: Any, inputs: Inputs, num_classes: int) -> Tensor:
    return _coded(model.predict_proba(inputs.Z.numpy()), model.classes_, num_classes)


def _coded(shares: np.ndarray, classes: np.ndarray, num_classes: int) -> Tensor:
    """Shares of classes in the code of Y: expected ±1 in one column for two classes, else one column each."""
    codes = class_columns(torch.from_numpy(classes.astype(np.int64)), num_classes)
    return torch.from_numpy(shares) @ codes
