import json

import pytest

from widenet.theory.demand import Demand, all_met, factor_text, mpf_text
from widenet.theory.numbers import mpf


def test_a_demand_that_holds():
    demand = Demand("width m", 100, "≥", 50.0, "2n")
    assert demand.holds
    assert demand.log10_short == 0.0
    assert demand.sentence == "width m = 100 ≥ 2n = 50: holds."


def test_a_demand_that_is_missed_by_far():
    demand = Demand("width m", 10_000, "≥", mpf(10) ** 400, "n^100")
    assert demand.log10_short == pytest.approx(396)
    assert demand.sentence == "width m = 10,000 ≥ n^100 = 1e+400: does not hold, short by a factor of 10^396."
    record = demand.to_dict()
    assert record["need"] is None
    assert record["log10_need"] == pytest.approx(400)
    json.dumps(record, allow_nan=False)


def test_a_demand_from_above():
    demand = Demand("step η", 0.3, "≤", 0.1)
    assert demand.log10_short == pytest.approx(0.4771, abs=1e-4)
    assert demand.sentence.endswith("short by a factor of 3.")


def test_rounding_decides_nothing():
    """0.01 · 0.1 / 100 in binary is a little less than the 1e-5 that people type."""
    limit = mpf(0.01) * 0.1 / 100
    assert mpf(1e-5) > limit
    assert Demand("κ", 1e-5, "≤", limit).holds
    assert Demand("κ", 1.00001e-5, "≤", limit).holds is False
    assert Demand("n", 10**15 + 1, "≤", 10**15).holds is False
    assert Demand("m", 5, "≥", mpf("inf")).holds is False


def test_nothing_to_compare():
    demand = Demand("steps", None, "≥", 12)
    assert demand.holds is None
    assert demand.log10_short is None
    assert demand.sentence == "steps ≥ 12 is required."
    assert all_met([demand])
    assert not all_met([demand, Demand("σ", 0.0, ">", 0.0)])


def test_no_factor_leads_away_from_zero():
    demand = Demand("σ", 0.0, ">", 0.0)
    assert demand.holds is False
    assert demand.log10_short is None
    assert demand.sentence == "σ = 0 > 0: does not hold."


@pytest.mark.parametrize(
    ("value", "shown"),
    [(60_003, "60,003"), (56_123.4, "56,100"), (0.0125, "0.0125"), (3.14159e50, "3.14e+50"), (-2.0, "-2")],
)
def test_numbers_as_people_read_them(value, shown):
    assert mpf_text(value) == shown


@pytest.mark.parametrize(("log10", "shown"), [(0.5, "3.16"), (3.0, "1,000"), (46.2, "10^46")])
def test_factors_as_people_read_them(log10, shown):
    assert factor_text(log10) == shown
