import math

import pytest
import torch

from widenet.predict.curve import descent_distance, descent_diverges, descent_loss, step_grid, steps_until
from widenet.spectrum.gram import DenseGram
from widenet.spectrum.lanczos import SpectralMeasure, gauss_measure, lanczos
from widenet.testing import decaying_matrix


@pytest.fixture
def problem(generator):
    H = decaying_matrix(40, generator=generator, smallest=0.5)
    Y = torch.randn(40, 2, generator=generator, dtype=torch.float64)
    return H, Y, gauss_measure(lanczos(DenseGram(H), Y, num_steps=20))


@pytest.mark.parametrize("relative_eta", [0.3, 1.0, 1.9, 2.1])
def test_loss_and_distance_match_an_explicit_descent(problem, relative_eta):
    """The linear dynamics in weight space: u = Zᵀw with ZᵀZ = H, w ← w − ηZ(u − y)."""
    H, Y, measure = problem
    eta = relative_eta / float(torch.linalg.eigvalsh(H)[-1])
    Z = torch.linalg.cholesky(H).T
    W = torch.zeros_like(Y)
    losses, distances = [], []
    for _ in range(60):
        residual = Z.T @ W - Y
        losses.append(float(residual.square().sum()) / 2)
        distances.append(float(W.norm()))
        W = W - eta * Z @ residual
    steps = torch.arange(60, dtype=torch.float64)
    torch.testing.assert_close(descent_loss(measure, eta, steps), torch.tensor(losses, dtype=torch.float64))
    torch.testing.assert_close(
        descent_distance(measure, eta, steps),
        torch.tensor(distances, dtype=torch.float64),
        rtol=1e-7,
        atol=1e-9,
    )


def test_distance_tends_to_the_complexity(problem):
    H, Y, measure = problem
    eta = 1 / float(torch.linalg.eigvalsh(H)[-1])
    limit = math.sqrt(float((Y * torch.linalg.solve(H, Y)).sum()))
    far = descent_distance(measure, eta, torch.tensor([1e9], dtype=torch.float64))
    assert math.isclose(float(far), limit, rel_tol=1e-9)


@pytest.mark.parametrize("share", [0.5, 0.1, 0.01])
def test_steps_until_is_the_first_step(problem, share):
    H, _, measure = problem
    eta = 1 / float(torch.linalg.eigvalsh(H)[-1])
    step = steps_until(measure, eta, share)
    around = descent_loss(measure, eta, torch.tensor([0.0, step - 1, step], dtype=torch.float64))
    assert around[1] > share * around[0] >= around[2]


def test_a_share_that_is_never_reached(problem):
    _, _, measure = problem
    assert steps_until(measure, 1e-30, 0.5) is None


def test_step_grid_is_whole_and_ends_where_asked():
    grid = step_grid(1000)
    assert grid[0] == 0
    assert grid[-1] == 1000
    assert (grid == grid.round()).all()
    assert (grid[1:] > grid[:-1]).all()


def test_a_mode_that_vanishes_in_one_step_is_still_there_at_step_zero():
    measure = SpectralMeasure(
        torch.tensor([2.0, 4.0], dtype=torch.float64), torch.ones(2, 1, dtype=torch.float64)
    )
    losses = descent_loss(measure, 0.25, torch.tensor([0.0, 1.0], dtype=torch.float64))
    assert losses.tolist() == [1.0, 0.125]


def test_a_step_too_long_is_told_and_stays_finite(problem):
    H, _, measure = problem
    largest = float(torch.linalg.eigvalsh(H)[-1])
    assert not descent_diverges(measure, 1.999 / largest)
    assert descent_diverges(measure, 2.001 / largest)
    far = torch.tensor([1.0, 1e3, 1e15], dtype=torch.float64)
    for predicted in (descent_loss, descent_distance):
        values = predicted(measure, 3 / largest, far)
        assert values.isfinite().all()
        assert (values[1:] > 1e100 * values[0]).all()
    assert steps_until(measure, 3 / largest, 0.01) is None


def test_labels_that_do_not_use_a_growing_mode_do_not_diverge():
    """Columns of their own: 0 times an infinite factor would be no number."""
    weights = torch.tensor([[1.0, 1.0], [0.0, 0.0]], dtype=torch.float64)
    measure = SpectralMeasure(torch.tensor([1.0, 8.0], dtype=torch.float64), weights)
    assert not descent_diverges(measure, 0.5)
    losses = descent_loss(measure, 0.5, torch.tensor([0.0, 1.0, 1e9], dtype=torch.float64))
    assert losses.tolist() == [1.0, 0.25, 0.0]
    one = SpectralMeasure(measure.nodes, torch.tensor([[1.0, 1.0], [0.0, 1e-9]], dtype=torch.float64))
    assert descent_diverges(one, 0.5)
