"""The wide network near initialisation that computes a given function."""

import math

import pytest
import torch

from widenet.base.errors import InputError
from widenet.data.concepts import TwoLayerTarget
from widenet.networks.constructed import (
    Term,
    constructed_step,
    construction_errors,
    expected_frobenius,
    log_slope,
    movement,
    width_study,
)
from widenet.networks.fully_connected import TwoLayers
from widenet.networks.initialise import Initialisation, draw_parameters
from widenet.testing import unit_rows
from widenet.theory.beyond_two_layers.hermite import gated_hermite, taylor_degree
from widenet.theory.smooth.functions import Smooth

D, EPSILON_A = 4, 0.5


def h_of(phi: str, gate="least"):
    series = Smooth(phi).series
    return gated_hermite([float(c) for c in series.coefficients(taylor_degree(series, 1e-4) + 1)], gate)


def unit_with_half(n: int, generator: torch.Generator) -> torch.Tensor:
    """Rows of norm 1 with x_d = 1/2."""
    rows = unit_rows(n, D - 1, generator=generator) * math.sqrt(3) / 2
    return torch.cat([rows, torch.full((n, 1), 0.5, dtype=torch.float64)], dim=1)


def axis(j: int, scale: float = 1.0) -> torch.Tensor:
    return scale * torch.eye(D, dtype=torch.float64)[j]


def ridge(phi: str, gate: str = "least") -> Term:
    """φ(x_1) by w2 = 2e_d, since x_d = 1/2."""
    return Term(h_of(phi, gate), axis(0), axis(D - 1, 2.0), torch.ones(1, dtype=torch.float64))


@pytest.mark.parametrize("phi", ["sin", "tanh", "exp", "z**2", "z**3"])
def test_the_error_falls_like_one_over_the_root_of_the_width(phi, generator):
    X = unit_with_half(24, generator)
    widths = (2**8, 2**10, 2**12, 2**14)
    study = width_study(
        [ridge(phi)],
        lambda X: Smooth(phi)(X[:, :1]),
        X,
        widths,
        epsilon_a=EPSILON_A,
        num_seeds=32,
        generator=generator,
    )
    assert -0.6 < study.slopes["pseudo"] < -0.4
    # Each neuron has variance below E[(a/ε_a)⁴ h²⟨w2, x⟩²] = 3E[h²].
    bound = [math.sqrt(3 * h_of(phi).mean_square / m) for m in widths]
    assert all(error < 1.2 * most for error, most in zip(study.errors["pseudo"], bound, strict=True))


@pytest.mark.parametrize("gate", ["window", "least"])
def test_movement_is_that_of_the_formula(gate, generator):
    network, term = TwoLayers(2**15, "hidden"), ridge("sin", gate)
    start = draw_parameters(
        network,
        D,
        1,
        Initialisation("layers", epsilon_a=EPSILON_A),
        generator=generator,
        dtype=torch.float64,
    )
    step = constructed_step(start, [term], EPSILON_A)
    moved = movement(start, step)
    assert moved.frobenius == pytest.approx(expected_frobenius([term], EPSILON_A, 2**15), rel=0.05)
    rows = step["W"][0].norm(dim=1)
    assert moved.largest_row == float(rows.max()) < moved.frobenius
    assert moved.relative == pytest.approx(moved.frobenius / float(start["W"].norm()))
    assert not step["W"][..., -1].any()


def test_a_sum_of_terms_with_two_outputs(generator):
    """Concept class (3.1), evaluated independently."""
    network, texts = TwoLayers(2**16, "hidden"), ("sin(z)", "exp(z) - 1")
    w1, w2 = torch.stack([axis(0), axis(1)]), torch.stack([axis(2), axis(3, 2.0)])
    a = torch.tensor([[1.0, -0.5], [0.3, 1.0]], dtype=torch.float64)
    X = unit_with_half(24, generator)
    Y = TwoLayerTarget(tuple(map(Smooth, texts)), w1, w2, a).evaluate(X)
    terms = [Term(h_of(text), w1[i], w2[i], a[:, i]) for i, text in enumerate(texts)]
    start = draw_parameters(
        network, D, 2, Initialisation("layers", epsilon_a=0.1), generator=generator, dtype=torch.float64
    )
    step = constructed_step(start, terms, 0.1)
    errors = construction_errors(network, start, step, X, Y)
    assert errors["pseudo"] < 0.15 < float(Y.square().sum(1).mean().sqrt())
    # Corollary B.2: at W0 + W⋇ the network at initialisation is added, which is about ε_a.
    assert errors["W0 + W⋇"] < errors["pseudo"] + 0.3


def test_the_real_network_comes_near_as_signs_settle(generator):
    """Steps fall like 1/m and weights like m^{-1/2}, so the share of signs that change vanishes."""
    study = width_study(
        [ridge("sin")],
        lambda X: X[:, :1].sin(),
        unit_with_half(16, generator),
        (2**8, 2**12, 2**16),
        epsilon_a=EPSILON_A,
        num_seeds=2,
        generator=generator,
    )
    apart = [abs(r - p) for r, p in zip(study.errors["real"], study.errors["W0 + W⋇"], strict=True)]
    assert apart[-1] < apart[0] / 4
    assert [each.relative for each in study.movements] == sorted(
        (each.relative for each in study.movements), reverse=True
    )


def test_terms_must_fit(generator):
    network = TwoLayers(8, "hidden")
    start = draw_parameters(network, D + 1, 1, Initialisation("layers"), generator=generator)
    with pytest.raises(InputError, match="w1 and w2 of 5 numbers"):
        constructed_step(start, [ridge("sin")], 1.0)


def test_slope_of_a_power():
    assert log_slope([1, 10, 100], [3, 0.3, 0.03]) == pytest.approx(-1)
