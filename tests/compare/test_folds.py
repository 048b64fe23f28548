"""Folds: every row tested once, classes in their shares, and preparation by training rows alone."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from widenet.base.errors import InputError
from widenet.compare.folds import make_fold, outer_folds, prepared_by
from widenet.compare.tuning import INNER_FOLDS, inner_splits
from widenet.data import load
from widenet.data.sample import some_rows


def test_every_repeat_tests_every_row_once(dataset):
    tests = outer_folds(dataset, 5, 3, seed=0)
    assert len(tests) == 15
    for repeat in range(3):
        rows = torch.cat(tests[5 * repeat : 5 * repeat + 5]).sort().values
        assert torch.equal(rows, torch.arange(dataset.n))
    assert not torch.equal(tests[0], tests[5])


def test_classes_keep_their_shares(multiclass):
    counts = torch.bincount(multiclass.labels)
    for test in outer_folds(multiclass, 4, 1, seed=0):
        inside = torch.bincount(multiclass.labels[test], minlength=3)
        assert bool(((inside - counts / 4).abs() < 1).all())


def test_training_and_test_rows_are_apart(dataset):
    for test in outer_folds(dataset, 5, 1, seed=0):
        fold = make_fold(dataset, test, seed=0)
        seen = {tuple(row) for row in fold.training.inputs.X.tolist()}
        assert len(seen) == fold.training.n == dataset.n - len(test)
        assert not seen & {tuple(row) for row in fold.inputs.X.tolist()}


def table(path, rows):
    rng = np.random.default_rng(0)
    size = rng.gamma(2.0, size=60)
    frame = pd.DataFrame(
        {
            "size": size,
            "colour": rng.choice(["red", "green", "blue"], size=60),
            "late": (np.arange(60) >= 40) * rng.normal(size=60),  # constant in the first forty rows
            "y": 3 * size + rng.normal(size=60),
        }
    )
    frame.iloc[rows].to_csv(path, index=False)
    return frame


@pytest.mark.parametrize("num_train", [50, 40])
def test_preparation_is_that_of_the_training_rows_alone(tmp_path, num_train):
    frame = table(tmp_path / "all.csv", slice(None))
    table(tmp_path / "part.csv", slice(num_train))
    everything, part = load(str(tmp_path / "all.csv")), load(str(tmp_path / "part.csv"))
    inputs = prepared_by(everything, torch.arange(num_train))
    expected = part.preparation.apply(frame.drop(columns="y"))
    names = [everything.names.index(name) for name in part.names]
    torch.testing.assert_close(inputs.X[:, names], expected)
    rest = [i for i in range(everything.d) if i not in names]
    assert not inputs.X[:, rest].any()  # a column that is constant in training is not used
    assert bool((inputs.Z[:num_train].mean(0).abs() < 1e-12).all())


def test_columns_with_gaps_are_prepared_by_the_training_rows_alone():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)) * [1, 50, 3], columns=list("abc"))
    frame = frame.mask(rng.random((60, 3)) < 0.2).assign(y=rng.choice(["u", "v"], 60))
    everything, num_train = load(frame, target="y"), 40
    inputs = prepared_by(everything, torch.arange(num_train))
    fills = [column.fill for column in everything.preparation.columns]  # these are those of all rows
    Z = []
    for name, fill in zip("abc", fills, strict=True):
        values, gaps = frame[name].fillna(fill).to_numpy(), frame[name].isna().to_numpy(float)
        train = slice(num_train)
        weight = np.sqrt(3 * (1 + gaps[train].var()))
        Z.append((values - values[train].mean()) / values[train].std() / weight)
        Z.append((gaps - gaps[train].mean()) / weight)
    torch.testing.assert_close(inputs.Z, torch.tensor(np.column_stack(Z)))


@pytest.mark.parametrize(("folds", "least"), [(2, 6), (3, 5), (5, 5), (10, 10)])
def test_classes_too_small_for_the_folds(multiclass, folds, least):
    def with_rare(count):
        rare = (multiclass.labels == 2).nonzero()[count:, 0]
        kept = torch.ones(multiclass.n, dtype=torch.bool)
        kept[rare] = False
        return replace(multiclass, X=multiclass.X[kept], Y=multiclass.Y[kept], labels=multiclass.labels[kept])

    with pytest.raises(InputError, match=f"Class 'c' has {least - 1} rows.*{folds} folds.*{least} of each"):
        outer_folds(with_rare(least - 1), folds, 1, seed=0)
    enough = with_rare(least)
    for test in outer_folds(enough, folds, 1, seed=0):
        training = make_fold(enough, test, seed=0).training
        for fit, choose in inner_splits(training, seed=0):
            assert set(training.labels[fit].tolist()) == set(training.labels[choose].tolist()) == {0, 1, 2}


def test_too_few_rows_for_the_folds(regression):
    few = replace(regression, X=regression.X[:9], Y=regression.Y[:9])
    with pytest.raises(InputError, match="9 rows, too few for 5 folds"):
        outer_folds(few, 5, 1, seed=0)


def test_too_few_rows_of_each_class_among_those_drawn(multiclass):
    with pytest.raises(InputError, match=r"0 rows, too few .* more rows"):
        outer_folds(some_rows(multiclass, 2, seed=0), 5, 1, seed=0)


def test_inner_parts_lie_within_the_training_part(training):
    splits = inner_splits(training, seed=3)
    assert len(splits) == INNER_FOLDS
    for fit, choose in splits:
        assert torch.equal(torch.cat([fit, choose]).sort().values, torch.arange(training.n))
    assert torch.equal(torch.cat([choose for _, choose in splits]).sort().values, torch.arange(training.n))


def test_many_rows_are_held_out_once(training):
    many = training[torch.arange(training.n).repeat(10)]
    ((fit, choose),) = inner_splits(many, seed=0)
    assert len(choose) == round(0.25 * many.n)
    assert not set(fit.tolist()) & set(choose.tolist())


def test_many_classes_have_inner_folds_however_many_rows(arrays):
    rng = np.random.default_rng(0)
    many = arrays(rng.normal(size=(900, 3)), np.array([f"c{i % 180:03}" for i in range(900)]))
    training = make_fold(many, outer_folds(many, 3, 1, seed=0)[0], seed=0).training
    assert training.n >= 500
    for fit, choose in inner_splits(training, seed=0):
        assert len(set(training.labels[fit].tolist())) == len(set(training.labels[choose].tolist())) == 180
