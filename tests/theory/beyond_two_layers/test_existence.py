"""Sizes of Lemmas 6.2 and 6.4, with closed forms of the complexities."""

import math

import pytest
import torch

from widenet.base.errors import InputError
from widenet.networks.constructed import Term, constructed_step, movement
from widenet.networks.fully_connected import TwoLayers
from widenet.networks.initialise import Initialisation, draw_parameters
from widenet.theory.beyond_two_layers.existence import lemma_6_2, lemma_6_4, lemma_a_1, lemma_b_1
from widenet.theory.beyond_two_layers.hermite import gated_hermite
from widenet.theory.names import entry_by_name

STAR = 3.0


def of_linear(R: float, epsilon: float) -> float:
    """C_ε(z, R)."""
    return STAR * R * (1 + math.sqrt(math.log(1 / epsilon)))


def test_lemma_6_4():
    found = lemma_6_4("z", 0.01, 1e4, 400, c_star=STAR, c=2.0)
    C = of_linear(1, 0.01)
    assert found.value == pytest.approx(1 / (10 * C * 20))
    assert found.terms["bound on |B|"] == pytest.approx(2 / 20)
    assert found.terms["bound on |R|"] == pytest.approx(2 / 2000)
    assert list(found.terms.values())[-1] == pytest.approx(2 / (C * 2000))
    assert lemma_6_4("arctan", 0.01, 1e4, 400).applies is False


def test_lemma_6_2():
    k, p1, p2, m1, m2 = 2, 3, 4, 1e8, 1e6
    C_s = STAR * 2**1.75
    epsilon = 0.5 / (k * p1 * p2**2 * STAR * 2**1.75 * p2 * C_s * C_s**2)
    inner = of_linear(1, epsilon)
    C_0 = of_linear(math.sqrt(p2) * inner, epsilon) * inner * p1 * math.sqrt(p2) * k
    found = lemma_6_2("z", "z", k, p1, p2, 0.5, m1, m2, c_star=STAR)
    assert found.value == pytest.approx(C_0)
    assert 10 ** found.terms["log10 epsilon"] == pytest.approx(epsilon)
    assert 10 ** found.terms["log10 largest row of W"] == pytest.approx(C_0 / m1)
    assert 10 ** found.terms["log10 largest row of V"] == pytest.approx(math.sqrt(m1) / m2)
    with pytest.raises(InputError, match="does not fit"):
        entry_by_name("beyond-lemma-6.2")(
            {"phi": "z", "Phi": "z", "k": "1", "p1": "1", "p2": "1", "epsilon0": "1", "m1": "9", "m2": "9"}
        )


@pytest.mark.parametrize("squared", [False, True])
def test_lemma_a_1_by_monte_carlo(squared, generator):
    """Sums of a1·a2·I·h and of a1²·I·h with h = 1, drawn 20,000 times."""
    m = 3
    first, second, n = (torch.randn(20_000, m, generator=generator, dtype=torch.float64) for _ in range(3))
    factor = first if squared else second
    sums = (first * factor * (n >= 0)).sum(1) - (m / 2 if squared else 0)
    for B in (5.0, 4.0, 3.5):
        found = lemma_a_1(m, 1.0, B)
        measured = float((sums.abs() >= found.terms["deviation"]).double().mean())
        assert measured <= found.value < 1
    assert found.terms["deviation"] == pytest.approx(3.5 * (math.sqrt(m) + 3.5))
    assert lemma_a_1(m, 1.0, 8.0).value == pytest.approx(4 * math.exp(-8))
    assert lemma_a_1(m, 1.0, 1.0).value == 1


def test_lemma_b_1_holds_of_the_constructed_network(generator):
    """Sin as a Taylor polynomial of degree 5, with the paper's gates and its C*."""
    m, epsilon_a, epsilon = 2**12, 0.5, 1e-6
    h = gated_hermite([0, 1, 0, -1 / 6, 0, 1 / 120], "window")
    axes = torch.eye(4, dtype=torch.float64)
    initialisation = Initialisation("layers", epsilon_a=epsilon_a)
    start = draw_parameters(
        TwoLayers(m, "hidden"), 4, 1, initialisation, generator=generator, dtype=torch.float64
    )
    term = Term(h, axes[0], axes[1], torch.ones(1, dtype=torch.float64))
    moved = movement(start, constructed_step(start, [term], epsilon_a))
    found = lemma_b_1("sin", 1, 1, epsilon, m, epsilon_a, degree=5)
    sizes = 2**1.75 + 4**1.75 / 6 + 6**1.75 / 120
    assert found.value == pytest.approx(1e4 * sizes / (epsilon_a * math.sqrt(m)))
    assert moved.frobenius < found.value
    assert math.log10(moved.largest_row) < found.terms["log10 largest row of W"]
    assert found.applies
    assert not lemma_b_1("sin", 1, 1, 0.1, m, epsilon_a, degree=5).applies
    C = of_linear(1, 0.01)
    linear = lemma_b_1("z", 2, 3, 0.01, 100, 0.5, c_star=STAR, c=2.0)
    assert 10 ** linear.terms["log10 largest row of W"] == pytest.approx(2 * 6 * C / 50)
