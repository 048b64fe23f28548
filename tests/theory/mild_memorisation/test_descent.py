import math

import pytest
from mpmath import mp

from widenet.theory.mild_memorisation.descent import (
    pgd_parameters,
    pgd_thresholds,
    theorem1,
    theorem3,
    theorem4,
)
from widenet.theory.mild_memorisation.landscape import lemma1, lemma5

SMALL = {"n": 300, "d": 100, "B": 1.0, "Y": 2.0, "sigma": 0.1, "f0": 0.3, "epsilon": 1e-3}


def test_thresholds_are_the_first_line_of_the_algorithm():
    dim, ell, rho, eps, c, delta, fall = 500, 40.0, 7.0, 1e-3, 0.2, 0.01, 1.5
    found = pgd_thresholds(dim, ell, rho, eps, c, delta, fall)
    with mp.workdps(30):
        chi = 3 * max(mp.log(dim * ell * fall / (c * mp.mpf(eps) ** 2 * delta)), 4)
        expected = (
            chi,
            c / ell,
            mp.sqrt(c) * eps / (chi**2 * ell),
            mp.sqrt(c) * eps / chi**2,
            c / chi**3 * mp.sqrt(mp.mpf(eps) ** 3 / rho),
            chi / c**2 * ell / mp.sqrt(rho * mp.mpf(eps)),
        )
    actual = (found.chi, found.eta, found.radius, found.g_thres, found.f_thres, found.t_thres)
    assert actual == pytest.approx(tuple(float(value) for value in expected), rel=1e-12)


def test_logarithm_has_a_least_value():
    assert pgd_thresholds(1, 1.0, 1.0, 1.0, 0.5, 0.9, 1.0).chi == 12.0


@pytest.mark.parametrize(("eps", "fall"), [(1e-3, 1.5), (0.9, 1e-3)])
def test_steps_cover_the_slowest_way_down(eps, fall):
    """Algorithm 1 on a loss that falls in no step and no phase by more than it must, phase by phase."""
    dim, ell, rho, delta, c = 500, 40.0, 7.0, 0.01, 0.3
    at = pgd_thresholds(dim, ell, rho, eps, c, delta, fall)
    phase = math.ceil(at.t_thres) + 1  # steps t_noise, …, t_noise + t_thres
    num_phases = math.floor(fall / at.f_thres) + 1  # the last one brings nothing and ends it
    left = fall - (num_phases - 1) * at.f_thres
    slowest = num_phases * phase + math.floor(left / (at.eta * at.g_thres**2 / 2))
    found = theorem3(dim, ell, rho, eps, delta, fall, c)
    assert slowest <= found.value <= slowest * (1 + 1e-9) + phase
    assert found.applies


def test_parameters_lead_to_the_loss_that_is_wanted():
    chosen = pgd_parameters(**SMALL)
    assert math.sqrt(chosen.rho * chosen.epsilon) == pytest.approx(chosen.gamma)
    assert lemma1(300, 100, 202, 0.1, 2 * chosen.gamma).value == pytest.approx(1e-3)
    smooth = lemma5(1.0, 2.0, chosen.gamma, chosen.ball)
    assert smooth.value == pytest.approx(chosen.ell)
    assert smooth.terms["ρ"] == pytest.approx(chosen.rho)
    assert chosen.rho == pytest.approx(6 * math.sqrt(2 * 1.3) * (300 * 100 / (0.01 * 1e-3)) ** 0.25)


def test_steps_are_those_of_the_statement():
    """72 of the proof and c⁻³ of Algorithm 1 stand for the O, χ⁴ for the logarithm."""
    B, c = 1.7, 0.1
    found = theorem4(r=202, delta=0.05, c=c, **(SMALL | {"B": B}))
    ell, chi = found.terms["ℓ"], found.terms["χ"]
    order = B**8 * ell * (300 * 100) ** 2.5 * 1.3**2 / (0.1**5 * 1e-3**2.5)
    assert found.value == pytest.approx(72 / c**3 * chi**4 * order, rel=1e-9)
    assert found.log10 == pytest.approx(math.log10(found.value))
    assert found.applies


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"r": 201}, "number of neurons r = 201 ≥ 2d + 2 = 202: does not hold"),
        ({"n": 5051}, "number of samples n = 5,051 ≤ d(d+1)/2 = 5,050: does not hold"),
        ({"c": 0.9}, "constant c = 0.9 ≤ 0.5: does not hold"),
    ],
)
def test_conditions_are_told(change, sentence):
    found = theorem4(**(SMALL | {"r": 202, "delta": 0.05} | change))
    assert found.applies is False
    assert any(line.startswith(sentence) for line in found.why)


def test_tiny_singular_values_go_by_logarithms():
    found = theorem4(r=202, delta=0.05, **(SMALL | {"sigma": 1e-120}))
    assert found.value == math.inf
    assert found.log10 is not None
    slope = (theorem4(r=202, delta=0.05, **(SMALL | {"sigma": 1e-121})).log10 or 0) - found.log10
    assert slope == pytest.approx(6, abs=0.1)  # σ⁻⁵ and another σ⁻¹ in ℓ


def test_informal_theorem_counts_neurons():
    assert theorem1(5050, 100).value == 202
    assert theorem1(5050, 100).applies
    assert theorem1(5051, 100).applies is False
