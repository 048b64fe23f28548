"""Estimators of scikit-learn in the comparison, against scikit-learn called directly."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.linear_model import Perceptron, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from widenet.compare.estimators import EstimatorMethod
from widenet.compare.folds import make_fold, outer_folds
from widenet.compare.trial import run_trial
from widenet.compare.tuning import MOST_PILOT_ROWS, inner_splits
from widenet.data.targets import class_columns

NEIGHBOURS = ({"n_neighbors": 1}, {"n_neighbors": 5}, {"n_neighbors": 25})
KNN = EstimatorMethod(
    "knn", lambda classes: KNeighborsClassifier() if classes else KNeighborsRegressor(), NEIGHBOURS
)
RIDGE = EstimatorMethod("linear", lambda classes: Ridge(), ({"alpha": 1e-3}, {"alpha": 1e3}))


@pytest.fixture
def fold(dataset):
    return make_fold(dataset, outer_folds(dataset, 4, 1, seed=0)[0], seed=0)


def test_neighbours_are_chosen_by_the_inner_splits(fold):
    training = fold.training
    classes = training.labels is not None
    Z, y = training.Z.numpy(), (training.labels if classes else training.Y[:, 0]).numpy()
    explicit = KNeighborsClassifier if classes else KNeighborsRegressor
    errors = []
    for choice in NEIGHBOURS:
        parts = []
        for fit, choose in inner_splits(training, seed=3):
            predicted = explicit(**choice).fit(Z[fit], y[fit]).predict(Z[choose])
            parts.append(
                np.mean(predicted != y[choose]) if classes else np.mean((predicted - y[choose]) ** 2)
            )
        errors.append(np.mean(parts))
    model = KNN.fit(training, seed=3)
    assert model.setting == NEIGHBOURS[int(np.argmin(errors))]
    assert model.score.error == pytest.approx(min(errors))
    expected = explicit(**model.setting).fit(Z, y).predict(fold.inputs.Z.numpy())
    outputs = model.predict(fold.inputs)
    assert outputs.shape == fold.Y.shape
    if not classes:
        np.testing.assert_allclose(outputs[:, 0], expected)
    else:
        found = (outputs[:, 0] < 0).long() if outputs.shape[1] == 1 else outputs.argmax(1)
        assert found.tolist() == expected.tolist()


def test_a_regressor_is_fitted_to_the_columns_of_classes(fold):
    model = RIDGE.fit(fold.training, seed=0)
    assert model.setting == {"alpha": 1e-3}
    explicit = Ridge(alpha=1e-3).fit(fold.training.Z.numpy(), fold.training.Y.numpy())
    expected = explicit.predict(fold.inputs.Z.numpy()).reshape(fold.Y.shape)
    torch.testing.assert_close(model.predict(fold.inputs), torch.from_numpy(expected))


def test_a_classifier_without_shares_predicts_the_code_of_a_class(multiclass):
    fold = make_fold(multiclass, outer_folds(multiclass, 4, 1, seed=0)[0], seed=0)
    model = EstimatorMethod("perceptron", lambda classes: Perceptron()).fit(fold.training, seed=0)
    explicit = Perceptron(random_state=0).fit(fold.training.Z.numpy(), fold.training.labels.numpy())
    expected = class_columns(torch.from_numpy(explicit.predict(fold.inputs.Z.numpy())), 3)
    torch.testing.assert_close(model.predict(fold.inputs), expected)


@pytest.mark.parametrize("method", [KNN, RIDGE])
def test_estimators_take_several_outputs(regression, method):
    fold = make_fold(regression, outer_folds(regression, 4, 1, seed=0)[0], seed=0)
    both = torch.cat([fold.training.Y, -fold.training.Y], dim=1)
    two = replace(fold.training, dataset=replace(fold.training.dataset, Y=both))
    outputs = method.fit(two, seed=0).predict(fold.inputs)
    torch.testing.assert_close(outputs[:, 0], -outputs[:, 1])


def test_the_seed_makes_random_estimators_repeatable(fold):
    method = EstimatorMethod(
        "extra", lambda classes: (ExtraTreesClassifier if classes else ExtraTreesRegressor)(5)
    )
    first, again, other = (method.fit(fold.training, seed=seed).predict(fold.inputs) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_what_an_estimator_refuses_is_a_failure_of_its_own(fold):
    many = EstimatorMethod("knn", KNN.make, ({"n_neighbors": 10_000},))
    trial = run_trial(many, fold)
    assert trial.error is None
    assert trial.failure.startswith("knn failed: ")
    assert "10000" in trial.failure
    assert many.forecast(fold.training) < 1


def test_the_forecast_is_scaled_from_a_pilot(fold, monkeypatch):
    seen, ticks = [], iter(range(100))
    monkeypatch.setattr(
        EstimatorMethod, "_fitted", lambda self, training, choice, seed: seen.append(training.n)
    )
    monkeypatch.setattr("widenet.compare.estimators.estimated", lambda *_: None)
    monkeypatch.setattr("widenet.compare.tuning.time.perf_counter", lambda: next(ticks))
    rows = torch.arange(fold.training.n)
    once, twice = (KNN.forecast(fold.training[rows.repeat(copies)]) for copies in (20, 40))
    assert set(seen) == {MOST_PILOT_ROWS}
    assert twice == pytest.approx(2 * once)
    assert once == pytest.approx(20 * len(rows) / MOST_PILOT_ROWS * (1 + 1 / 3))
