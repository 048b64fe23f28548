"""Small data sets, written and read as users' files are."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from widenet.compare.folds import make_fold, outer_folds
from widenet.compare.tuning import Training
from widenet.data import Dataset, load


@pytest.fixture
def arrays(tmp_path: Path) -> Callable[[np.ndarray, np.ndarray], Dataset]:
    """A data set of rows X and targets y, scaled to the unit sphere and nothing else."""

    def make(X: np.ndarray, y: np.ndarray) -> Dataset:
        path = tmp_path / "small.npz"
        np.savez(path, X=X, y=y)
        return load(str(path), prepare="unit")

    return make


@pytest.fixture
def binary(arrays) -> Dataset:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    return arrays(X, np.where(X[:, 0] + X[:, 1] > 0, "up", "down"))


@pytest.fixture
def multiclass(arrays) -> Dataset:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 5))
    return arrays(X, np.array(["a", "b", "c"])[X[:, :3].argmax(1)])


@pytest.fixture
def regression(arrays) -> Dataset:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 4))
    return arrays(X, X[:, 0] * 3 + X[:, 1] ** 2)


@pytest.fixture(params=["binary", "multiclass", "regression"])
def dataset(request) -> Dataset:
    return request.getfixturevalue(request.param)


@pytest.fixture
def training(dataset) -> Training:
    """The training part of a fold."""
    return make_fold(dataset, outer_folds(dataset, 5, 1, seed=0)[0], seed=0).training
