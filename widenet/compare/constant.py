"""The best constant: what every error stands beside."""

from collections.abc import Sequence

import torch
from torch import Tensor

from widenet.compare.measures import ClassMeasures, class_measures, mean_measures
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


def constant_measures(dataset: Dataset, tests: Sequence[Tensor]) -> ClassMeasures:
    """The mean over the folds of what else is measured of it, where there are classes.

    Its probabilities are the shares of the classes in all rows, so its log loss is their entropy where every
    fold has the same shares. It tells no two rows apart: the area under its ROC curve is 1/2.
    """
    if dataset.labels is None:
        return ClassMeasures()
    counts = torch.bincount(dataset.labels, minlength=len(dataset.classes)).double()
    shares = (counts / dataset.n).expand(dataset.n, -1)
    wrong = losses(constant_prediction(dataset).expand_as(dataset.Y), dataset.Y, classification=True)
    return mean_measures(
        [
            class_measures(wrong[test].numpy(), dataset.labels[test].numpy(), shares[test].numpy())
            for test in tests
        ]
    )


def num_repeated(X: Tensor) -> int:
    """Rows of X (n, d) that repeat an earlier one."""
    return len(X) - len(X.unique(dim=0))
