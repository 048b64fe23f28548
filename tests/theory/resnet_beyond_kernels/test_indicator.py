"""Lemma E.2: functions out of indicators without bias."""

import math

import pytest
import torch
from mpmath import mp

from widenet.base.errors import InputError
from widenet.testing import unit_rows
from widenet.theory.resnet_beyond_kernels.indicator import lemma_e_2, odd_hermite, unbiased_expectation
from widenet.theory.smooth.functions import power_sum

SINE = tuple(0.0 if i % 2 == 0 else (-1) ** (i // 2) / math.factorial(i) for i in range(14))
CUBIC = (0.3, -0.5, 0.0, 0.8)


def exact_mean(i: int) -> mp.mpf:
    """E[h_i(α) I[α ≥ 0]] of the probabilists' Hermite polynomial, by mpmath's integration."""

    def hermite(z):
        return mp.mpf(2) ** (-mp.mpf(i) / 2) * mp.hermite(i, z / mp.sqrt(2))

    return mp.quad(lambda z: hermite(z) * mp.npdf(z), [0, 2, 5, 10, 20])


@pytest.mark.parametrize("i", [1, 3, 5, 7, 9])
def test_gains_are_those_of_the_integrals(i):
    h = odd_hermite([0.0] * i + [1.0])
    p = exact_mean(i)
    assert float(abs(p)) == pytest.approx(float(mp.fac2(i - 2) if i > 1 else 1) / math.sqrt(2 * math.pi))
    assert h.gains == {i: pytest.approx(math.sqrt(math.factorial(i)) / float(p))}
    claimed = float(mp.fac2(i - 1)) / 4  # claim E.3's lower bound on |p_i|
    assert (float(abs(p)) >= claimed) == (i == 1)


def test_even_powers_have_no_mean():
    assert float(abs(exact_mean(4))) < 1e-12
    with pytest.raises(InputError, match="φ has the power 4"):
        odd_hermite((1.0, 2.0, 0.0, 0.0, 1.0))
    with pytest.raises(InputError, match=r"resnet-lemma-a\.2"):
        lemma_e_2("cos")


@pytest.mark.parametrize("coefficients", [SINE, CUBIC])
def test_mean_is_the_function(coefficients, generator):
    h, phi = odd_hermite(coefficients), power_sum(coefficients)
    z = torch.linspace(-1, 1, 7, dtype=torch.float64)
    assert torch.allclose(unbiased_expectation(h, z, len(coefficients)), phi(z), atol=1e-9)
    # By its definition, with random w in three dimensions.
    w = torch.randn(250_000, 3, generator=generator, dtype=torch.float64)
    star, x = unit_rows(2, 3, generator=generator)
    draws = (w @ x >= 0) * h(w @ star)
    assert float(draws.mean()) == pytest.approx(float(phi(star @ x)), abs=4 * float(draws.std()) / 500)
    assert float(h(w[:, 0]).square().mean()) == pytest.approx(h.mean_square, rel=0.05)


def test_clamped_function_stays_below_its_bounds():
    h = odd_hermite(CUBIC, epsilon=1e-3)
    far = torch.tensor([-1e6, -h.clamp(3), 0.0, h.clamp(3), 1e6], dtype=torch.float64)
    values = h(far)
    assert values[0] == values[1]
    assert values[3] == values[4]
    assert 0.9 * math.exp(h.log_largest) < float(values.abs().max()) <= math.exp(h.log_largest)
    z = torch.linspace(-h.clamp(3), h.clamp(3), 20_001, dtype=torch.float64, requires_grad=True)
    (slopes,) = torch.autograd.grad(h(z).sum(), z)
    assert 0.9 * math.exp(h.log_steepest) < float(slopes.abs().max()) <= math.exp(h.log_steepest) * (1 + 1e-9)


@pytest.mark.parametrize("phi", ["sin", "z", "tanh(z/2)", "0.5,1,0,-1/6", "0"])
def test_lemma_e2_holds(phi):
    found = lemma_e_2(phi)
    assert found.applies
    assert found.error <= 1e-6
    assert lemma_e_2(phi, epsilon=0.3).applies is (phi == "0")  # ε must be below 1/C_s
