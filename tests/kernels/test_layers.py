"""Layers against mpmath, at cosines within an ulp of ±1 too, and against Monte Carlo."""

import math
from collections.abc import Callable

import mpmath
import pytest
import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.kernels.layers import Dense, Erf, Relu, Residual, sine_excess
from widenet.kernels.moments import Moments

DTYPES = [torch.float32, torch.float64]


def cosines_to_test(dtype: torch.dtype) -> Tensor:
    """−1 and 1, their neighbours at 1, 2, 3, 10, ... ulps, and a grid between."""
    ulps = torch.tensor([0, 1, 2, 3, 10, 100, 1000, 10**5], dtype=torch.float64) * torch.finfo(dtype).eps / 2
    grid = torch.linspace(-0.999, 0.999, 41, dtype=torch.float64)
    return torch.cat([1 - ulps, -1 + ulps, grid]).to(dtype)


def exact_relu(cosine: float) -> tuple[float, float]:
    """Σ and Σ̇ of a ReLU at unit variances, to 50 digits."""
    with mpmath.workdps(50):
        c = mpmath.mpf(cosine)
        supplement = mpmath.pi - mpmath.acos(c)
        nngp = (mpmath.sqrt(1 - c * c) + c * supplement) / (2 * mpmath.pi)
        return float(nngp), float(supplement / (2 * mpmath.pi))


@pytest.mark.parametrize("dtype", DTYPES)
def test_relu_is_accurate_for_every_cosine(dtype: torch.dtype) -> None:
    cosines = cosines_to_test(dtype)
    result = Relu()(Moments(cosines.clone(), torch.ones_like(cosines), 1.0, 1.0), iter([]))
    assert result.ntk is not None
    exact = torch.tensor([exact_relu(float(c)) for c in cosines], dtype=torch.float64)
    # Relative errors: tiny values near −1 count as much as large ones.
    bound = 16 * torch.finfo(dtype).eps
    torch.testing.assert_close(result.nngp.double(), exact[:, 0], rtol=bound, atol=0)
    torch.testing.assert_close(result.ntk.double(), exact[:, 1], rtol=bound, atol=0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_cosines_beyond_one_are_taken_as_one(dtype: torch.dtype) -> None:
    eps = torch.finfo(dtype).eps
    cosines = torch.tensor([1 + 4 * eps, -1 - 4 * eps], dtype=dtype)
    result = Relu()(Moments(cosines, torch.ones_like(cosines), 1.0, 1.0), iter([]))
    assert result.ntk is not None
    torch.testing.assert_close(result.ntk, torch.tensor([0.5, 0.0], dtype=dtype))
    torch.testing.assert_close(result.nngp, torch.tensor([0.5, 0.0], dtype=dtype))


@pytest.mark.parametrize("gap", [0.0, 1e-30, 1e-20, 1e-16, 1e-12, 1e-8, 1e-4, 1e-2])
def test_relu_of_close_pairs_through_two_layers(gap: float) -> None:
    """With the distance known in itself, nothing is lost however close the pair is."""
    semivariance = torch.tensor([gap], dtype=torch.float64)
    one = torch.ones(1, dtype=torch.float64)
    moments = Moments(1 - semivariance, one.clone(), one, one, semivariance)
    for layer, trained in ((Relu(), []), (Dense(weight_var=2.0), [False]), (Relu(), [])):
        moments = layer(moments, iter(trained))
    with mpmath.workdps(80):
        angle = mpmath.acos(1 - mpmath.mpf(gap))
        second = (mpmath.sin(angle) + (mpmath.pi - angle) * mpmath.cos(angle)) / mpmath.pi
        second_angle = mpmath.acos(second)
        ntk = 2 * (mpmath.pi - angle) * (mpmath.pi - second_angle) / (2 * mpmath.pi) ** 2
        lost = (mpmath.sin(second_angle) + (mpmath.pi - second_angle) * second) / (2 * mpmath.pi)
        semivariance_exact = float(mpmath.mpf(1) / 2 - lost)
    assert moments.ntk is not None
    assert moments.semivariance is not None
    assert float(moments.ntk) == pytest.approx(float(ntk), rel=4e-16)
    assert float(moments.semivariance) == pytest.approx(semivariance_exact, rel=2e-15, abs=0)


def test_relu_of_close_pairs_agrees_with_the_usual_form_for_different_norms() -> None:
    x, z = torch.tensor([2.0, 0.1], dtype=torch.float64), torch.tensor([1.0, 0.2], dtype=torch.float64)
    one = torch.ones(1, dtype=torch.float64)
    norms = (x.dot(x) * one, z.dot(z) * one)
    usual = Relu()(Moments(x.dot(z) * one, one.clone(), *norms), iter([]))
    close = Relu()(Moments(x.dot(z) * one, one.clone(), *norms, (x - z).dot(x - z) / 2 * one), iter([]))
    torch.testing.assert_close(usual.nngp, close.nngp, rtol=1e-14, atol=0)
    torch.testing.assert_close(usual.ntk, close.ntk, rtol=1e-14, atol=0)


def test_sine_excess_matches_mpmath() -> None:
    angles = torch.tensor([0.0, 1e-8, 1e-3, 0.1, 0.5, 0.999, 1.001, 2.0, 3.14], dtype=torch.float64)
    with mpmath.workdps(50):
        exact = [float(mpmath.sin(t) - mpmath.mpf(t) * mpmath.cos(t)) for t in angles.tolist()]
    torch.testing.assert_close(
        sine_excess(angles), torch.tensor(exact, dtype=torch.float64), rtol=1e-15, atol=0
    )


@pytest.mark.parametrize(("layer", "activation"), [(Relu(), torch.relu), (Erf(), torch.erf)])
def test_activations_match_monte_carlo(layer: Relu | Erf, activation: Callable[[Tensor], Tensor]) -> None:
    generator = torch.Generator().manual_seed(0)
    factor = torch.tensor([[1.2, 0.0], [-0.4, 0.7]], dtype=torch.float64)
    covariance = factor @ factor.T
    units = torch.randn(2_000_000, 2, dtype=torch.float64, generator=generator) @ factor.T
    units.requires_grad_(True)
    outputs = activation(units)
    (slopes,) = torch.autograd.grad(outputs.sum(), units)
    one = torch.ones(1, dtype=torch.float64)
    moments = Moments(covariance[0, 1] * one, one.clone(), covariance[0, 0] * one, covariance[1, 1] * one)
    result = layer(moments, iter([]))
    assert float(result.nngp) == pytest.approx(
        float((outputs[:, 0] * outputs[:, 1]).mean().detach()), abs=2e-3
    )
    assert float(result.ntk) == pytest.approx(float((slopes[:, 0] * slopes[:, 1]).mean()), abs=2e-3)
    assert float(result.diag_x) == pytest.approx(float(outputs[:, 0].square().mean().detach()), abs=2e-3)
    assert float(result.diag_z) == pytest.approx(float(outputs[:, 1].square().mean().detach()), abs=2e-3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_erf_matches_mpmath(dtype: torch.dtype) -> None:
    cosines = cosines_to_test(dtype)
    result = Erf()(Moments(cosines.clone(), torch.ones_like(cosines), 1.0, 1.0), iter([]))
    with mpmath.workdps(50):
        ratios = [2 * mpmath.mpf(float(c)) / 3 for c in cosines]
        nngp = [float(2 / mpmath.pi * mpmath.asin(r)) for r in ratios]
        slope = [float(4 / mpmath.pi / (3 * mpmath.sqrt(1 - r * r))) for r in ratios]
    assert result.ntk is not None
    bound = 8 * torch.finfo(dtype).eps
    torch.testing.assert_close(
        result.nngp.double(), torch.tensor(nngp, dtype=torch.float64), rtol=bound, atol=1e-30
    )
    torch.testing.assert_close(
        result.ntk.double(), torch.tensor(slope, dtype=torch.float64), rtol=bound, atol=0
    )


def test_dense_scales_shifts_and_adds_its_own_gradient() -> None:
    moments = Moments(torch.tensor([0.5]), torch.tensor([0.25]), 1.0, 2.0, torch.tensor([0.1]))
    result = Dense(weight_var=3.0, bias_var=0.5)(moments, iter([True]))
    assert float(result.nngp) == 2.0
    assert float(result.ntk) == 0.75 + 2.0
    assert (result.diag_x, result.diag_z) == (3.5, 6.5)
    assert float(result.semivariance) == pytest.approx(0.3)


def test_residual_adds_the_branch_and_leaves_the_skip_alone() -> None:
    moments = Moments(torch.tensor([0.3]), torch.tensor([0.2]), 1.0, 1.0)
    expected = Relu()(moments.clone(), iter([]))
    result = Residual(Relu(), Dense())(moments, iter([False]))
    assert float(result.nngp) == pytest.approx(0.3 + float(expected.nngp))
    assert float(result.ntk) == pytest.approx(0.2 + float(expected.ntk))
    assert result.diag_x == 1.5


def test_a_residual_branch_must_end_in_dense() -> None:
    with pytest.raises(InputError, match="must end in a Dense"):
        Residual(Dense(), Relu())


def test_float32_pi_is_not_the_limit() -> None:
    """π − θ at cosine −1 is 0 and not π minus a rounded π."""
    result = Relu()(Moments(torch.tensor([-1.0]), torch.ones(1), 1.0, 1.0), iter([]))
    assert float(result.ntk) == 0.0
    assert math.copysign(1, float(result.nngp)) == 1
