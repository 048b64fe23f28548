import math

import pytest
import torch

from widenet.base.errors import InputError
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.networks.two_layer import draw_fine_grained, fine_grained_outputs
from widenet.testing import unit_rows
from widenet.theory.fine_grained.descent import initial_residual, theorem_3_1, theorem_4_1, tracking_demands
from widenet.training.descent import descend


@pytest.fixture(name="X")
def orthogonal_inputs(generator) -> torch.Tensor:
    """Three orthogonal rows, so that a width that fits into memory is enough."""
    return torch.linalg.qr(torch.randn(5, 3, generator=generator, dtype=torch.float64)).Q.T.contiguous()


@pytest.fixture(name="H")
def limit_gram(X) -> torch.Tensor:
    return gram_matrix(kernel_by_name("relu2-hidden"), X)


def test_initial_residual_is_rarely_exceeded(X, generator):
    """Markov's inequality at the mean square of outputs that have not been trained, κ²/2."""
    kappa, delta, y = 1.0, 0.2, torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64)
    draws = [
        fine_grained_outputs(draw_fine_grained(50, 5, kappa, generator=generator), X) for _ in range(400)
    ]
    assert float(torch.stack(draws).square().mean()) == pytest.approx(kappa**2 / 2, rel=0.15)
    bound = float(initial_residual(3, kappa, delta))
    exceeded = sum(float((y - u).norm()) > bound for u in draws)
    assert exceeded <= delta * len(draws)


def test_loss_falls_at_least_at_the_rate_where_the_theorem_applies(X, H, generator):
    floor, kappa, delta = float(torch.linalg.eigvalsh(H)[0]), 1.0, 0.5
    eta, m = floor / 9, 100_000
    y = torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64)
    rate = theorem_3_1(3, floor, m, eta, kappa, delta, steps=80)
    assert rate.applies
    run = descend(draw_fine_grained(m, 5, kappa, generator=generator), X, y, eta=eta, num_steps=80)
    loss = run.residual_norms.square() / 2
    assert bool((loss[1:] <= rate.value * loss[:-1] * (1 + 1e-12)).all())
    assert float(loss[0]) <= rate.terms["Φ(W(0)) at most"]
    assert float(loss[80]) <= rate.terms["Φ(W(80)) at most"]
    halved = math.ceil(rate.terms["steps to halve Φ"])
    assert float(loss[halved]) <= float(loss[0]) / 2


def test_loss_follows_the_eigenvalues_where_the_theorem_applies(X, H, generator):
    eigenvalues, vectors = torch.linalg.eigh(H[:2, :2])
    y = torch.tensor([1.0, -1.0], dtype=torch.float64)
    epsilon, delta = 1.0, 0.5
    eta, kappa, m = float(eigenvalues[0]) / 4, epsilon * delta / math.sqrt(2), 300_000
    run = descend(draw_fine_grained(m, 5, kappa, generator=generator), X[:2], y, eta=eta, num_steps=60)
    for steps in (0, 10, 60):
        predicted = theorem_4_1(
            eigenvalues.tolist(), (vectors.T @ y).tolist(), m, eta, kappa, epsilon, delta, steps
        )
        assert predicted.applies
        assert abs(float(run.residual_norms[steps]) - predicted.value) <= epsilon
        power = torch.linalg.matrix_power(torch.eye(2, dtype=torch.float64) - eta * H[:2, :2], steps)
        assert predicted.value == pytest.approx(float((power @ y).norm()), rel=1e-12)


def test_prediction_is_close_at_a_width_far_below_what_is_asked(generator):
    """The theorem asks for more than 10^17 neurons here and says so; 20,000 are enough for 5%."""
    rows = unit_rows(12, 6, generator=generator)
    gram = gram_matrix(kernel_by_name("relu2-hidden"), rows)
    eigenvalues, vectors = torch.linalg.eigh(gram)
    y = torch.sign(rows[:, 0])
    eta = 0.2 / float(eigenvalues[-1])
    params = draw_fine_grained(20_000, 6, 1.0, generator=generator, antisymmetric=True)
    run = descend(params, rows, y, eta=eta, num_steps=100)
    predicted = theorem_4_1(eigenvalues.tolist(), (vectors.T @ y).tolist(), 20_000, eta, 1.0, 0.01, 0.05, 100)
    assert predicted.applies is False
    width = tracking_demands(12, float(eigenvalues[0]), 20_000, eta, 1.0, 0.01, 0.05)[1]
    assert width.sentence in predicted.why
    assert float(width.need) > 1e17
    assert float(run.residual_norms[100]) == pytest.approx(predicted.value, rel=0.05)


def test_projections_must_belong_to_eigenvalues():
    with pytest.raises(InputError, match="there are 2 and 1"):
        theorem_4_1((0.1, 0.2), (1.0,), 10, 0.1, 0.1, 0.1, 0.1, 1)
