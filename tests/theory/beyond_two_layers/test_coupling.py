"""The coupling lemmas, against the steps of their proofs, which are carried out with numbers."""

import math

import pytest
import torch

from widenet.testing import unit_rows
from widenet.theory.beyond_two_layers.coupling import (
    claim_c_8,
    first_layer_changes,
    lemma_6_5,
    lemma_6_9,
    lemma_6_11,
    lemma_b_3,
)
from widenet.theory.numbers import mpf


@pytest.mark.parametrize("m2", [10_000, 100_000])
@pytest.mark.parametrize("size", [0.003, 0.03])
def test_claim_c8_is_what_the_worst_change_does(m2, size, generator):
    """A change of norm g1 turns the smallest entries first: s³/(3(2ϕ(0))²m2³) = g1², s = 1.24·m2·g1^{2/3}."""
    values = (torch.randn(m2, generator=generator, dtype=torch.float64) / math.sqrt(m2)).abs().sort().values
    turned = int((values.square().cumsum(0) <= size**2).sum())
    found = claim_c_8(m2, size)
    assert turned / found.value == pytest.approx((3 * 2 / math.pi) ** (1 / 3), rel=0.1)
    assert float(values[:turned].sum()) < found.terms["sum of their sizes"]
    # A change of every entry by g2 turns those below it.
    largest = 0.01 / math.sqrt(m2)
    below = int((values <= largest).sum())
    assert below / claim_c_8(m2, 0.0, largest).value == pytest.approx(math.sqrt(2 / math.pi), rel=0.3)
    assert found.applies
    assert not claim_c_8(m2, 0.0, 0.3 / math.sqrt(m2)).applies


def test_changes_of_the_first_layer_solve_the_proofs_equation():
    """S = s''·m^{3/2} at s'' = τ/s^{1/4}, by iteration."""
    m, tau, s = 1e6, 1e-4, 1.0
    for _ in range(200):
        s = tau / s**0.25 * m**1.5
    assert float(first_layer_changes(mpf(m), mpf(tau))) == pytest.approx(s)


def test_lemma_6_5_adds_up_the_proofs_terms():
    m1, m2, tau_w, tau_v, sigma_w, sigma_v, eta = 1e6, 4e6, 1e-4, 0.2, 1e-6, 1e-4, 0.1
    found = lemma_6_5(m1, m2, tau_w, tau_v, sigma_w, sigma_v, eta, c=2.0)
    # ‖a D V''‖_2·‖z‖_∞ with ‖a‖ = √m2, and ‖a D' V0‖_2·‖W''x‖_∞.
    assert found.value == pytest.approx(
        2 * eta * (math.sqrt(m2) * tau_v / math.sqrt(m1) + math.sqrt(m2) * tau_w)
    )
    first = claim_c_8(m2, tau_v, sigma_v).value + claim_c_8(m2, tau_w * m1**0.25).value
    assert found.terms["sign changes of the second layer"] == pytest.approx(2 * first)
    assert found.terms["share of the second layer"] == pytest.approx(2 * first / m2)
    assert found.applies
    for changes in (
        {"tau_v": 1.1},
        {"tau_w": 1.1e-3},
        {"sigma_w": 1e-5},
        {"sigma_v": 1e-3},
        {"sigma_w": 1e-10},
    ):
        given = {"tau_w": tau_w, "tau_v": tau_v, "sigma_w": sigma_w, "sigma_v": sigma_v} | changes
        assert not lemma_6_5(m1, m2, **given).applies


def test_lemma_6_9_is_probability_times_size():
    """m·P(sign change)·size for both layers, at a step η that is divided out."""
    m1, m2, w, v, sigma_w, sigma_v, eta = 1e4, 3e4, 1e-3, 0.02, 1e-2, 1e-3, 1e-5
    first = m1 * (eta * w / sigma_w) * (eta * w)
    # (a + b)² in place of a² + b², as the paper has it up to a factor of 2
    second = m2 * (eta * (v / math.sqrt(m1) + w)) ** 2 / sigma_v
    found = lemma_6_9(m1, m2, w, v, sigma_w, sigma_v)
    assert found.terms["signs of the first layer"] == pytest.approx(first / eta**2)
    assert found.value <= (first + second) / eta**2 <= 2 * found.value


def proof_terms(m1: float, m2: float, w: float, v: float) -> dict[str, float]:
    """Every error of Lemma 6.11's proof, from the sparsity and the norm of z2 on."""
    s = w**0.8 * m1**1.2
    z2 = s**0.25 * w
    flipped = claim_c_8(
        m2, w * m1**0.25 * v, w * m1**0.25 / math.sqrt(m2) + math.sqrt(s) * z2 / math.sqrt(m2)
    )
    return {
        "V'Σz": math.sqrt(m2) * v / math.sqrt(m1),
        "V'Σz2": math.sqrt(m2) * v * z2,
        "second signs": flipped.terms["sum of their sizes"],
        "aDV0z2": math.sqrt(s) * z2,
        "aDV0z1": w * m1**0.25,
    }


@pytest.mark.parametrize("power", [-0.75, -0.7, -0.65, -0.6, -0.5625])
@pytest.mark.parametrize("tau_v", [1.0, 0.1, 1e-3])
@pytest.mark.parametrize("sizes", [(1e6, 1e6), (1e12, 1e12), (1e10, 1e12), (1e12, 1e10)])
def test_lemma_6_11_has_the_largest_of_the_proofs_terms(power, tau_v, sizes):
    m1, m2 = sizes
    tau_w = m1**power
    terms = proof_terms(m1, m2, tau_w, tau_v)
    found = lemma_6_11(m1, m2, tau_w, tau_v)
    assert found.applies
    assert found.value / 3 <= sum(terms.values()) <= 8 * found.value


def test_lemma_6_11_has_a_range():
    assert not lemma_6_11(1e6, 1e6, 1e-6, 0.1).applies
    assert not lemma_6_11(1e6, 1e6, 1e-2, 0.1).applies
    assert lemma_6_11(1e6, 1e6, 1e-4, 0.1, c=3.0).value == pytest.approx(
        3 * lemma_6_11(1e6, 1e6, 1e-4, 0.1).value
    )


@pytest.mark.parametrize("m", [256, 4096])
def test_lemma_b_3_holds_of_sgd_on_two_layers(m, generator):
    """SGD by autograd, one example a step, on √(1 + ‖out − y‖²), which is 1-Lipschitz."""
    d, k, epsilon_a, num_steps = 5, 2, 0.5, 40
    eta = 2.0 / m
    W, b = (
        torch.randn(m, *shape, generator=generator, dtype=torch.float64) / math.sqrt(m)
        for shape in ((d,), ())
    )
    A = epsilon_a * torch.randn(k, m, generator=generator, dtype=torch.float64)
    X = unit_rows(30, d, generator=generator)
    Y = torch.randn(30, k, generator=generator, dtype=torch.float64)
    now = W.clone().requires_grad_()
    for step in range(num_steps):
        x, y = X[step % 30], Y[step % 30]
        loss = (1 + (A @ (now @ x + b).relu() - y).square().sum()).sqrt()
        (slopes,) = torch.autograd.grad(loss, now)
        now = (now - eta * slopes).detach().requires_grad_()
    signs = W @ X.T + b[:, None] >= 0
    values = (now.detach() @ X.T) + b[:, None]
    share = float(((values >= 0) != signs).double().mean(0).max())
    gap = float((A @ (values.relu() - values * signs)).abs().max())
    found = lemma_b_3(m, k, epsilon_a, eta, num_steps)
    tau = epsilon_a * eta * num_steps
    assert found.value == pytest.approx(epsilon_a * k * tau**2 * m**1.5)
    gradients = epsilon_a * k * tau * m**1.5 + epsilon_a**2 * k**2 * tau**2 * m**2.5
    assert found.terms["distance of the gradients"] == pytest.approx(gradients)
    assert found.terms["share of signs that change"] == pytest.approx(tau * math.sqrt(k * m))
    assert 0 < share < found.terms["share of signs that change"]
    assert 0 < gap < found.value
