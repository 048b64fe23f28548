"""Probabilities against scikit-learn's logistic regression, and by what defines them."""

import numpy as np
import pytest
import torch
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from widenet.compare.calibration import class_probabilities, class_scores, fit_calibration
from widenet.compare.tuning import Unseen


def drawn(m, c, seed=0):
    """Scores that say something of labels, not on their scale."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(c, size=m)
    return 0.3 * rng.normal(size=(m, c)) + 0.5 * np.eye(c)[labels] - 0.2 * np.arange(c), labels


def test_two_classes_are_a_logistic_regression():
    """Weighted rows of either class stand for targets that are not quite certain."""
    scores, labels = drawn(60, 2)
    output = scores[:, :1]
    a, b = fit_calibration(np.hstack([output, -output]), labels)
    m = len(labels)
    rows, given = np.vstack([output, output]), np.concatenate([labels, 1 - labels])
    weights = np.repeat([(m + 1) / (m + 2), 1 / (m + 2)], m)
    own = LogisticRegression(C=np.inf, tol=1e-10).fit(rows, given, sample_weight=weights)
    expected = own.predict_proba(output)
    np.testing.assert_allclose(softmax(a * np.hstack([output, -output]) + b, axis=1), expected, atol=1e-4)


def test_no_other_map_is_likelier():
    scores, labels = drawn(80, 4)
    a, b = fit_calibration(scores, labels)
    targets = (80 * np.eye(4)[labels] + 1) / 84

    def loss(a, b):
        return -np.mean(np.sum(targets * np.log(softmax(a * scores + b, axis=1)), axis=1))

    best = loss(a, b)
    rng = np.random.default_rng(1)
    for _ in range(50):
        assert loss(a + 0.05 * rng.normal(), b + 0.05 * rng.normal(size=4)) > best
    assert a > 1


def test_outputs_that_separate_the_classes_are_not_certain():
    labels = np.arange(40) % 2
    output = np.where(labels, -1.0, 1.0)[:, None]
    a, b = fit_calibration(np.hstack([output, -output]), labels)
    assert softmax(a * np.array([1.0, -1.0]) + b)[0] == pytest.approx(41 / 42, abs=1e-3)


@pytest.mark.parametrize("sign", [0.0, -1.0])
def test_outputs_that_say_nothing_or_the_opposite_give_the_shares(sign):
    labels = np.repeat([0, 1, 2], [50, 30, 20])
    a, b = fit_calibration(sign * np.eye(3)[labels], labels)
    expected = (np.array([50, 30, 20]) + 1) / 103
    if sign:
        assert a == 0
    np.testing.assert_allclose(softmax(b), expected, atol=1e-3)


def test_other_rows_take_the_same_map():
    scores, labels = drawn(60, 3)
    unseen = Unseen(torch.from_numpy(scores[20:]), torch.arange(20, 60))
    found = class_probabilities(torch.from_numpy(scores[:20]), unseen, torch.from_numpy(labels))
    a, b = fit_calibration(scores[20:], labels[20:])
    np.testing.assert_allclose(found, softmax(a * scores[:20] + b, axis=1))
    np.testing.assert_allclose(found.sum(1), 1)


def test_one_output_is_a_score_of_either_class():
    assert class_scores(torch.tensor([[0.5], [-1.0]])).tolist() == [[0.5, -0.5], [-1.0, 1.0]]
