"""The six properties of Lemma A.4, by integrals in mpmath over the pieces between the ends."""

from itertools import pairwise

import mpmath
import pytest
import torch
from torch.testing import assert_close

from widenet.base.errors import InputError
from widenet.theory.beyond_two_layers.intervals import Partition, interval_partition, lemma_a_4
from widenet.theory.names import entry_by_name

TAU = 0.01
MEANS = (-1.0, -0.4, -0.0051, 0.0, 0.001, 0.0045, 0.0062, 0.0064, 0.02, 0.7, 1.0)


def partition(y: float, tau: float = TAU) -> Partition:
    return interval_partition(torch.tensor([y], dtype=torch.float64), tau)


def integrals(found: Partition) -> dict[str, float]:
    """P(g ∈ I), P(s = 1) − P(s = −1) and E[s·g; g ∈ I], with s taken in the middle of each piece."""
    ends = [float(end) for end in (found.low, found.high, found.inner, found.turn) if not end.isnan()]
    cuts = sorted({0.0, *ends, *(-end for end in ends)})
    total = {"share": mpmath.mpf(0), "balance": mpmath.mpf(0), "mean": mpmath.mpf(0)}
    for low, high in pairwise(cuts):
        sign = float(found.signs(torch.tensor([(low + high) / 2], dtype=torch.float64)))
        mass = mpmath.ncdf(high) - mpmath.ncdf(low)
        total["share"] += abs(sign) * mass
        total["balance"] += sign * mass
        total["mean"] += sign * (mpmath.npdf(low) - mpmath.npdf(high))
    return {name: float(value) for name, value in total.items()}


@pytest.mark.parametrize("tau", [TAU, 1e-4])
@pytest.mark.parametrize("y", MEANS)
def test_shares_signs_and_means(y, tau):
    found = integrals(partition(y, tau))
    assert found["share"] == pytest.approx(tau, rel=1e-9)
    assert found["balance"] == pytest.approx(0, abs=1e-12)
    assert found["mean"] / tau == pytest.approx(y, abs=1e-9)


@pytest.mark.parametrize("y", MEANS)
def test_ranges_and_sets(y):
    """Properties 1 and 5: s is 0 outside of I, which is within [−2, 2], and s·g ranges over at most 10τ."""
    found, g = partition(y), torch.linspace(-3, 3, 600_001, dtype=torch.float64)
    signs = found.signs(g)
    assert set(signs.unique().tolist()) == {-1.0, 0.0, 1.0}
    assert float(g[signs != 0].abs().max()) < 2
    products = (signs * g)[signs != 0]
    width = float(products.max() - products.min())
    assert width <= 10 * TAU
    assert lemma_a_4(y).value == pytest.approx(width, abs=1e-4)
    assert lemma_a_4(y).applies


def test_sets_move_no_faster_than_their_means():
    """Property 6: |I(y1) △ I(y2)| ≤ O(|y2 − y1|), measured on a grid, the two kinds of set included."""
    y = torch.linspace(-0.05, 1, 106, dtype=torch.float64)
    g = torch.linspace(-2, 2, 40_001, dtype=torch.float64)
    inside = interval_partition(y[:, None], TAU).signs(g) != 0
    apart = (inside[1:] != inside[:-1]).sum(1) * float(g[1] - g[0])
    assert float(apart.max()) / float(y[1] - y[0]) < 4.1


def test_the_papers_own_interval_would_miss_the_mean():
    """With E[|g| | |g| ≤ e] = y, as printed, E[s·g | g ∈ I] is y·P(|g| ≤ e)/τ."""
    y = mpmath.mpf("0.003")
    e = mpmath.findroot(
        lambda e: 2 * (mpmath.npdf(0) - mpmath.npdf(e)) / mpmath.erf(e / mpmath.sqrt(2)) - y, 0.006
    )
    printed = y * mpmath.erf(e / mpmath.sqrt(2)) / TAU
    assert float(printed) < 0.5 * float(y)
    assert float(partition(0.003).inner) > float(e)
    assert any("below y" in note for note in lemma_a_4(0.003).why)
    assert not any("below y" in note for note in lemma_a_4(0.3).why)


def test_opposite_means_have_opposite_signs():
    g = torch.linspace(-2, 2, 4001, dtype=torch.float64)
    for y in (0.003, 0.6):
        assert_close(partition(y).signs(g), -partition(-y).signs(g))


def test_what_is_out_of_range_gets_a_sentence():
    entry = entry_by_name("beyond-lemma-a.4")
    for given in ({"y": "1.1"}, {"y": "0.5", "tau": "0.02"}):
        with pytest.raises(InputError, match="does not fit"):
            entry(given)
