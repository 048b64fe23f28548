"""Outputs to probabilities of the classes, by one map of the same kind for every method."""

import numpy as np
import torch
from scipy.optimize import minimize
from scipy.special import log_softmax
from torch import Tensor

from widenet.compare.tuning import Unseen


def class_scores(outputs: Tensor) -> np.ndarray:
    """A score of each class, shape (m, classes), from outputs in the code of Y: ±1 has one of either sign."""
    both = torch.cat([outputs, -outputs], dim=1) if outputs.shape[1] == 1 else outputs
    return both.double().numpy()


def fit_calibration(scores: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """The a ≥ 0 and b of p = softmax(a·score + b) by which these labels are likeliest.

    One temperature 1/a for all classes [guo2017calibration] and one bias for each, found by minimising the
    convex cross-entropy. As in [platt1999probabilities] no row is taken for certain: with m rows and c
    classes, the target of each is (m·[its class] + 1)/(m + c), so that a is finite where scores separate the
    classes. Outputs that say nothing have a = 0, which gives every row the shares of the classes.

    Args:
        scores: Of the classes, for rows that the model was not fitted to, shape (m, c).
        labels: Their class indices, shape (m,).

    Returns:
        a, and b of shape (c,).
    """
    num_rows, num_classes = scores.shape
    targets = (num_rows * np.eye(num_classes)[labels] + 1) / (num_rows + num_classes)

    def cross_entropy(unknown: np.ndarray) -> tuple[float, np.ndarray]:
        logs = log_softmax(unknown[0] * scores + unknown[1:], axis=1)
        slopes = (np.exp(logs) - targets) / num_rows
        gradient = np.concatenate([[np.sum(slopes * scores)], slopes.sum(axis=0)])
        return -float(np.sum(targets * logs)) / num_rows, gradient

    start = np.concatenate([[1.0], np.log(targets.mean(axis=0))])
    bounds = [(0, None)] + [(None, None)] * num_classes
    found = minimize(cross_entropy, start, jac=True, method="L-BFGS-B", bounds=bounds)
    return float(found.x[0]), found.x[1:]


def class_probabilities(outputs: Tensor, unseen: Unseen, labels: Tensor) -> np.ndarray:
    """Probabilities of the classes for other rows, shape (n2, classes).

    Args:
        outputs: Of a fitted model for these rows, shape (n2, c).
        unseen: What the method put out for rows of the training part that it was not fitted to.
        labels: Class indices of the training part, shape (n1,).
    """
    a, b = fit_calibration(class_scores(unseen.outputs), labels[unseen.rows].numpy())
    return np.asarray(np.exp(log_softmax(a * class_scores(outputs) + b, axis=1)))
