import math

import pytest
import torch
from hypothesis import given, strategies as st

from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.networks.two_layer import draw_fine_grained, fine_grained_outputs, finite_gram
from widenet.testing import unit_rows
from widenet.theory.fine_grained.movement import (
    lemma_5_3,
    lemma_c_1,
    lemma_c_2,
    lemma_c_3,
    movement_width,
)
from widenet.training.descent import descend


def distances(n: int, m: int, num_draws: int, generator) -> torch.Tensor:
    X = unit_rows(n, 6, generator=generator)
    H = gram_matrix(kernel_by_name("relu2-hidden"), X)
    draws = (draw_fine_grained(m, 6, 0.3, generator=generator) for _ in range(num_draws))
    return torch.stack([(finite_gram(params, X) - H).norm() for params in draws])


def test_gram_matrix_concentrates_as_the_lemma_says(generator):
    delta, m = 0.1, 400
    found = distances(20, m, 200, generator)
    bound = lemma_c_3(20, m, delta).value
    assert int((found > bound).sum()) <= delta * 200
    assert bound < 20 * float(found.mean())


def test_concentration_has_the_lemmas_rate_in_the_width(generator):
    narrow, wide = (float(distances(20, m, 60, generator).mean()) for m in (200, 3200))
    assert narrow / wide == pytest.approx(4.0, rel=0.2)
    assert lemma_c_3(20, 200, 0.1).value / lemma_c_3(20, 3200, 0.1).value == pytest.approx(4.0)


def test_weights_and_gram_matrix_stay_within_their_bounds(generator):
    """Two orthogonal rows, for which the width that Theorem 3.1 asks for fits into memory."""
    X = torch.linalg.qr(torch.randn(5, 2, generator=generator, dtype=torch.float64)).Q.T.contiguous()
    y = torch.tensor([1.0, -1.0], dtype=torch.float64)
    floor, kappa, delta, m = 0.5, 1.0, 0.22, 100_000
    eta = floor / 4
    params = draw_fine_grained(m, 5, kappa, generator=generator)
    run = descend(params, X, y, eta=eta, num_steps=200)
    residual = float((y - fine_grained_outputs(params, X)).norm())
    of_neuron = lemma_c_1(2, floor, m, eta, kappa, delta, residual)
    of_gram = lemma_c_2(2, floor, m, eta, kappa, delta)
    of_all = lemma_5_3(2, floor, m, eta, kappa, delta, quadratic=float(y @ y) / floor)
    assert of_neuron.applies
    assert of_gram.applies
    assert float(run.neuron_movement.max()) <= of_neuron.value
    assert float((finite_gram(run.params, X) - finite_gram(params, X)).norm()) <= of_gram.value
    assert run.sign_changes <= of_gram.terms["share of signs within reach at most"]
    assert float(run.distances[-1]) <= of_all.value
    assert of_neuron.value <= of_all.terms["‖w_r(k) − w_r(0)‖ at most"]


def test_gram_drift_holds_with_probability_1_minus_4_delta():
    found = lemma_c_2(2, 0.5, 1e6, 0.1, 1.0, 0.25)
    assert found.applies is False
    assert "failure probability 4δ = 1 < 1: does not hold." in found.why
    assert lemma_c_2(2, 0.5, 1e6, 0.1, 1.0, 0.24).applies
    assert any("with probability 1 − 4δ" in sentence for sentence in found.why)
    assert found.why[-1].startswith("So is 2n²/m, which is 0 on the event of Lemma C.1")


def test_a_start_beyond_1_is_outside():
    found = lemma_5_3(2, 0.5, 1e30, 0.1, 1.01, 0.1, quadratic=4.0)
    assert found.applies is False
    assert found.why[0] == "initialisation κ = 1.01 ≤ 1: does not hold, short by a factor of 1.01."
    assert lemma_5_3(2, 0.5, 1e30, 0.1, 1.0, 0.1, quadratic=4.0).applies


@given(
    st.integers(2, 10**6),
    st.floats(1e-12, 0.5),
    st.floats(1e-6, 1.0),
    st.floats(1e-4, 0.99),
)
def test_every_error_of_the_proof_is_below_1_at_the_width(n, floor, kappa, delta):
    width = movement_width(n, floor, kappa, delta)
    terms = lemma_5_3(n, floor, width, 1e-9, kappa, delta, quadratic=1.0).terms
    errors = [value for name, value in terms.items() if "√m" in name]
    assert len(errors) == 3
    assert max(errors) <= 1 + 1e-9
    assert math.isclose(max(errors), 1.0, rel_tol=1e-9)
