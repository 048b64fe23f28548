"""Inequality (13) on data, both sides by other means."""

import math

import pytest
import torch
from mpmath import mp

from widenet.base.errors import InputError
from widenet.testing import exact_h_infinity, unit_rows
from widenet.theory.fine_grained.learnable import corollary_6_2
from widenet.theory.fine_grained.target_bound import PowerTarget, equation_13, label_norm


def test_left_side_is_the_exact_one(generator):
    X = unit_rows(12, 4, generator=generator)
    y = torch.rand(12, generator=generator, dtype=torch.float64)
    lower, upper = label_norm(X, y)
    with mp.workdps(40):
        solved = mp.lu_solve(exact_h_infinity(X), mp.matrix(y.tolist()))
        exact = float(mp.sqrt(mp.fdot(y.tolist(), solved)))
    assert upper is not None
    assert lower <= exact <= upper
    assert upper - lower < 1e-5 * exact


def test_target_and_right_side_are_those_of_the_corollary(generator):
    betas = torch.randn(3, 5, generator=generator, dtype=torch.float64)
    target = PowerTarget((1, 2, 6), (0.5, -2.0, 1.5), betas)
    X = unit_rows(4, 5, generator=generator)
    each = [
        sum(
            a * sum(float(b) * float(v) for b, v in zip(beta, x, strict=True)) ** p
            for p, a, beta in zip(target.powers, target.alphas, betas, strict=True)
        )
        for x in X
    ]
    assert target(X).tolist() == pytest.approx(each)
    norms = betas.norm(dim=1).tolist()
    stated = corollary_6_2((1.0, 2.0, 6.0), (0.5, -2.0, 1.5), norms)
    assert float(target.bound) == pytest.approx(stated.terms["√M_g"])


@pytest.mark.parametrize("data", ["digits", "three-sines"])
def test_inequality_holds_on_data(data):
    found = equation_13(data, (1.0, 2.0, 4.0), (1.0, -0.5, 2.0), (0.7, 1.3, 1.0), n=80, seed=4)
    assert found.applies
    assert found.terms["√(yᵀH⁻¹y) at least"] <= found.value <= found.terms["3 Σ p|α|‖β‖^p"]
    assert found.terms["3 Σ p|α|‖β‖^p"] == pytest.approx(3 * (0.7 + 2 * 0.5 * 1.3**2 + 4 * 2))
    assert found.terms["left over right side"] > 0.01


def test_odd_powers_may_break_it():
    """x³ is not in H∞'s series: more rows make the left side grow past any bound of that kind."""
    few, many = (equation_13("three-sines", (3.0,), (1.0,), (1.0,), n=n) for n in (20, 400))
    assert many.value > 1.5 * few.value
    assert many.applies is False
    assert "neither 1 nor even" in many.why[-1]


def test_repeated_rows_leave_it_open():
    found = equation_13("resnet-hard:d=6,k=3,n=200", n=200)
    assert found.applies is None
    assert found.why == ("Undecided: the left side is bounded below only, as λ_min(H∞) > 0 is not proven.",)
    assert math.isfinite(found.value)


def test_terms_must_be_complete():
    with pytest.raises(InputError, match="2 powers, 1 weights and 2 norms"):
        equation_13("digits", (1.0, 2.0), (1.0,), (1.0, 1.0))
