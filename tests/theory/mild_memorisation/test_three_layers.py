import math

import pytest

from widenet.theory.mild_memorisation.descent import theorem4
from widenet.theory.mild_memorisation.random_layer import lemma14, lemma19, lemma20, proven_sigma
from widenet.theory.mild_memorisation.three_layers import theorem2, theorem5, theorem6


def test_theorem_5_puts_the_lemmas_together():
    """Each of the three lemmas has a third of δ, so that together they fail with probability δ."""
    n, d, p, v, epsilon, delta = 50, 400, 2, 0.01, 0.1, 0.06
    found = theorem5(n, d, p, v, epsilon, delta, C=3.0)
    sigma, norm = proven_sigma(n, d, 16, p, v, 0.02 / (3 * p)), lemma14(n, d, 16, p, 1.0, v, 0.02)
    steps = theorem4(n, 16, 34, norm.value, 1.0, sigma, 0.25, epsilon, 0.02)
    assert found.applies
    assert found.log10 == pytest.approx(steps.log10, rel=1e-9)
    assert (found.terms["k"], found.terms["r"]) == (16, 34)
    assert "δ is shared: 0.02 each for Lemma 13, Lemma 14 and Theorem 4." in found.why


def test_theorem_6_puts_the_lemmas_together():
    found = theorem6(20, 10, 60, 1, 0.3, 0.1, 0.06)
    sigma, norm = lemma19(10, 60, 1, 0.3, 0.02), lemma20(10, 60, 1, 1.0, 0.02)
    steps = theorem4(20, 60, 122, norm.value, 1.0, sigma.value, 0.25, 0.1, 0.02)
    assert found.applies
    assert found.log10 == pytest.approx(steps.log10, rel=1e-9)


def test_steps_grow_as_the_noise_shrinks():
    """As σ_z⁻⁶, where the noise is too small to lengthen the rows; σ_z has the factor v at p = 1."""
    few, many = (theorem5(100, 200, 1, v, 0.1, 0.05).log10 or 0 for v in (1e-10, 1e-12))
    assert (many - few) / 2 == pytest.approx(6, abs=0.5)


def test_too_few_directions_give_no_number():
    found = theorem5(1000, 30, 2, 0.01, 0.1, 0.05)
    assert found.applies is False
    assert found.value == math.inf
    assert found.log10 is None
    assert "does not hold" in found.why[1]


def test_widths_grow_like_the_root_of_the_rows():
    assert theorem2(60_000, 784, 2).value == 982
    assert theorem2(60_000, 784, 2).applies
    assert theorem2(60_000, 100, 2).applies is False
