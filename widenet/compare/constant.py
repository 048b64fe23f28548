"""The best constant: what every error stands beside."""

from collections.abc import Sequence

import torch
from torch import Tensor

from widenet.compare.tuning import losses
from widenet.data.dataset import Dataset
from widenet.data.targets import class_columns


def constant_prediction(dataset: Dataset) -> Tensor:
    """The most frequent class, in the code of Y, or the mean, shape (1, c).

    It is the best one for all rows, test rows included, so a method that is better than it has learned.
    """
    if dataset.labels is None:
        return dataset.Y.mean(0, keepdim=True)
    most = torch.bincount(dataset.labels, minlength=len(dataset.classes)).argmax()
    return class_columns(most[None], len(dataset.classes)).to(dataset.Y.dtype)


def constant_errors(dataset: Dataset, tests: Sequence[Tensor]) -> tuple[float, ...]:
    """Its error on the test rows of each fold, in the measure of the comparison."""
    guesses = constant_prediction(dataset).expand_as(dataset.Y)
    loss = losses(guesses, dataset.Y, classification=dataset.labels is not None)
    return tuple(float(loss[test].mean()) for test in tests)


def num_repeated(X: Tensor) -> int:
    """Rows of X (n, d) that repeat an earlier one."""
    return len(X) - len(X.unique(dim=0))
