"""The methods that anyone would ask about: linear regression, a random forest, gradient boosting."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from widenet.compare.estimators import coded, estimated, sklearn_targets
from widenet.compare.kernels import KernelMethod
from widenet.compare.tuning import (
    INNER_FOLDS_BELOW,
    Choice,
    Family,
    Model,
    RowForms,
    Training,
    Unseen,
    best_score,
    judged,
    judging_seconds,
    pilot_seconds,
    scores,
)
from widenet.kernels.names import kernel_by_name

NUM_TREES = 100
SEARCH_TREES = 40  # of each forest that is tried: with fewer, some row may be in all of their samples
FORESTS: tuple[Choice, ...] = (
    {"max_features": "sqrt", "min_samples_leaf": 1},
    {"max_features": "sqrt", "min_samples_leaf": 5},
    {"max_features": 0.5, "min_samples_leaf": 1},
    {"max_features": 0.5, "min_samples_leaf": 5},
)
MAX_ITERATIONS = 100
STAGES_APART = 5  # iterations between two that can be chosen
BOOSTINGS: tuple[Choice, ...] = (
    {"learning_rate": 0.1, "max_leaf_nodes": 31},
    {"learning_rate": 0.2, "max_leaf_nodes": 7},
)
SMALL_BOOSTINGS = BOOSTINGS[:1]  # where rows are few: leaves hold at least 20, so that trees are small anyway
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
        tried = [self._grown(training, setting, SEARCH_TREES, seed).score for setting in FORESTS]
        return self._grown(training, FORESTS[best_score(tried)], NUM_TREES, seed)

    def forecast(self, training: Training) -> float:
        def grow_each(pilot: Training) -> None:
            for setting in FORESTS:
                _forest(pilot, setting, SEARCH_TREES, seed=0)

        return pilot_seconds(training, grow_each) * (1 + NUM_TREES / SEARCH_TREES / len(FORESTS))

    def _grown(self, training: Training, setting: Choice, num_trees: int, seed: int) -> Model:
        forest = _forest(training, setting, num_trees, seed=seed)
        if training.labels is None:
            unseen = torch.from_numpy(forest.oob_prediction_.reshape(training.Y.shape))
        else:
            unseen = coded(forest.oob_decision_function_, forest.classes_, training.num_classes)
        score = scores(unseen[None], training)[0]
        rows = torch.arange(training.n)
        return Model(lambda inputs: estimated(forest, inputs, training), setting, score, Unseen(unseen, rows))


@dataclass(frozen=True)
class BoostingMethod:
    """Gradient-boosted trees of scikit-learn; size of the trees and number of steps chosen on held-out rows.

    They have one output, so targets of several columns get one model for each column.
    """

    name = "boosting"
    family: Family = "baseline"

    def fit(self, training: Training, *, seed: int) -> Model:
        settings = _boostings(training)

        def stages_of(part: Training, inputs: RowForms) -> Tensor:
            return torch.stack([stage for each in settings for stage in _stages(part, inputs, each, seed)])

        found = judged(training, stages_of, seed=seed)
        best = best_score(found.scores)
        which, stage = divmod(best, MAX_ITERATIONS // STAGES_APART)
        setting, iterations = settings[which], STAGES_APART * (stage + 1)
        boosted = _boost(training, setting, iterations, seed)
        return Model(
            lambda inputs: torch.cat([estimated(model, inputs, training) for model in boosted], dim=1),
            setting | {"iterations": iterations},
            found.scores[best],
            found.unseen(best),
        )

    def forecast(self, training: Training) -> float:
        def boost_each(pilot: Training) -> None:
            for setting in settings:
                _boost(pilot, setting, PILOT_ITERATIONS, seed=0)

        settings = _boostings(training)
        return judging_seconds(training, boost_each, len(settings)) * MAX_ITERATIONS / PILOT_ITERATIONS


def _boostings(training: Training) -> tuple[Choice, ...]:
    return SMALL_BOOSTINGS if training.n < INNER_FOLDS_BELOW else BOOSTINGS


def _forest(training: Training, setting: Choice, num_trees: int, *, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestRegressor if training.labels is None else RandomForestClassifier
    forest = kind(num_trees, oob_score=True, random_state=seed, **setting)
    return forest.fit(training.Z.numpy(), sklearn_targets(training, as_classes=True))


def _boost(training: Training, setting: Choice, iterations: int, seed: int) -> list[Any]:
    """One classifier, or one regressor for each column."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    options = {**setting, "max_iter": iterations, "early_stopping": False, "random_state": seed}
    Z = training.inputs.Z.numpy()
    if training.labels is not None:
        return [HistGradientBoostingClassifier(**options).fit(Z, training.labels.numpy())]
    return [HistGradientBoostingRegressor(**options).fit(Z, column) for column in training.Y.T.numpy()]


def _stages(training: Training, inputs: RowForms, setting: Choice, seed: int) -> list[Tensor]:
    """Outputs on other rows after each number of steps that can be chosen."""
    boosted, Z = _boost(training, setting, MAX_ITERATIONS, seed), inputs.Z.numpy()
    if training.labels is None:
        columns = zip(*(model.staged_predict(Z) for model in boosted), strict=True)
        outputs = (torch.from_numpy(np.stack(each, axis=1)) for each in columns)
    else:
        shares = boosted[0].staged_predict_proba(Z)
        outputs = (coded(each, boosted[0].classes_, training.num_classes) for each in shares)
    return list(outputs)[STAGES_APART - 1 :: STAGES_APART]
