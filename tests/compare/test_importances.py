"""Importances against scikit-learn's own, and against what the data was made of."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression

from widenet.compare import importances as room
from widenet.compare.estimators import EstimatorMethod
from widenet.compare.folds import make_fold, outer_folds, prepared_by
from widenet.compare.importances import (
    NotMeasured,
    feature_columns,
    fold_increases,
    importances_of,
    num_shuffles,
    shuffled,
    why_not_measured,
)
from widenet.compare.run import run_compare
from widenet.compare.settings import CompareSettings
from widenet.data import load
from widenet.runs.store import Store

LINEAR = EstimatorMethod("linear", lambda classes: LinearRegression())


@pytest.fixture
def mixed():
    """Numbers, one of them with gaps, and a category that decides the target."""
    rng = np.random.default_rng(0)
    size, noise = rng.normal(size=150), rng.normal(size=150)
    kind = np.array(["a", "b", "c"])[rng.integers(3, size=150)]
    y = 3.0 * (kind == "b") + 0.5 * size + 0.1 * rng.normal(size=150)
    noise[::7] = np.nan
    return load(pd.DataFrame({"size": size, "noise": noise, "kind": kind, "y": y}), target="y")


def test_a_feature_is_what_a_person_counts(mixed):
    columns = feature_columns(mixed)
    assert list(columns) == ["size", "noise", "kind"]
    assert [len(each) for each in columns.values()] == [1, 2, 3]
    names = [[mixed.names[k] for k in each.tolist()] for each in columns.values()]
    assert names == [["size"], ["noise", "noise is missing"], ["kind=a", "kind=b", "kind=c"]]


@pytest.mark.parametrize("prepare", ["standard", "unit", "raw"])
def test_a_shuffled_row_is_what_its_own_table_would_have_given(prepare):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    dataset = load(X, rng.normal(size=40), prepare=prepare)
    rows = prepared_by(dataset, torch.arange(40))
    order = torch.randperm(40, generator=torch.Generator().manual_seed(0))
    found = shuffled(rows, torch.tensor([1]), order, prepare)
    if prepare == "standard":  # whose means and scales are those of the table before
        moved = X.copy()
        moved[:, 1] = X[order, 1]
        torch.testing.assert_close(found.X, dataset.preparation.apply(moved))
    norms = found.X.norm(dim=1)
    assert prepare == "raw" or torch.allclose(norms, torch.ones_like(norms))
    torch.testing.assert_close(shuffled(rows, torch.tensor([1]), torch.arange(40), prepare).X, rows.X)


def test_increases_are_scikit_learns(mixed):
    fold = make_fold(mixed, outer_folds(mixed, 3, 1, seed=0)[0], seed=0)
    columns = {"size": torch.tensor([0]), "first of kind": torch.tensor([3])}
    found = fold_increases(LINEAR, fold, columns, shuffles=400)
    own = LinearRegression().fit(fold.training.Z.numpy(), fold.training.Y[:, 0].numpy())
    expected = permutation_importance(
        own,
        fold.inputs.Z.numpy(),
        fold.Y[:, 0].numpy(),
        scoring="neg_mean_squared_error",
        n_repeats=400,
        random_state=0,
    )
    assert found["size"] == pytest.approx(expected.importances_mean[0], rel=0.1)
    assert found["first of kind"] == pytest.approx(expected.importances_mean[3], rel=0.1, abs=1e-3)


def test_what_the_data_was_made_of_comes_first(mixed, tmp_path):
    settings = CompareSettings(methods=("ridge", "gaussian"), folds=5, repeats=1)
    with Store(tmp_path / "fits.db") as store:
        first, again = (run_compare(mixed, settings, store=store).importances for _ in range(2))
    assert [each.feature for each in first.features] == ["kind", "size", "noise"]
    assert first == again
    assert first.features[0].increase > 5 * first.features[1].increase > 0
    assert abs(first.features[2].increase) < 0.02
    assert (first.method, first.shuffles, first.not_measured) == ("ridge", 5, None)
    assert first == run_compare(mixed, settings).importances


def test_means_and_spreads_are_over_the_folds():
    found = importances_of("a", 2, [{"x": 1.0, "y": 2.0}, {"x": 3.0, "y": 4.0}])
    assert [(each.feature, each.increase) for each in found.features] == [("y", 3.0), ("x", 2.0)]
    assert found.features[0].std == pytest.approx(2**0.5)


def test_they_are_left_out_where_they_say_little(mixed, monkeypatch):
    assert why_not_measured(load("digits")) is NotMeasured.IMAGES
    assert why_not_measured(mixed) is None
    monkeypatch.setattr(room, "MOST_FEATURES", 2)
    assert why_not_measured(mixed) is NotMeasured.TOO_MANY_FEATURES
    assert [num_shuffles(num) for num in (1, 20, 40, 200)] == [5, 5, 2, 1]


def test_without_a_winner_there_are_none(table):
    rng = np.random.default_rng(0)
    noise = table(rng.normal(size=(60, 3)), rng.permutation(np.arange(60) % 2).astype(str))
    result = run_compare(noise, CompareSettings(methods=("ridge", "gaussian"), folds=3, repeats=1))
    assert result.importances.not_measured is NotMeasured.NO_WINNER
    assert result.to_dict()["importances"]["features"] == []
