"""What else is measured where there are classes: balanced error, area under the ROC curve, log loss."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

MEASURES = ("balanced_error", "auc", "log_loss")


@dataclass(frozen=True)
class ClassMeasures:
    """Of a method on the test rows of one fold, or in the mean over all folds; None for what cannot be had.

    Attributes:
        balanced_error: The mean over the classes of the share of their rows that is misclassified.
        auc: Area under the ROC curve; of several classes, the mean over each against all others.
        log_loss: The mean of −log of the probability that a row's class was given.
    """

    balanced_error: float | None = None
    auc: float | None = None
    log_loss: float | None = None


def balanced_error(wrong: np.ndarray, labels: np.ndarray) -> float:
    """Mean over the classes that occur of the share of their rows that is wrong; both of shape (n,)."""
    return float(np.mean([wrong[labels == label].mean() for label in np.unique(labels)]))


def class_measures(wrong: np.ndarray, labels: np.ndarray, probabilities: np.ndarray | None) -> ClassMeasures:
    """All of them on some rows.

    Args:
        wrong: 1 where a row is misclassified, else 0, shape (n,).
        labels: Class indices, shape (n,).
        probabilities: Of every class, shape (n, c); None where the method has none. Without rows of some
            class there is no ROC curve of it, and so no area.
    """
    balanced = balanced_error(wrong, labels)
    if probabilities is None:
        return ClassMeasures(balanced)
    classes = np.arange(probabilities.shape[1])
    scores = probabilities[:, 1] if len(classes) == 2 else probabilities
    whole = len(np.unique(labels)) == len(classes)
    auc = float(roc_auc_score(labels, scores, multi_class="ovr")) if whole else None
    return ClassMeasures(balanced, auc, float(log_loss(labels, probabilities, labels=classes)))


def mean_measures(folds: Sequence[ClassMeasures]) -> ClassMeasures:
    """The mean of each over the folds; None where some fold has none."""
    means = {}
    for name in MEASURES:
        known = [value for value in (getattr(each, name) for each in folds) if value is not None]
        means[name] = float(np.mean(known)) if known and len(known) == len(folds) else None
    return ClassMeasures(**means)
