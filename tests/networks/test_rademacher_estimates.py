"""Lower estimates of Rademacher complexities, against brute force and the bounds."""

import math

import pytest
import torch

from widenet.networks.rademacher_estimates import (
    best_frobenius,
    best_two_four,
    bilinear_estimate,
    network_estimate,
)
from widenet.networks.two_widths import draw_two_widths, sign_pattern
from widenet.testing import unit_rows
from widenet.theory.beyond_two_layers.rademacher import lemma_6_10, lemma_6_12, lemma_b_5

D = 5


def test_the_best_weights_for_a_gradient(generator):
    """No other point of the ball does better, and the value is the dual norm ‖G‖_{2,4/3}."""
    G = torch.randn(7, D, generator=generator, dtype=torch.float64)
    W, V = best_two_four(G, 0.3), best_frobenius(G, 0.3)
    assert float(W.norm(dim=1).pow(4).sum() ** 0.25) == pytest.approx(0.3)
    assert float((W * G).sum()) == pytest.approx(0.3 * float(G.norm(dim=1).pow(4 / 3).sum()) ** 0.75)
    assert float((V * G).sum()) == pytest.approx(0.3 * float(G.norm()))
    others = torch.randn(2000, 7, D, generator=generator, dtype=torch.float64)
    others *= 0.3 / others.norm(dim=2).pow(4).sum(1)[:, None, None] ** 0.25
    assert float((others * G).sum((1, 2)).max()) < float((W * G).sum())
    assert not best_two_four(torch.zeros(3, D, dtype=torch.float64), 1.0).any()


@pytest.mark.parametrize(("m1", "m2"), [(128, 128), (256, 64)])
def test_the_pseudo_networks_are_below_lemma_6_12_and_fall_like_it(m1, m2, generator):
    start, sizes = draw_two_widths(D, 1, m1, m2, generator=generator), {"tau_w": m1**-0.7, "tau_v": 0.1}
    found, bounds = [], []
    for N in (32, 128):
        X = unit_rows(N, D, generator=generator)
        found.append(bilinear_estimate(start, X, **sizes, num_draws=16, num_steps=15, generator=generator))
        bounds.append(lemma_6_12(m1, m2, N, **sizes).terms["τ_w·τ_v·m1^(1/4)·√m2/√N"])
    for estimate, bound in zip(found, bounds, strict=True):
        assert 0.25 * bound < estimate.value < bound - 3 * estimate.error
    assert found[0].value / found[1].value == pytest.approx(2, rel=0.25)


def test_the_pseudo_networks_of_one_neuron_by_brute_force(generator):
    """With one neuron in each layer the supremum is τ_w·τ_v·‖Σ ξ_j a D_v D_w x_j‖/N, over all 2^N signs."""
    N = 6
    start, X = draw_two_widths(D, 1, 1, 1, generator=generator), unit_rows(N, D, generator=generator)
    start["V"] = start["V"].abs()  # so that the second neuron is active wherever the first is
    start["W"][..., -1] = 0.5 * float(start["W"][..., :-1].norm())
    signs = sign_pattern(start, X)
    passed = float(start["A"]) * signs.first[0, :, 0] * signs.second[0, :, 0]
    every = torch.cartesian_prod(*[torch.tensor([1.0, -1.0], dtype=torch.float64)] * N)
    exact = 0.2 * 0.3 * ((every * passed) @ X).norm(dim=1).mean() / N
    found = bilinear_estimate(start, X, tau_w=0.2, tau_v=0.3, num_draws=400, num_steps=3, generator=generator)
    assert found.value == pytest.approx(float(exact), abs=4 * found.error + 1e-12)
    assert found.value > 0


def test_real_networks_are_below_lemma_6_10(generator):
    m1, m2, N = 128, 96, 64
    start, X = draw_two_widths(D, 1, m1, m2, generator=generator), unit_rows(N, D, generator=generator)
    sizes = {"tau_w": m1**-0.7, "tau_v": 0.1}
    found = network_estimate(start, X, **sizes, num_draws=10, num_steps=10, generator=generator)
    bilinear = bilinear_estimate(start, X, **sizes, num_draws=10, num_steps=10, generator=generator)
    assert bilinear.value < found.value < lemma_6_10(m1, m2, N, **sizes).value
    # To first order V' alone attains τ_v‖Σ ξ_j a D_v ⊗ σ(Wx_j)‖_F/N.
    assert found.value > 0.1 * 0.3 * math.sqrt(m2) / math.sqrt(N) / 2


def test_two_layers_are_below_lemma_b_5(generator):
    """Each neuron is moved by τ along what is best for its present sign pattern, for drawn ξ."""
    m, N, tau, epsilon_a = 300, 50, 0.02, 0.4
    W = torch.randn(m, D + 1, generator=generator, dtype=torch.float64) / math.sqrt(m)
    a = epsilon_a * torch.randn(m, generator=generator, dtype=torch.float64)
    X = unit_rows(N, D, generator=generator)
    start, totals = X @ W[:, :-1].T + W[:, -1], []
    for _ in range(10):
        xi = 2 * torch.randint(2, (N,), generator=generator).double() - 1
        best, values = torch.zeros(m, dtype=torch.float64), start
        for _ in range(5):
            slopes = a[:, None] * ((xi[:, None] * (values > 0)).T @ X)
            values = start + X @ (tau * slopes / slopes.norm(dim=1, keepdim=True).clamp_min(1e-300)).T
            best = torch.maximum(best, a * (xi @ (values.relu() - start.relu())))
        totals.append(float(best.sum()) / N)
    found = sum(totals) / len(totals)
    assert 0.1 * lemma_b_5(m, N, tau, epsilon_a).value < found < lemma_b_5(m, N, tau, epsilon_a).value
