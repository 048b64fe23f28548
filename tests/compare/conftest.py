"""Each kind of task, and a fold of it."""

import pytest
import torch

from widenet.compare.folds import make_fold, outer_folds
from widenet.compare.tuning import Training
from widenet.data import Dataset


@pytest.fixture(params=["binary", "multiclass", "regression"])
def dataset(request) -> Dataset:
    return request.getfixturevalue(request.param)


@pytest.fixture(autouse=True)
def one_thread():
    """Trials one after the other, so that their order and their forecast do not depend on the machine."""
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(num_threads)


@pytest.fixture
def training(dataset) -> Training:
    """The training part of a fold."""
    return make_fold(dataset, outer_folds(dataset, 5, 1, seed=0)[0], seed=0).training
