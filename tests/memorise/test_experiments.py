"""The paper's experiments: their problems, their ways for rows, and what is shown of them."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from widenet.data.principal import principal_components
from widenet.memorise.experiments import (
    InputWay,
    image_problem,
    squared_features,
    synthetic_problem,
    trailing_mean,
    unseen_fit,
)


@pytest.fixture(name="X")
def unit_rows(generator) -> torch.Tensor:
    X = torch.rand(50, 9, generator=generator, dtype=torch.float64)
    return X / X.norm(dim=1, keepdim=True)


def test_the_synthetic_example():
    problem = synthetic_problem(2000, 30, 64, seed=3)
    assert (problem.n, problem.k, problem.r, problem.layers) == (2000, 30, 64, 2)
    assert_close(problem.Z.norm(dim=1), torch.ones(2000, dtype=torch.float64))
    assert float(problem.y.square().mean()) == pytest.approx(1 / 3, rel=0.05)
    assert float(problem.y.abs().max()) <= 1
    assert abs(float(problem.Z.mean())) < 3 * 30**-0.5 / 60_000**0.5
    assert not torch.equal(problem.y, synthetic_problem(2000, 30, 64, seed=4).y)


def test_squared_features_are_as_the_paper_has_them(X):
    layer = squared_features(4000, 9, 0.15, seed=0)
    assert_close(layer(X), (layer.R @ X.T).square().T)
    assert float(layer.R.std()) == pytest.approx(0.15, rel=0.02)
    assert float(layer(X).mean()) == pytest.approx(0.15**2, rel=0.05)  # of (q^T x)² with ‖x‖ = 1
    assert float(layer.R.norm(dim=1).std()) > 0.03


def test_rows_are_projected_then_perturbed_then_squared(X):
    way = InputWay(principal_components(X, 4), 0.05, squared_features(6, 4, 0.15, seed=1))
    noise = np.random.Generator(np.random.PCG64(7)).standard_normal((50, 4))
    centred = X - X.mean(0)
    directions = torch.linalg.svd(centred, full_matrices=False)[2][:4]
    signs = (way.components.directions.T * directions).sum(1).sign()
    points = centred @ (signs[:, None] * directions).T + 0.05 * torch.from_numpy(noise)
    problem = image_problem(X, torch.arange(50.0, dtype=torch.float64), 20, way, seed=7)
    assert_close(problem.Z, (points @ way.layer.R.T).square(), rtol=0, atol=1e-12)
    assert (problem.layers, problem.r, problem.noise, problem.seed) == (3, 20, 0.05, 7)


def test_two_layers_take_rows_as_they_are(X):
    y = torch.zeros(50, dtype=torch.float64)
    problem = image_problem(X, y, 20, InputWay(), seed=0)
    assert torch.equal(problem.Z, X)
    assert problem.layers == 2
    noisy = image_problem(X, y, 20, InputWay(noise=0.01), seed=0).Z - X
    assert float(noisy.std()) == pytest.approx(0.01, rel=0.1)


def test_unseen_rows_take_the_way_of_the_others(X, generator):
    way = InputWay(principal_components(X[:30], 4), 0.05, squared_features(6, 4, 0.15, seed=1))
    W = torch.randn(6, 8, generator=generator, dtype=torch.float64)
    y = torch.randn(20, generator=generator, dtype=torch.float64)
    found = unseen_fit(X[30:], y, W, way, seed=0)
    projected = (X[30:] - X[:30].mean(0)) @ way.components.directions
    a = torch.tensor([1.0] * 4 + [-1.0] * 4, dtype=torch.float64)

    def error(points):
        outputs = ((points @ way.layer.R.T).square() @ W).square() @ a
        return float((outputs - y).square().mean())

    assert found.clean == pytest.approx(error(projected))
    noises = 0.05 * torch.randn(400, 20, 4, generator=generator, dtype=torch.float64)
    errors = torch.tensor([error(projected + noise) for noise in noises])
    assert float(errors.min()) < found.perturbed < float(errors.max())
    assert found.perturbed != found.clean
    quiet = InputWay(way.components, 0.0, way.layer)
    assert unseen_fit(X[30:], y, W, quiet, seed=0).perturbed == found.clean


def test_noise_of_unseen_rows_is_not_that_of_the_training_rows(X):
    way, W = InputWay(noise=0.1), torch.eye(9, 18, dtype=torch.float64)
    trained_on = way.follow(X, seed=0).square().sum(1)
    found = unseen_fit(X, trained_on, W, way, seed=0)
    assert found.perturbed > 1e-3


def test_trailing_mean_keeps_the_digits_of_small_late_losses(generator):
    records = torch.logspace(2, -14, 300, dtype=torch.float64) * torch.rand(300, generator=generator)
    expected = [float(np.mean(records.tolist()[max(0, i - 19) : i + 1])) for i in range(300)]
    assert trailing_mean(records, 20).tolist() == pytest.approx(expected, rel=1e-12)
    assert trailing_mean(records[:3], 20).tolist() == pytest.approx(expected[:3], rel=1e-12)
    assert trailing_mean(records[:0], 20).tolist() == []
    assert torch.equal(trailing_mean(records, 1), records)
