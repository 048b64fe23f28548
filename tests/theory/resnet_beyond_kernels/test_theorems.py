"""Theorems of resnet-beyond-kernels against plain arithmetic and brute force."""

import itertools
import math

import pytest

from widenet.theory.resnet_beyond_kernels import theorems as resnet

CLASS = {"k": 2, "p_F": 1, "C_F": 30.0, "p_G": 4, "C_G": 5.0}


def test_theorem_1():
    alpha, delta = 0.01, 0.5
    found = resnet.theorem_1(**CLASS, alpha=alpha, delta=delta, OPT=0.1, c_T=3.0)
    assert found.value == pytest.approx(3 * (2 * 1 * 30) ** 2 / delta**2)
    assert found.terms["eta_w"] == delta
    assert found.terms["eta_v"] == pytest.approx(delta * (alpha * 4 * 5 / 30) ** 2)
    assert found.terms["largest alpha"] == pytest.approx(1 / 40)
    assert found.terms["least delta"] == pytest.approx(0.1 + (alpha * 40) ** 4 * 4)
    assert found.applies
    assert all(constant.hidden for constant in found.constants.values())


@pytest.mark.parametrize(("alpha", "delta"), [(0.03, 1e6), (0.02, 0.1)])
def test_theorem_1_outside_its_range(alpha, delta):
    found = resnet.theorem_1(**CLASS, alpha=alpha, delta=delta)
    assert found.applies is False
    assert any("does not hold" in sentence for sentence in found.why)


def test_theorem_1_with_complexities_beyond_a_float():
    found = resnet.theorem_1(1, 1, 1e300, 1, 1.0, 0.5, 1.0)
    assert found.value == math.inf
    assert found.log10 == pytest.approx(600)


def test_corollary_7_1():
    found = resnet.corollary_7_1(100, 50, 3, 0.1, c_risk=2.0)
    assert found.value == pytest.approx(9 * 100 / 1e-8)
    assert found.terms["risk"] == pytest.approx(2 * 1e-4 * 8)
    assert found.terms["largest alpha"] == pytest.approx(1 / 8)
    assert found.applies
    assert not resnet.corollary_7_1(100, 50, 3, 0.2).applies
    assert not resnet.corollary_7_1(100, 101, 3, 0.1).applies


@pytest.mark.parametrize("theorem", [resnet.theorem_2, resnet.theorem_3])
def test_theorems_2_and_3(theorem):
    num_functions = sum(1 for _ in itertools.combinations(range(40), 3))
    largest = num_functions // 1000
    inside, outside = theorem(60, 40, 3, largest, 0.3), theorem(60, 40, 3, largest + 1, 0.3)
    assert inside.value == pytest.approx(0.3**2 / 16)
    assert inside.terms["functions in the class"] == num_functions
    assert inside.terms["share of the class"] == 0.99
    assert inside.applies
    assert not outside.applies
    assert not theorem(30, 40, 3, 1, 0.3).applies
    assert not theorem(60, 40, 41, 1, 0.3).applies


def test_risks_below_a_float_go_by_logarithms():
    for found, quarter in (
        (resnet.theorem_2(60, 40, 3, 9, 1e-200), 16),
        (resnet.theorem_3(60, 40, 3, 9, 1e-200), 16),
        (resnet.theorem_2_conference(10_000, 4, 5, 1e-200), 4),
    ):
        assert found.value == 0.0
        assert found.log10 == pytest.approx(-400 - math.log10(quarter))


def test_theorem_2_of_the_conference_version():
    d, k, alpha = 10_000, 4, 0.3
    largest = d ** (k / 2) / math.log(d) ** k
    found = resnet.theorem_2_conference(d, k, int(largest), alpha)
    assert found.value == pytest.approx(alpha**2 / 4)
    assert found.terms["largest N"] == pytest.approx(largest)
    assert found.terms["least alpha"] == pytest.approx(d ** (-k / 4))
    assert found.applies
    assert not resnet.theorem_2_conference(d, k, int(largest) + 1, alpha).applies
    assert not resnet.theorem_2_conference(d, 3, 1, alpha).applies
    assert not resnet.theorem_2_conference(d, k, 1, 1e-5).applies


def test_fact_a3():
    found = resnet.fact_a3(**CLASS)
    assert found.terms["B_F"] == pytest.approx(math.sqrt(2) * 30)
    assert found.terms["L_G"] == pytest.approx(math.sqrt(2) * 20)
    assert found.value == pytest.approx(2 * 30 * 20)
    at_zero = math.sqrt(2) * 20  # the bound on ‖G(0)‖ that the last step leaves out
    assert found.terms["B_FG before the last step"] == pytest.approx(2 * 30 * 20 + at_zero)
    assert found.applies is None
