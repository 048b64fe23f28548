"""Baselines against scikit-learn called directly."""

from dataclasses import replace

import pytest
import torch
from sklearn.linear_model import Ridge, RidgeCV

from widenet.compare import baselines, tuning
from widenet.compare.baselines import BoostingMethod, ForestMethod, RidgeMethod
from widenet.compare.estimators import coded
from widenet.compare.folds import make_fold, outer_folds
from widenet.compare.kernels import RELATIVE_RIDGES
from widenet.compare.tuning import MOST_PILOT_ROWS, losses
from widenet.data.targets import class_columns


@pytest.fixture
def fast(monkeypatch):
    monkeypatch.setattr("widenet.compare.baselines.NUM_TREES", 60)
    monkeypatch.setattr("widenet.compare.baselines.MAX_ITERATIONS", 20)


def test_ridge_is_scikit_learns(regression):
    fold = make_fold(regression, outer_folds(regression, 5, 1, seed=0)[0], seed=0)
    Z, y = fold.training.inputs.Z, fold.training.Y[:, 0]
    model = RidgeMethod().fit(fold.training, seed=0)
    alphas = (RELATIVE_RIDGES * float((Z - Z.mean(0)).square().sum(1).mean())).numpy()
    chosen = alphas[[float(f"{ridge:.3g}") for ridge in RELATIVE_RIDGES].index(model.setting["ridge"])]
    own = Ridge(alpha=chosen).fit(Z.numpy(), y.numpy())
    torch.testing.assert_close(
        model.predict(fold.inputs)[:, 0], torch.from_numpy(own.predict(fold.inputs.Z.numpy()))
    )
    assert RidgeCV(alphas=alphas).fit(Z.numpy(), y.numpy()).alpha_ == pytest.approx(chosen)


@pytest.mark.parametrize("method", [ForestMethod(), BoostingMethod()])
def test_trees_learn_and_are_judged_by_rows_they_did_not_see(dataset, method, fast):
    fold = make_fold(dataset, outer_folds(dataset, 4, 1, seed=0)[0], seed=0)
    model = method.fit(fold.training, seed=1)
    classification = dataset.labels is not None
    error = float(losses(model.predict(fold.inputs), fold.Y, classification=classification).mean())
    seen = model.predict(fold.training.inputs)
    training_error = float(losses(seen, fold.training.Y, classification=classification).mean())
    assert error < 0.55
    assert training_error < model.score.error < 0.55
    again = method.fit(fold.training, seed=1)
    torch.testing.assert_close(again.predict(fold.inputs), model.predict(fold.inputs), rtol=0, atol=0)


@pytest.mark.parametrize("method", [ForestMethod(), BoostingMethod()])
def test_several_outputs(regression, method, fast):
    fold = make_fold(regression, outer_folds(regression, 4, 1, seed=0)[0], seed=0)
    training = fold.training
    both = torch.cat([training.Y, -training.Y], dim=1)
    two = replace(training, dataset=replace(training.dataset, Y=both))
    outputs = method.fit(two, seed=0).predict(fold.inputs)
    assert outputs.shape == (len(fold.Y), 2)
    assert float((outputs - torch.cat([fold.Y, -fold.Y], dim=1)).square().sum(1).mean()) < 1.1


def test_shares_of_classes_in_the_code_of_targets():
    certain = torch.eye(3).double().numpy()
    labels = torch.arange(3)
    torch.testing.assert_close(coded(certain, labels.numpy(), 3), class_columns(labels, 3))
    two = coded(torch.tensor([[0.75, 0.25]]).double().numpy(), torch.arange(2).numpy(), 2)
    assert two.tolist() == [[0.5]]
    missing = coded(torch.eye(2).double().numpy(), torch.tensor([0, 2]).numpy(), 3)
    assert missing.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]


@pytest.mark.parametrize("method", [ForestMethod(), BoostingMethod()])
def test_pilots_are_small_and_scaled(binary, method, monkeypatch):
    seen, ticks = [], iter(range(100))
    for name in ("_forest", "_boost"):
        monkeypatch.setattr(baselines, name, lambda training, *_, **__: seen.append(training.n))
    monkeypatch.setattr(tuning.time, "perf_counter", lambda: next(ticks))
    training = make_fold(binary, outer_folds(binary, 4, 1, seed=0)[0], seed=0).training
    once, twice = (method.forecast(training[torch.arange(training.n).repeat(copies)]) for copies in (20, 40))
    assert set(seen) == {MOST_PILOT_ROWS}
    assert twice == pytest.approx(2 * once)


@pytest.mark.parametrize("method", [RidgeMethod(), ForestMethod(), BoostingMethod()])
def test_forecasts_are_positive(training, method, fast):
    assert 0 < method.forecast(training) < 60
