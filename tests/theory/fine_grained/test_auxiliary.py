"""Equation (11) by brute force, and gradient descent as the trainer has it."""

import math

import pytest
import torch

from widenet.networks.constructed import log_slope
from widenet.networks.two_layer import FineGrainedNet, fine_grained_outputs, finite_gram
from widenet.testing import unit_rows
from widenet.theory.fine_grained.auxiliary import (
    auxiliary_distance,
    auxiliary_weights,
    descent_weights,
    features_at,
)
from widenet.theory.fine_grained.rows import UnitRows
from widenet.training.descent import descend


@pytest.fixture(name="problem")
def drawn_problem(generator):
    X = unit_rows(7, 4, generator=generator)
    y = torch.rand(7, generator=generator, dtype=torch.float64)
    W = 0.5 * torch.randn(30, 4, generator=generator, dtype=torch.float64)
    a = 2.0 * torch.randint(2, (30,), generator=generator).double() - 1
    return W, a, UnitRows(X, y)


def explicit_z(W, a, X) -> torch.Tensor:
    """Z of shape (md, n), entry by entry as section 3.4 prints it."""
    m, d = W.shape
    Z = torch.zeros(m * d, len(X), dtype=torch.float64)
    for i, x in enumerate(X):
        for r in range(m):
            if W[r] @ x >= 0:
                Z[r * d : (r + 1) * d, i] = a[r] * x / math.sqrt(m)
    return Z


def test_features_are_those_of_the_paper(problem):
    W, a, rows = problem
    Z, explicit = features_at(W, a, rows.X), explicit_z(W, a, rows.X)
    net = FineGrainedNet(W, a)
    assert torch.allclose(Z.matmul(rows.y).flatten(), explicit @ rows.y)
    assert torch.allclose(Z.outputs(2 * W + 1), explicit.T @ (2 * W + 1).flatten())
    assert torch.allclose(Z.outputs(W), fine_grained_outputs(net, rows.X))
    assert torch.allclose(Z.gram(), explicit.T @ explicit)
    assert torch.allclose(Z.gram(), finite_gram(net, rows.X))
    other = explicit_z(W + 0.3, a, rows.X)
    found = Z.distance(features_at(W + 0.3, a, rows.X))
    assert found == pytest.approx(float((explicit - other).norm()))
    assert found > 0


@pytest.mark.parametrize("num_steps", [0, 1, 2, 57])
@pytest.mark.parametrize("angle", [1.0, 1e-7, 0.0])
def test_closed_form_is_the_recursion(problem, num_steps, angle):
    """(11) step by step, also where two rows are nearly or fully the same and H(0) has no inverse."""
    W, a, rows = problem
    near = rows.X[:1] + angle * rows.X[1:2]
    X = torch.cat([rows.X, near / near.norm()])
    y = torch.cat([rows.y, -rows.y[:1]])
    Z, eta = explicit_z(W, a, X), 0.4
    tilde = torch.zeros(W.numel(), dtype=torch.float64)
    for _ in range(num_steps):
        tilde = tilde - eta * Z @ (Z.T @ tilde - y)
    found = auxiliary_weights(features_at(W, a, X), y, eta, num_steps)
    assert torch.allclose(found.flatten(), tilde, rtol=0, atol=1e-10)


def test_limit_is_the_inverse_norm(problem):
    W, a, rows = problem
    Z = features_at(W, a, rows.X)
    limit = math.sqrt(float(rows.y @ torch.linalg.solve(Z.gram(), rows.y)))
    assert float(auxiliary_weights(Z, rows.y, 0.5, 10**6).norm()) == pytest.approx(limit, rel=1e-6)


def test_descent_is_that_of_the_trainer(problem):
    W, a, rows = problem
    run = descend(FineGrainedNet(W, a), rows.X, rows.y, eta=0.3, num_steps=40)
    assert torch.allclose(descent_weights(W, a, rows, 0.3, 40), run.params.W, atol=1e-10)


def test_descent_comes_nearer_to_it_as_the_width_grows():
    """Like m^{−1/4}, the rate of Lemmas C.2 and 5.3, while u(0), of size κ, is small beside it."""
    widths = (256, 2048, 16384)
    found = [auxiliary_distance("three-sines", n=12, m=m, kappa=0.1, steps=80, seed=1) for m in widths]
    for name in ("distance/‖W̃(k)‖_F", "‖Z(k) − Z(0)‖_F"):
        assert log_slope(widths, [each.terms[name] for each in found]) == pytest.approx(-0.25, abs=0.07)
    wide = found[2].terms
    assert wide["‖W(k) − W(0)‖_F"] == pytest.approx(wide["‖W̃(k)‖_F"], rel=0.2)
    assert wide["‖W̃(k)‖_F"] <= wide["√(yᵀH(0)⁻¹y)"]
    assert wide["√(yᵀH(0)⁻¹y)"] == pytest.approx(wide["√(yᵀH∞⁻¹y)"], rel=0.05)
    assert found[2].applies


def test_too_large_a_step_is_outside():
    found = auxiliary_distance("three-sines", n=10, m=100, eta=50.0, steps=2000)
    assert found.value == math.inf
    assert found.applies is False
    assert "ηλ_max(H(0))" in found.why[0]
