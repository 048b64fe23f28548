"""The methods that anyone would ask about: linear regression, a random forest, gradient boosting."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from widenet.compare.estimators import coded, estimated, sklearn_targets
from widenet.compare.kernels import KernelMethod
from widenet.compare.tuning import (
    Choice,
    Family,
    Model,
    Score,
    Training,
    best_score,
    judged,
    judging_seconds,
    pilot_seconds,
    scores,
)
from widenet.kernels.names import kernel_by_name

NUM_TREES = 200
FORESTS: tuple[Choice, ...] = (
    {"max_features": "sqrt", "min_samples_leaf": 1},
    {"max_features": "sqrt", "min_samples_leaf": 5},
    {"max_features": 0.5, "min_samples_leaf": 1},
    {"max_features": 0.5, "min_samples_leaf": 5},
)
PILOT_TREES = 16
MAX_ITERATIONS = 100
STAGES_APART = 5  # iterations between two that can be chosen
BOOSTINGS: tuple[Choice, ...] = (
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
        def grow_each(pilot: Training) -> None:
            for setting in FORESTS:
                _forest(pilot, setting, PILOT_TREES, seed=0, oob=False)

        return pilot_seconds(training, grow_each) * NUM_TREES / PILOT_TREES

    def _grown(self, training: Training, setting: Choice, seed: int) -> Model:
        forest = _forest(training, setting, NUM_TREES, seed=seed, oob=True)
        if training.labels is None:
            unseen = torch.from_numpy(forest.oob_prediction_.reshape(training.Y.shape))
        else:
            unseen = coded(forest.oob_decision_function_, forest.classes_, training.num_classes)
        score = scores(unseen[None], training)[0]
        return Model(lambda inputs: estimated(forest, inputs, training), setting, score)


@dataclass(frozen=True)
class BoostingMethod:
    """Gradient-boosted trees of scikit-learn; size of the trees and number of steps chosen on held-out rows.

    They have one output, so targets of several columns get one model for each column.
    """

    name = "boosting"
    family: Family = "baseline"

    def fit(self, training: Training, *, seed: int) -> Model:
        def staged_scores(part: Training, held_out: Training) -> list[Score]:
            stages = [stage for setting in BOOSTINGS for stage in _stages(part, held_out, setting, seed)]
            return scores(torch.stack(stages), held_out)

        found = judged(training, staged_scores, seed=seed)
        best = best_score(found)
        which, stage = divmod(best, MAX_ITERATIONS // STAGES_APART)
        setting, iterations = BOOSTINGS[which], STAGES_APART * (stage + 1)
        boosted = _boost(training, setting, iterations, seed)
        return Model(
            lambda inputs: torch.cat([estimated(model, inputs, training) for model in boosted], dim=1),
            setting | {"iterations": iterations},
            found[best],
        )

    def forecast(self, training: Training) -> float:
        def boost_each(pilot: Training) -> None:
            for setting in BOOSTINGS:
                _boost(pilot, setting, PILOT_ITERATIONS, seed=0)

        return judging_seconds(training, boost_each, len(BOOSTINGS)) * MAX_ITERATIONS / PILOT_ITERATIONS


def _forest(training: Training, setting: Choice, num_trees: int, *, seed: int, oob: bool) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestRegressor if training.labels is None else RandomForestClassifier
    forest = kind(num_trees, oob_score=oob, random_state=seed, n_jobs=-1, **setting)
    forest.fit(training.Z.numpy(), sklearn_targets(training, as_classes=True))
    return forest.set_params(n_jobs=1)  # threads would add predictions up in any order, and so round anyhow


def _boost(training: Training, setting: Choice, iterations: int, seed: int) -> list[Any]:
    """One classifier, or one regressor for each column."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    options = {**setting, "max_iter": iterations, "early_stopping": False, "random_state": seed}
    Z = training.inputs.Z.numpy()
    if training.labels is not None:
        return [HistGradientBoostingClassifier(**options).fit(Z, training.labels.numpy())]
    return [HistGradientBoostingRegressor(**options).fit(Z, column) for column in training.Y.T.numpy()]


def _stages(training: Training, held_out: Training, setting: Choice, seed: int) -> list[Tensor]:
    """Outputs on held-out rows after each number of steps that can be chosen."""
    boosted, Z = _boost(training, setting, MAX_ITERATIONS, seed), held_out.Z.numpy()
    if training.labels is None:
        columns = zip(*(model.staged_predict(Z) for model in boosted), strict=True)
        outputs = (torch.from_numpy(np.stack(each, axis=1)) for each in columns)
    else:
        shares = boosted[0].staged_predict_proba(Z)
        outputs = (coded(each, boosted[0].classes_, training.num_classes) for each in shares)
    return list(outputs)[STAGES_APART - 1 :: STAGES_APART]
