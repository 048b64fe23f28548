"""Rademacher complexities near initialisation: the bounds, along their proofs."""

import math

import pytest
from scipy.optimize import minimize_scalar

from widenet.theory.beyond_two_layers.coupling import lemma_6_11
from widenet.theory.beyond_two_layers.rademacher import lemma_6_10, lemma_6_12, lemma_b_5

SIZES = [(1e4, 1e4, 100, 1e-3, 0.3), (1e4, 3e5, 10_000, 1e-2, 2.0), (1e6, 1e3, 7, 1e-5, 1e-3)]


@pytest.mark.parametrize(("m1", "m2", "N", "w", "v"), SIZES)
def test_lemma_6_10_is_at_the_best_truncation(m1, m2, N, w, v):
    """The proof's sum of the complexity at truncation δ and of what truncation costs, minimised over δ."""

    def at(log_delta: float) -> float:
        delta = math.exp(log_delta)
        rest = m2 * (w / math.sqrt(N) * (m1 / math.sqrt(m2) + delta * m1) + v / math.sqrt(N))
        return rest + v**2 / delta * (1 / math.sqrt(m1) + w)

    least = minimize_scalar(at, bounds=(-60, 60), method="bounded", options={"xatol": 1e-9}).fun
    found = lemma_6_10(m1, m2, N, w, v)
    third = found.terms["τ_v·√(m1·m2·τ_w·(1/√m1 + τ_w))/N^(1/4)"]
    assert found.value + third == pytest.approx(least, rel=1e-6)
    assert lemma_6_10(m1, m2, N, w, v, c=3.0).value == pytest.approx(3 * found.value)


@pytest.mark.parametrize(("m1", "m2", "N", "w", "v"), SIZES)
def test_lemma_6_12_is_the_bilinear_part_and_the_coupling(m1, m2, N, w, v):
    """‖W'‖_F ≤ m1^{1/4}‖W'‖_{2,4}, and the other factor is ‖V'‖_F·‖a‖·√(Σ‖x‖²)/N."""
    bilinear = (m1**0.25 * w) * (v * math.sqrt(m2) * math.sqrt(N) / N)
    assert lemma_6_12(m1, m2, N, w, v).value == pytest.approx(bilinear + lemma_6_11(m1, m2, w, v).value)
    assert lemma_6_12(m1, m2, N, w, v).applies == lemma_6_11(m1, m2, w, v).applies


def test_at_table_1_the_bilinear_part_is_c0_over_the_root_of_n():
    m, C_0, epsilon0, N = 1e8, 5.0, 0.01, 400
    v, w = m**-0.005 / math.sqrt(epsilon0), C_0 / (epsilon0**0.25 * m**0.745)
    part = lemma_6_12(m, m, N, w, v).terms["τ_w·τ_v·m1^(1/4)·√m2/√N"]
    assert epsilon0**0.75 * part == pytest.approx(C_0 / math.sqrt(N))


def test_lemma_b_5():
    assert lemma_b_5(1000, 25, 0.02, 0.1, c=2.0).value == pytest.approx(2 * 0.1 * 1000 * 0.02 / 5)
