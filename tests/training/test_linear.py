"""The paths of linear models against explicit solves, refits and steps."""

import math

import pytest
import torch
from sklearn.linear_model import Ridge

from widenet.base.errors import InputError
from widenet.kernels import cross_matrix, gram_matrix, kernel_by_name
from widenet.testing import unit_rows
from widenet.training.linear import (
    factorise,
    flow_filters,
    flow_predictions,
    flow_residuals,
    ridge_coefficients,
    ridge_leave_one_out,
    ridge_predictions,
)

RIDGES = torch.tensor([1e-4, 1e-2, 1.0, 30.0], dtype=torch.float64)


@pytest.fixture
def problem(generator):
    """Gram matrix (24, 24), cross matrix (7, 24) and targets (24, 3)."""
    X, Z = unit_rows(24, 4, generator=generator), unit_rows(7, 4, generator=generator)
    kernel = kernel_by_name("relu2-all")
    Y = torch.randn(24, 3, generator=generator, dtype=torch.float64)
    return gram_matrix(kernel, X), cross_matrix(kernel, Z, X), Y


def test_ridge_path_equals_explicit_solves(problem):
    K, cross, Y = problem
    factors = factorise(K)
    alphas, predictions = ridge_coefficients(factors, Y, RIDGES), ridge_predictions(factors, cross, Y, RIDGES)
    for ridge, alpha, predicted in zip(RIDGES, alphas, predictions, strict=True):
        expected = torch.linalg.solve(K + ridge * torch.eye(24, dtype=K.dtype), Y)
        torch.testing.assert_close(alpha, expected, rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(predicted, cross @ expected, rtol=1e-9, atol=1e-9)


def test_leave_one_out_equals_refits(problem):
    K, _, Y = problem
    left_out = ridge_leave_one_out(factorise(K), Y, RIDGES)
    for ridge, predictions in zip(RIDGES, left_out, strict=True):
        for i in range(len(K)):
            rest = [j for j in range(len(K)) if j != i]
            A = K[rest][:, rest] + ridge * torch.eye(len(rest), dtype=K.dtype)
            torch.testing.assert_close(predictions[i], K[i, rest] @ torch.linalg.solve(A, Y[rest]))


def test_a_kernel_of_low_rank_is_scikit_learns_ridge(generator):
    X, Z = unit_rows(40, 5, generator=generator), unit_rows(9, 5, generator=generator)
    Y = torch.randn(40, 2, generator=generator, dtype=torch.float64)
    factors = factorise(X @ X.T)
    predictions = ridge_predictions(factors, Z @ X.T, Y, RIDGES)
    left_out = ridge_leave_one_out(factors, Y, RIDGES)
    for ridge, predicted, alone in zip(RIDGES.tolist(), predictions, left_out, strict=True):
        model = Ridge(alpha=ridge, fit_intercept=False).fit(X.numpy(), Y.numpy())
        torch.testing.assert_close(predicted, torch.from_numpy(model.predict(Z.numpy())))
        model.fit(X[1:].numpy(), Y[1:].numpy())
        torch.testing.assert_close(
            alone[0], torch.from_numpy(model.predict(X[:1].numpy())[0]), rtol=1e-7, atol=1e-9
        )


def test_flow_is_the_limit_of_small_steps(problem):
    K, cross, Y = problem
    eta, checked = 2e-4, {0: 0.0, 500: 0.1, 5000: 1.0, 20000: 4.0}
    alpha, seen = torch.zeros_like(Y), {}
    for step in range(max(checked) + 1):
        if step in checked:
            seen[step] = (cross @ alpha, Y - K @ alpha)
        alpha = alpha + eta * (Y - K @ alpha)
    times = torch.tensor(list(checked.values()), dtype=torch.float64)
    factors = factorise(K)
    predictions, residuals = flow_predictions(factors, cross, Y, times), flow_residuals(factors, Y, times)
    for predicted, residual, (outputs, rest) in zip(predictions, residuals, seen.values(), strict=True):
        torch.testing.assert_close(predicted, outputs, rtol=2e-3, atol=2e-3)
        torch.testing.assert_close(residual, rest, rtol=2e-3, atol=2e-3)


def test_flow_residual_is_what_the_predictions_leave(problem):
    K, _, Y = problem
    times = torch.tensor([0.0, 0.3, 20.0], dtype=torch.float64)
    factors = factorise(K)
    torch.testing.assert_close(
        flow_residuals(factors, Y, times), Y - flow_predictions(factors, K, Y, times), rtol=1e-9, atol=1e-9
    )


def test_flow_filters_at_tiny_eigenvalues():
    eigenvalues = torch.tensor([0.0, 1e-30, 1e-12, 1e-7, 1.0], dtype=torch.float64)
    filters = flow_filters(eigenvalues, torch.tensor([0.0, 2.0], dtype=torch.float64))
    expected = torch.tensor(
        [2.0, 2.0, 2 - 2e-12, 2 - 2e-7 + 4e-14 / 3, 1 - math.exp(-2)], dtype=torch.float64
    )
    torch.testing.assert_close(filters[1], expected, rtol=1e-15, atol=0)
    assert not filters[0].any()


def test_ridges_and_times_have_signs():
    ones = torch.ones(3, dtype=torch.float64)
    factors = factorise(torch.diag(ones))
    with pytest.raises(InputError, match="positive"):
        ridge_predictions(factors, ones[None], ones[:, None], torch.tensor([0.0]).double())
    with pytest.raises(InputError, match="negative"):
        flow_predictions(factors, ones[None], ones[:, None], torch.tensor([-1.0]).double())
