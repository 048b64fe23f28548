"""The fitted form against numpy's least squares in all its coefficients."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from widenet.base.errors import InputError
from widenet.data import load
from widenet.memorise.methods import direct
from widenet.memorise.methods.direct import Direct, neurons, whitened_rows
from widenet.memorise.methods.method import last_loss
from widenet.memorise.problem import problem_of
from widenet.networks.quadratic import form, quadratic_outputs


@pytest.fixture(params=["dense", "iterative"])
def way(request, monkeypatch):
    if request.param == "iterative":
        monkeypatch.setattr(direct, "DENSE", 0)
    return request.param


def finished(problem, method=None):
    method = method or Direct()
    state = method.start(problem)
    while not method.done(state):
        state = method.advance(problem, state)
    return state


def test_the_form_is_the_least_one_that_fits(way, small):
    """Among all Q that fit, the one of least norm on the unit rows: what numpy's lstsq returns."""
    state = finished(small)
    U, sizes = whitened_rows(small.Z, state["T"], torch.float64)
    features = (U[:, :, None] * U[:, None, :]).reshape(small.n, -1).numpy()
    least = np.linalg.lstsq(features, (small.y / sizes).numpy(), rcond=None)[0].reshape(10, 10)
    error = 1e-9 if way == "dense" else 1e-6  # float32 steps leave some of what no row sees
    np.testing.assert_allclose(state["Q"].numpy(), least, rtol=0, atol=error * np.abs(least).max())
    assert torch.equal(state["Q"], state["Q"].T)
    assert last_loss(state) <= 1e-20


def test_weights_reproduce_the_labels(way, small):
    state = finished(small)
    W = Direct().weights(small, state)
    torch.testing.assert_close(quadratic_outputs(small.Z, W), small.y, rtol=0, atol=1e-9)


def test_weights_can_be_had_at_any_time(small, monkeypatch):
    monkeypatch.setattr(direct, "DENSE", 0)
    monkeypatch.setattr(direct, "ITERATIONS", 5)
    state = Direct().advance(small, Direct().start(small))
    residual = quadratic_outputs(small.Z, Direct().weights(small, state)) - small.y
    assert float(residual.square().sum()) / (4 * small.n) == pytest.approx(last_loss(state), rel=1e-4)


def test_the_papers_example(way, paper):
    state = finished(paper)
    residual = quadratic_outputs(paper.Z, Direct().weights(paper, state)) - paper.y
    assert float(residual.square().sum()) / 1200 < 1e-19


@pytest.mark.parametrize("labels", ["true", "random"])
def test_digits_with_three_layers(way, labels, generator):
    problem = problem_of(load("digits"), layers=3)
    if labels == "random":
        problem = replace(problem, y=torch.randint(10, (problem.n,), generator=generator).to(torch.float64))
    state = finished(problem, Direct(target=1e-12))
    residual = quadratic_outputs(problem.Z, Direct().weights(problem, state)) - problem.y
    assert float(residual.abs().max()) < 1e-3


def test_rows_that_are_twice_there_or_zero(way, small):
    zero = torch.zeros(1, 10, dtype=torch.float64)
    problem = replace(
        small, Z=torch.cat([small.Z, small.Z[:3], zero]), y=torch.cat([small.y, small.y[:3], zero[0, :1]])
    )
    state = finished(problem)
    assert last_loss(state) < 1e-18


def test_it_ends_where_no_fit_exists(monkeypatch, small):
    """The iterations then find the least squares of what they see, the weighted rows."""
    monkeypatch.setattr(direct, "DENSE", 0)
    problem = replace(small, Z=small.Z[[0, 0]], y=torch.tensor([1.0, -1.0], dtype=torch.float64))
    state = finished(problem)
    assert bool(state["finished"])
    assert last_loss(state) == pytest.approx(0.25)


def test_neurons_make_up_the_form(generator):
    Q = torch.randn(6, 6, generator=generator, dtype=torch.float64)
    Q = Q + Q.T
    for r in (14, 20):
        W = neurons(Q, r)
        assert W.shape == (6, r)
        torch.testing.assert_close(form(W), Q)


def test_neurons_of_a_form_of_low_rank(generator):
    v = torch.randn(6, 1, generator=generator, dtype=torch.float64)
    W = neurons(v @ v.T, 2)
    torch.testing.assert_close(form(W), v @ v.T)


def test_too_few_neurons_are_named():
    with pytest.raises(InputError, match=r"5 eigenvalues of one sign.*at least 10 neurons"):
        neurons(torch.eye(5, dtype=torch.float64), 8)


def test_iterations_are_conjugate_gradients(small, monkeypatch):
    """Steepest descent takes ten times as many here."""
    monkeypatch.setattr(direct, "DENSE", 0)
    method = Direct(target=1e-6)
    assert method.steps(finished(small, method)) < 40
