import math

import pytest
import torch
from torch.testing import assert_close

from widenet.base.errors import InputError
from widenet.networks.two_layer import (
    FineGrainedNet,
    activations,
    draw_fine_grained,
    fine_grained_gradient,
    fine_grained_outputs,
    finite_gram,
)


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(5)


def unit_rows(n: int, d: int, generator: torch.Generator) -> torch.Tensor:
    X = torch.randn(n, d, generator=generator, dtype=torch.float64)
    return X / X.norm(dim=1, keepdim=True)


def autograd_jacobian(params: FineGrainedNet, X: torch.Tensor) -> torch.Tensor:
    """∂u/∂W by automatic differentiation, shape (n, m·d)."""
    jacobian = torch.autograd.functional.jacobian(
        lambda W: fine_grained_outputs(FineGrainedNet(W, params.a), X), params.W
    )
    return jacobian.flatten(start_dim=1)


def test_outputs_are_the_sum_over_neurons(generator):
    params = draw_fine_grained(7, 3, 0.5, generator=generator)
    x = unit_rows(1, 3, generator)[0]
    total = sum(float(params.a[r]) * max(float(params.W[r] @ x), 0.0) for r in range(7))
    assert_close(fine_grained_outputs(params, x[None]).item(), total / math.sqrt(7))


@pytest.mark.parametrize("kappa", [1e-2, 1.0])
def test_gradient_is_that_of_autograd(generator, kappa):
    params = draw_fine_grained(40, 6, kappa, generator=generator)
    X = unit_rows(15, 6, generator)
    y = torch.randn(15, generator=generator, dtype=torch.float64)
    W = params.W.clone().requires_grad_()
    loss = (y - fine_grained_outputs(FineGrainedNet(W, params.a), X)).square().sum() / 2
    (expected,) = torch.autograd.grad(loss, W)
    assert_close(fine_grained_gradient(params, X, y), expected, rtol=1e-10, atol=1e-10)


def test_derivative_at_zero_is_one():
    params = FineGrainedNet(W=torch.zeros(1, 2, dtype=torch.float64), a=torch.ones(1, dtype=torch.float64))
    X = torch.tensor([[0.6, 0.8]], dtype=torch.float64)
    assert activations(params, X).all()
    assert_close(fine_grained_gradient(params, X, torch.ones(1, dtype=torch.float64)), -X)


def test_tangent_gram_is_the_product_of_jacobians(generator):
    params = draw_fine_grained(30, 5, 1.0, generator=generator)
    X = unit_rows(12, 5, generator)
    Z = autograd_jacobian(params, X)
    assert_close(finite_gram(params, X), Z @ Z.T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("antisymmetric", [False, True])
def test_tangent_gram_concentrates_on_its_closed_form(generator, antisymmetric):
    """Entries of H(0) have a standard error of at most ½·√(1/m'), m' the number of distinct neurons."""
    X = unit_rows(10, 4, generator)
    params = draw_fine_grained(80_000, 4, 0.01, generator=generator, antisymmetric=antisymmetric)
    cosines = (X @ X.T).clamp(-1, 1)
    expected = cosines * (math.pi - torch.arccos(cosines)) / (2 * math.pi)
    assert_close(finite_gram(params, X), expected, rtol=0, atol=5 * 0.5 / math.sqrt(40_000))


def test_initial_weights_and_signs_have_their_law(generator):
    params = draw_fine_grained(20_000, 10, 0.3, generator=generator)
    assert params.W.std().item() == pytest.approx(0.3, rel=5 / math.sqrt(2 * params.W.numel()))
    assert abs(params.W.mean().item()) < 5 * 0.3 / math.sqrt(params.W.numel())
    assert set(params.a.tolist()) == {-1.0, 1.0}
    assert abs(params.a.mean().item()) < 5 / math.sqrt(params.width)


def test_initial_outputs_have_variance_half_kappa_squared(generator):
    """E u² = κ² E σ(z)² = κ²/2 at unit inputs, from many small networks at once."""
    x = unit_rows(1, 8, generator)
    draws = torch.cat(
        [fine_grained_outputs(draw_fine_grained(50, 8, 0.2, generator=generator), x) for _ in range(2_000)]
    )
    assert draws.square().mean().item() == pytest.approx(0.2**2 / 2, rel=0.15)


def test_antisymmetric_network_starts_at_zero(generator):
    X = unit_rows(25, 8, generator)
    params = draw_fine_grained(64, 8, 1.0, generator=generator, antisymmetric=True)
    assert params.width == 64
    assert_close(fine_grained_outputs(params, X), torch.zeros(25, dtype=torch.float64), rtol=0, atol=1e-15)


def test_antisymmetric_network_refuses_an_odd_width(generator):
    with pytest.raises(InputError, match="width 7 must be even"):
        draw_fine_grained(7, 3, 1.0, generator=generator, antisymmetric=True)


def test_one_seed_is_one_network_in_every_dtype():
    double, single = (
        draw_fine_grained(5, 4, 0.1, generator=torch.Generator().manual_seed(1), dtype=dtype)
        for dtype in (torch.float64, torch.float32)
    )
    assert single.W.dtype == single.a.dtype == torch.float32
    assert torch.equal(double.W.to(torch.float32), single.W)
