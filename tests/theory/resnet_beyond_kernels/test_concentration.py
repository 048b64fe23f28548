"""Propositions B.1 and B.4 and Lemma B.3, against exact laws and draws."""

import math

import numpy as np
import pytest
import torch
from mpmath import mp

from widenet.theory.resnet_beyond_kernels.concentration import (
    SIGN_CONSTANT,
    lemma_b3,
    proposition_b1,
    proposition_b4,
    sign_change_share,
)


@pytest.mark.parametrize(("m", "t"), [(1.0, 1.0), (7.0, 2.5), (400.0, 3.0)])
def test_lengths_of_gaussian_vectors(m, t, generator):
    found = proposition_b1(m, t)
    assert found.value == pytest.approx(m + 2 * math.sqrt(m * t) + 2 * t)
    exact = float(mp.gammainc(m / 2, found.value / 2, mp.inf, regularized=True))
    assert found.terms["failure probability, exactly"] == pytest.approx(exact)
    assert found.applies
    squares = torch.randn(40_000, int(m), generator=generator).square().sum(1)
    beyond = float((squares >= found.value).double().mean())
    assert beyond == pytest.approx(exact, abs=4 * math.sqrt(exact / 40_000))


@pytest.mark.parametrize("delta", [1e-4, 0.05, 0.4, 0.95])
def test_share_of_signs_is_that_of_the_integrals(delta):
    q = mp.findroot(lambda q: mp.quad(lambda z: 2 * z**2 * mp.npdf(z), [0, q]) - delta**2, delta ** (2 / 3))
    assert sign_change_share(delta) == pytest.approx(float(mp.erf(q / mp.sqrt(2))), rel=1e-9)


def test_share_of_signs_is_what_the_cheapest_changes_need(generator):
    m, delta = 200_000, 0.2
    costs = (torch.randn(m, generator=generator, dtype=torch.float64) ** 2 / m).sort().values
    changed = int((costs.cumsum(0) <= delta**2).sum())
    assert changed == pytest.approx(m * sign_change_share(delta), rel=0.01)
    assert proposition_b4(m, delta).value == pytest.approx(m * sign_change_share(delta))


def test_the_constant_is_never_exceeded():
    shares = [sign_change_share(delta) / delta ** (2 / 3) for delta in np.geomspace(1e-9, 1, 400)]
    assert max(shares) <= SIGN_CONSTANT * (1 + 1e-12)
    assert shares[0] == pytest.approx(SIGN_CONSTANT, rel=1e-6)
    assert sign_change_share(3.0) == 1.0
    assert proposition_b4(1e6, 0.1).terms["what O hides, for large m"] < SIGN_CONSTANT


def test_sums_of_products_stay_within_their_bound():
    """At B = 1 the bound on the chance is vacuous, and sums exceed the deviation at times."""
    found = lemma_b3(30, 1.0, num_draws=2000, seed=1)
    assert found.applies is False
    assert "vacuous" in found.why[0]
    assert found.value == pytest.approx(math.sqrt(30) + 1)
    rng = np.random.default_rng(0)
    n, a1, a2 = rng.normal(size=(3, 20_000, 30))
    product = np.abs((a1 * a2 * (n >= 0)).sum(1)) >= found.value
    square = np.abs((a1**2 * (n >= 0)).sum(1) - 15) >= found.value
    for name, share in (("products", product.mean()), ("squares", square.mean())):
        measured = found.terms[f"share of draws, {name}"]
        assert measured == pytest.approx(share, abs=5 * math.sqrt(share / 2000))
        assert 0 < share < 1
    far = lemma_b3(30, 5.0, L=2.0, num_draws=500)
    assert far.applies
    assert far.value == pytest.approx(10 * (math.sqrt(30) + 5))
    assert far.terms["failure probability at most"] == pytest.approx(4 * math.exp(-25 / 8))
    assert far.terms["share of draws, products"] <= far.terms["failure probability at most"]
