"""Measures of classes against scikit-learn's own, from a fit to the table of results."""

import numpy as np
import pytest
import torch
from scipy.stats import entropy
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score

from widenet.compare.calibration import class_probabilities
from widenet.compare.constant import constant_measures
from widenet.compare.folds import make_fold, outer_folds
from widenet.compare.measures import ClassMeasures, class_measures, mean_measures
from widenet.compare.methods import methods_by_name
from widenet.compare.run import run_compare
from widenet.compare.settings import CompareSettings
from widenet.compare.trial import run_trial


@pytest.fixture(params=["binary", "multiclass"])
def classes(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("name", ["gaussian", "ridge", "forest", "boosting", "2layer-all"])
def test_they_are_scikit_learns(name, classes):
    fold = make_fold(classes, outer_folds(classes, 4, 1, seed=0)[0], seed=3)
    (method,) = methods_by_name([name], 16, 10)
    found = run_trial(method, fold)
    model = method.fit(fold.training, seed=3)
    outputs, labels = model.predict(fold.inputs).double(), fold.labels.numpy()
    guesses = (outputs[:, 0] < 0).long() if outputs.shape[1] == 1 else outputs.argmax(1)
    assert found.balanced_error == pytest.approx(1 - balanced_accuracy_score(labels, guesses.numpy()))
    p = class_probabilities(outputs, model.unseen, fold.training.labels)
    assert found.log_loss == pytest.approx(log_loss(labels, p))
    if p.shape[1] == 2:
        assert found.auc == pytest.approx(roc_auc_score(labels, p[:, 1]))
        assert found.auc == pytest.approx(roc_auc_score(labels, -outputs[:, 0].numpy()))
    else:
        each = [roc_auc_score(labels == k, p[:, k]) for k in range(p.shape[1])]
        assert found.auc == pytest.approx(np.mean(each))
        assert found.auc == pytest.approx(roc_auc_score(labels, p, multi_class="ovr", average="macro"))


@pytest.mark.slow
def test_probabilities_that_were_fitted_inside_the_training_part_say_something(classes):
    result = run_compare(
        classes, CompareSettings(methods=("gaussian", "forest", "boosting"), folds=4, repeats=1)
    )
    for method in result.methods:
        assert method.log_loss < 0.8 * result.constant.log_loss
        assert method.auc > 0.8
        assert method.balanced_error < 0.5 * result.constant.balanced_error


def test_numbers_have_none_of_them(regression):
    result = run_compare(regression, CompareSettings(methods=("ridge",), folds=3, repeats=1))
    for each in (result.methods[0], result.constant):
        assert (each.balanced_error, each.auc, each.log_loss) == (None, None, None)


def test_a_fold_without_some_class_has_no_area():
    p = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]])
    found = class_measures(np.array([0.0, 1.0]), np.array([0, 1]), p)
    assert found.auc is None
    assert found.log_loss == pytest.approx(-np.log([0.5, 0.8]).mean())
    assert found.balanced_error == 0.5
    assert class_measures(np.zeros(2), np.array([0, 1]), None) == ClassMeasures(balanced_error=0.0)
    assert mean_measures([found, ClassMeasures(0.0, 1.0, 0.0)]).auc is None


def test_the_constant_has_the_entropy_of_the_shares(table):
    labels = np.repeat(["a", "b", "c"], [60, 30, 10])
    dataset = table(np.random.default_rng(0).normal(size=(100, 3)), labels)
    found = constant_measures(dataset, outer_folds(dataset, 5, 2, seed=0))
    assert found.log_loss == pytest.approx(entropy([0.6, 0.3, 0.1]))
    assert found.auc == 0.5
    assert found.balanced_error == pytest.approx(2 / 3)


def test_rare_classes_are_seen_by_the_balanced_error(table):
    """A method that never guesses the rare class has a small error, and half of the balanced one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    dataset = table(X, np.where(np.arange(200) < 8, "rare", "common"))
    result = run_compare(dataset, CompareSettings(methods=("ridge",), folds=4, repeats=1))
    (method,) = result.methods
    assert method.error == pytest.approx(0.04)
    assert method.balanced_error == pytest.approx(0.5)
    assert torch.isfinite(torch.tensor(method.log_loss))
