import pytest
import torch

from widenet.testing import unit_rows
from widenet.theory.mild_memorisation.landscape import lemma1, lemma3, lemma4, lemma5

N, D, R = 5, 3, 8


@pytest.fixture(name="X")
def inputs(generator) -> torch.Tensor:
    return unit_rows(N, D, generator=generator)


@pytest.fixture
def y(generator) -> torch.Tensor:
    return torch.randn(N, generator=generator, dtype=torch.float64)


SIGNS = torch.tensor([1.0] * (R // 2) + [-1.0] * (R // 2), dtype=torch.float64)


def loss(W, X, y, gamma=0.0):
    return ((X @ W).square() @ SIGNS - y).square().sum() / (4 * N) + gamma / 2 * W.square().sum()


def hessian(W, X, y, gamma=0.0) -> torch.Tensor:
    return torch.autograd.functional.hessian(lambda w: loss(w.reshape(D, R), X, y, gamma), W.flatten())


def spectral_norm_of_curvature(W, X, y) -> float:
    delta = (X @ W).square() @ SIGNS - y
    return float(torch.linalg.matrix_norm((X.T * delta) @ X / N, 2))


def weights(generator, scale=1.0):
    return scale * torch.randn(D, R, generator=generator, dtype=torch.float64)


def test_hessian_has_the_lemmas_smallest_eigenvalue(X, y, generator):
    for scale in (0.01, 0.3, 2.0):
        W = weights(generator, scale)
        predicted = lemma3(spectral_norm_of_curvature(W, X, y), D, R)
        assert predicted.applies
        assert float(torch.linalg.eigvalsh(hessian(W, X, y))[0]) == pytest.approx(predicted.value, rel=1e-8)


def test_loss_is_below_its_bounds(X, y, generator):
    sigma = float(torch.linalg.eigvalsh((X @ X.T).square())[0]) ** 0.5
    for scale in (0.01, 0.1, 0.5, 1.0, 3.0) * 4:
        W = weights(generator, scale)
        norm = spectral_norm_of_curvature(W, X, y)
        value = float(loss(W, X, y))
        assert value <= lemma4(N, D, sigma, norm).value
        assert value <= lemma1(N, D, R, sigma, norm).value == lemma4(N, D, sigma, norm).value
    assert lemma1(N, D, R - 1, sigma, norm).applies is False


def test_smoothness_within_a_ball(X, y, generator):
    gamma, ball = 0.1, 4.0
    bound = lemma5(1.0, float(y.abs().max()), gamma, ball)

    def inside():
        W = weights(generator)
        return W * ball**0.5 / W.norm() * torch.rand((), generator=generator, dtype=torch.float64)

    for _ in range(30):
        U, V = inside(), inside()
        first, second = hessian(U, X, y, gamma), hessian(V, X, y, gamma)
        assert float(torch.linalg.matrix_norm(first, 2)) <= bound.value
        assert float(torch.linalg.matrix_norm(first - second, 2)) <= bound.terms["ρ"] * float((U - V).norm())


def test_smoothness_is_reached():
    """One neuron of squared norm Γ along rows that are all the same, labels 0: the curvature is 3Γ."""
    gamma, ball = 0.1, 4.0
    X, y = torch.eye(D, dtype=torch.float64)[:1].expand(N, D), torch.zeros(N, dtype=torch.float64)
    W = torch.zeros(D, R, dtype=torch.float64)
    W[0, 0] = ball**0.5
    norm = float(torch.linalg.matrix_norm(hessian(W, X, y, gamma), 2))
    assert norm == pytest.approx(lemma5(1.0, 0.0, gamma, ball).value)
