import pytest
import torch

from widenet.spectrum.brackets import bracket, inverse_bracket
from widenet.spectrum.gram import DenseGram
from widenet.spectrum.lanczos import lanczos
from widenet.testing import decaying_matrix


@pytest.mark.parametrize("num_columns", [1, 4])
def test_brackets_hold_at_every_step_and_close(generator, num_columns):
    H = decaying_matrix(120, generator=generator)
    V = torch.randn(120, num_columns, generator=generator, dtype=torch.float64)
    exact = (V * torch.linalg.solve(H, V)).sum(0)
    widths = []
    for num_steps in range(1, 31):
        bounds = inverse_bracket(lanczos(DenseGram(H), V, num_steps=num_steps), floor=5e-4)
        assert (bounds.lower <= exact).all()
        assert (exact <= bounds.upper).all()
        widths.append(bounds.width())
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < (widths[0] if num_columns == 1 else 1e-6)  # four columns fill the space in 30 steps


def test_training_curve_is_bracketed(generator):
    H = decaying_matrix(80, generator=generator)
    y = torch.randn(80, 1, generator=generator, dtype=torch.float64)
    step = torch.eye(80, dtype=torch.float64) - H / torch.linalg.eigvalsh(H)[-1]
    krylov = lanczos(DenseGram(H), y, num_steps=12)
    eta = 1 / torch.linalg.eigvalsh(H)[-1]
    for k in (1, 10, 100, 1000):
        exact = (torch.linalg.matrix_power(step, k) @ y).square().sum()
        bounds = bracket(krylov, lambda x, k=k: (1 - eta * x) ** (2 * k), floor=5e-4)
        assert bounds.lower <= exact * (1 + 1e-12)
        assert exact <= bounds.upper * (1 + 1e-12)


def test_without_a_floor_there_is_no_upper_bound(generator):
    H = decaying_matrix(50, generator=generator)
    y = torch.randn(50, 1, generator=generator, dtype=torch.float64)
    bounds = inverse_bracket(lanczos(DenseGram(H), y, num_steps=5), floor=0.0)
    assert bounds.upper is None
    assert bounds.width() == float("inf")


def test_a_numerically_singular_matrix_gets_no_certificate(generator):
    """Such a space looks exhausted once only rounding is left, which tells nothing of vᵀH⁻¹v."""
    X = torch.randn(90, 2, generator=generator, dtype=torch.float64)
    H = torch.exp(-torch.cdist(X, X).square())
    V = torch.randn(90, 3, generator=generator, dtype=torch.float64)
    krylov = lanczos(DenseGram(H), V, num_steps=40)
    bounds = inverse_bracket(krylov, floor=0.0)
    assert bounds.upper is None
    assert (bounds.lower > 0).all()
    assert bounds.lower.isfinite().all()
