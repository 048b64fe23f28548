"""Kernel methods against scikit-learn, refitted for every row that is left out."""

import numpy as np
import pytest
import torch
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from widenet.compare.folds import make_fold, outer_folds
from widenet.compare.kernels import (
    KernelMethod,
    classical,
    cosine_features,
    of_network,
    random_features,
    with_option,
)
from widenet.compare.tuning import RowForms, losses
from widenet.kernels import Gaussian, gram_matrix, kernel_by_name
from widenet.networks.initialise import Initialisation, draw_parameters
from widenet.networks.names import network_by_name
from widenet.networks.network import with_ones
from widenet.networks.tangent import tangent_gram
from widenet.testing import unit_rows


def test_choice_and_predictions_are_those_of_refitting(regression, monkeypatch):
    monkeypatch.setattr("widenet.compare.kernels.RELATIVE_RIDGES", torch.tensor([1e-4, 1e-1]).double())
    fold = make_fold(regression, outer_folds(regression, 5, 1, seed=0)[0], seed=0)
    training = fold.training
    model = with_option("gaussian", "h", (0.3, 3.0)).fit(training, seed=0)
    X, y, centre = training.inputs.X.numpy(), training.Y[:, 0].numpy(), float(training.Y.mean())
    refits = {}
    for h in (0.3, 3.0):
        for ridge in (1e-4, 1e-1):
            explicit = KernelRidge(alpha=ridge, kernel="rbf", gamma=1 / h)
            unseen = cross_val_predict(explicit, X, y - centre, cv=LeaveOneOut())
            refits[h, ridge] = (np.mean((unseen + centre - y) ** 2), explicit.fit(X, y - centre))
    chosen = min(refits, key=lambda key: refits[key][0])
    assert model.setting == {"h": chosen[0], "ridge": chosen[1]}
    assert model.score.error == pytest.approx(refits[chosen][0])
    expected = refits[chosen][1].predict(fold.inputs.X.numpy()) + centre
    torch.testing.assert_close(model.predict(fold.inputs)[:, 0], torch.from_numpy(expected))


@pytest.mark.parametrize("method", [of_network("resnet3-all"), classical("arcsin"), random_features()])
def test_kernels_learn(dataset, method):
    fold = make_fold(dataset, outer_folds(dataset, 4, 1, seed=0)[0], seed=0)
    model = method.fit(fold.training, seed=0)
    classification = dataset.labels is not None
    error = losses(model.predict(fold.inputs), fold.Y, classification=classification).mean()
    assert float(error) < 0.3
    assert model.score.error < 0.3


def test_random_features_tend_to_the_gaussian_kernel(generator):
    X = unit_rows(5, 3, generator=generator)
    h, num = 0.8, 200_000
    normal = torch.randn(num, 3, generator=generator, dtype=torch.float64) * (2 / h) ** 0.5
    phases = 2 * np.pi * torch.rand(num, 1, generator=generator, dtype=torch.float64)
    features = cosine_features(X, torch.cat([normal, phases], dim=1))
    torch.testing.assert_close(features @ features.T / num, gram_matrix(Gaussian(h), X), rtol=0, atol=0.01)


def test_long_rows_are_shortened_for_classical_kernels_only(regression):
    training = make_fold(regression, outer_folds(regression, 5, 1, seed=0)[0], seed=0).training
    long = RowForms(5 * training.inputs.X, 5 * training.inputs.X)
    torch.testing.assert_close(classical("recursive").rows(long), training.inputs.X)
    assert of_network("relu2-bias-all").rows(long) is long.X


@pytest.mark.parametrize(("kernel", "network"), [("relu2", "2layer"), ("relu3", "3layer")])
@pytest.mark.parametrize("mode", ["all", "last"])
def test_kernels_are_the_limits_of_the_compared_networks(kernel, network, mode, generator):
    X = unit_rows(4, 3, generator=generator)
    wide = network_by_name(f"{network}-{mode}", 1024)
    draws = []
    for _ in range(6):
        params = draw_parameters(wide, 3, 1, Initialisation(), generator=generator, dtype=X.dtype)
        draws.append(tangent_gram(wide, params, X))
    expected = gram_matrix(kernel_by_name(f"{kernel}-bias-{mode}"), X)
    torch.testing.assert_close(torch.stack(draws).mean(0), expected, rtol=0.08, atol=0)


def test_relu2_is_that_of_rows_with_a_one(generator):
    X = unit_rows(6, 3, generator=generator)
    expected = gram_matrix(kernel_by_name("relu2-all"), with_ones(X))
    torch.testing.assert_close(gram_matrix(kernel_by_name("relu2-bias-all"), X), expected)


@pytest.mark.parametrize("num_rows", [5, 8])
def test_forecast_of_few_rows(regression, num_rows):
    training = make_fold(regression, outer_folds(regression, 5, 1, seed=0)[0], seed=0).training
    assert classical("arcsin").forecast(training[torch.arange(num_rows)]) > 0


def test_forecast_counts_candidates(regression):
    training = make_fold(regression, outer_folds(regression, 5, 1, seed=0)[0], seed=0).training
    assert 0 < with_option("gaussian", "h", (0.3, 3.0)).forecast(training) < 10


def test_memory_is_asked_for_first(training, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "widenet.compare.kernels.require_memory", lambda size, what: asked.append((size, what))
    )
    method: KernelMethod = classical("arcsin")
    for ask in (lambda: method.fit(training, seed=0), lambda: method.forecast(training)):
        ask()
        assert asked.pop()[0] >= 5 * 8 * training.n**2
        assert not asked
