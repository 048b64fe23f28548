import math

import numpy as np
import pytest
import torch
from mpmath import mp

from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.networks.two_layer import (
    FineGrainedNet,
    draw_fine_grained,
    fine_grained_gradient,
    fine_grained_outputs,
)
from widenet.testing import unit_rows
from widenet.theory.fine_grained.bounds import (
    complexity_measure,
    corollary_5_2,
    generalisation_bound,
    generalisation_demands,
    lemma_5_4,
    radius_confidence,
    theorem_5_1,
    theorem_b_1,
)


def test_first_term_is_the_complexity_measure(generator):
    """Twice the Rademacher complexity of the ball is (10), because H∞ has the trace n/2."""
    X = unit_rows(50, 8, generator=generator)
    H = gram_matrix(kernel_by_name("relu2-hidden"), X)
    y = torch.sign(X[:, 0])
    quadratic = float(y @ torch.linalg.solve(H, y))
    bound = generalisation_bound(quadratic, float(H.trace()), 50, delta=0.01)
    assert math.isclose(bound.terms["complexity"], math.sqrt(2 * quadratic / 50), rel_tol=1e-12)
    assert math.isclose(bound.value, sum(bound.terms.values()))


def test_bound_holds_for_a_learnable_target(generator):
    """Population loss of the interpolant of a linear target, measured on fresh rows, is below the bound."""
    kernel = kernel_by_name("relu2-hidden")
    X, Z = unit_rows(400, 5, generator=generator), unit_rows(2000, 5, generator=generator)
    y, z = X[:, 0], Z[:, 0]
    H = gram_matrix(kernel, X)
    alpha = torch.linalg.solve(H, y)
    loss = (kernel.tile(Z, X) @ alpha - z).abs().clamp(max=1).mean()
    bound = generalisation_bound(float(y @ alpha), 200.0, 400, delta=0.01)
    assert loss < bound.value < 1


def test_bound_shrinks_as_rows_grow():
    values = [generalisation_bound(4.0, n / 2, n, delta=0.01).value for n in (100, 1000, 10000)]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("quadratic", [0.0, 0.3, 4.0, 4.1, 7e5])
def test_plain_bound_is_its_formula(quadratic):
    n, delta = 250, 0.01
    with mp.workdps(40):
        radius = mp.sqrt(quadratic)
        whole = next(i for i in range(1, 10**6) if i >= radius)
        share_of_radius = mp.mpf(delta) / 3 * (mp.mpf(1) / whole - mp.mpf(1) / (whole + 1))
        expected = whole * mp.sqrt(mp.mpf(2) / n) + 1 / mp.sqrt(n)
        expected += 3 * mp.sqrt(mp.log(2 / share_of_radius) / (2 * n))
    found = generalisation_bound(quadratic, n / 2, n, delta=delta)
    assert math.isclose(found.value, expected, rel_tol=1e-12)
    assert found.terms["complexity"] + found.terms["whole radius"] >= math.sqrt(2 / n)


def test_shares_of_all_radii_sum_to_the_samples_share_of_delta():
    """What `radius_confidence` spends on radius i, read back out of it by Theorem B.1's formula."""
    n, delta, last = 100, 0.03, 2000
    spent = [2 * math.exp(-2 * n * (float(radius_confidence(i, n, delta)) / 3) ** 2) for i in range(1, last)]
    assert math.isclose(math.fsum(spent), delta / 3 * (1 - 1 / last), rel_tol=1e-9)


@pytest.mark.parametrize("m", [50.0, 1e6, 1e40])
def test_rademacher_bound_is_its_formula(m):
    n, kappa, R, B, delta = 30, 0.3, 0.02, 1.5, 0.1
    with mp.workdps(40):
        log = mp.log(2 / mp.mpf(delta))
        first = B / mp.sqrt(2 * n) * (1 + (2 * log / m) ** mp.mpf("0.25"))
        expected = first + 2 * mp.mpf(R) ** 2 * mp.sqrt(m) / kappa + R * mp.sqrt(2 * log)
    assert math.isclose(lemma_5_4(n, m, kappa, R, B, delta).value, expected, rel_tol=1e-12)


def test_rademacher_bound_is_above_what_networks_near_the_start_reach(generator):
    """Moving along Z(0)ε, each neuron at most R, is one way to fit signs; no way may beat the bound."""
    n, d, m, kappa, R, B, delta = 20, 5, 2000, 1.0, 0.05, 1.0, 0.05
    X = unit_rows(n, d, generator=generator)
    start = draw_fine_grained(m, d, kappa, generator=generator)
    reached = []
    for _ in range(200):
        signs = torch.randint(2, (n,), generator=generator).to(torch.float64) * 2 - 1
        along = -fine_grained_gradient(start, X, fine_grained_outputs(start, X) + signs)
        moved = B * along / along.norm()
        moved *= (R / moved.norm(dim=1, keepdim=True)).clamp(max=1)
        reached.append(signs @ fine_grained_outputs(FineGrainedNet(start.W + moved, start.a), X) / n)
    mean = float(torch.stack(reached).mean())
    bound = lemma_5_4(n, m, kappa, R, B, delta)
    assert 0.5 * bound.terms["B/√(2n)"] < mean < bound.value < 5 * mean


def test_gap_bound_holds_over_samples_of_thresholds():
    """Classifiers 1[x > t] of 1[x > ½], x uniform, whose population losses |t − ½| are known."""
    rng = np.random.default_rng(0)
    thresholds, n, delta, num_samples = np.linspace(0.1, 0.9, 9), 40, 0.1, 400

    def outputs_at(x):
        return (x > thresholds[:, None]).astype(float)

    exceeded = 0
    for _ in range(num_samples):
        x = rng.uniform(size=n)
        f = outputs_at(x)
        signs = rng.choice([-1.0, 1.0], size=(300, n))
        rademacher = (signs @ f.T).max(axis=1).mean() / n
        train_loss = np.abs(f - (x > 0.5)).mean(axis=1)
        gap = (np.abs(thresholds - 0.5) - train_loss).max()
        exceeded += gap > theorem_b_1(n, rademacher, delta).value
    assert exceeded <= delta * num_samples
    assert theorem_b_1(n, 0.0, delta, c=2.0).value == pytest.approx(6 * math.sqrt(math.log(20) / 80))


def of_proof(n, floor, m, eta, kappa, delta, steps, quadratic, C):
    """D.3 in one go: R_S of Lemma 5.4 at δ/5, B of Lemma 5.3 and the descent at half of what δ/3 has left."""
    n, floor, m, eta, kappa, delta, quadratic, C = map(mp.mpf, (n, floor, m, eta, kappa, delta, quadratic, C))
    share = (delta / 3 - delta / 5) / 2
    errors = C * (
        n * kappa / (floor * share)
        + n**4 / (mp.sqrt(m) * floor**3 * kappa * share**2)
        + n**1.5 / mp.sqrt(mp.sqrt(m) * floor**3 * kappa * share**1.5)
        + mp.sqrt(n**2 * mp.sqrt(mp.log(n / share)) / (mp.sqrt(m) * floor**2))
    )
    B, log = mp.ceil(mp.sqrt(quadratic) + errors), mp.log(10 / delta)
    start = (1 + kappa**2 / 2) / share
    R = 4 * n * mp.sqrt(start) / (mp.sqrt(m) * floor)
    rademacher = B / mp.sqrt(2 * n) * (1 + (2 * log / m) ** 0.25)
    rademacher += 2 * R**2 * mp.sqrt(m) / kappa + R * mp.sqrt(2 * log)
    train = min(mp.mpf(1), mp.sqrt(start * (1 - eta * floor / 2) ** steps))
    share_of_radius = delta / 3 * (1 / B - 1 / (B + 1))
    return 2 * rademacher + train + 3 * mp.sqrt(mp.log(2 / share_of_radius) / (2 * n))


@pytest.mark.parametrize(("m", "kappa", "C"), [(1e4, 1e-3, 1.0), (1e40, 1e-5, 1.0), (1e60, 1e-8, 0.3)])
def test_theorem_has_the_terms_of_kappa_and_width(m, kappa, C):
    given = {"n": 100, "floor": 0.01, "m": m, "eta": 1e-6, "kappa": kappa, "delta": 0.1, "steps": 10**9}
    found = theorem_5_1(**given, quadratic=50.0, C=C)
    with mp.workdps(40):
        assert math.isclose(found.value, of_proof(**given, quadratic=50.0, C=C), rel_tol=1e-9)
    parts = {name: term for name, term in found.terms.items() if "limit" not in name}
    assert math.isclose(found.value, sum(parts.values()), rel_tol=1e-12)
    assert any("for unbounded width and vanishing κ" in sentence for sentence in found.why)


def test_theorem_comes_to_its_plain_bound_as_the_width_grows():
    """Up to the training loss, which so many steps bring below the 1/√n that the plain bound allows."""
    limit = generalisation_bound(50.0, 50.0, 100, delta=0.1)
    found = theorem_5_1(100, 0.01, 1e200, 1e-6, 1e-40, 0.1, 10**10, 50.0)
    assert found.terms["in the limit m → ∞, κ → 0"] == limit.value
    assert found.value == pytest.approx(limit.value - limit.terms["training loss"], rel=1e-2)


def test_training_loss_is_never_above_1():
    for eta, steps in ((1e-6, 0), (1e9, 5)):
        found = theorem_5_1(100, 0.01, 1e40, eta, 1e-5, 0.1, steps, 50.0)
        assert found.terms["training loss"] == 1.0


def test_theorem_states_what_it_asks_for():
    bound = theorem_5_1(
        n=100, floor=0.01, m=1e4, eta=1e-6, kappa=1e-3, delta=0.1, steps=10**10, quadratic=50.0
    )
    assert bound.applies is False
    kappa, width, step, steps = generalisation_demands(100, 0.01, 1e4, 1e-6, 1e-3, 10**10, 0.1)
    assert float(kappa.need) == pytest.approx(0.01 * 0.1 / 100)
    assert float(width.need) == pytest.approx(1e16 / (1e-12 * 1e-6 * 1e-4))
    assert float(step.need) == pytest.approx(1e-6)
    assert float(steps.need) == pytest.approx(math.log(1000) / 1e-8)
    assert [demand.holds for demand in (kappa, width, step, steps)] == [False, False, True, True]


def test_classification_is_bounded_by_the_same_number():
    given = {"n": 100, "floor": 0.01, "m": 1e4, "eta": 1e-6, "kappa": 1e-3, "delta": 0.1, "steps": 9}
    classes, loss = corollary_5_2(**given, quadratic=50.0), theorem_5_1(**given, quadratic=50.0)
    assert classes.value == loss.value
    assert classes.source.place == "Corollary 5.2"
    assert complexity_measure(100, 50.0).value == loss.terms["complexity"] == 1.0
