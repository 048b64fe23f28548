"""Figures 2(a) and 2(b): curves and claims on made-up records, on both sides, and a tiny run."""

import math
from dataclasses import replace

import pytest

from widenet.papers.claim import judged_claim
from widenet.papers.figure import Done
from widenet.papers.figures import figure_by_name
from widenet.papers.run import run_figure
from widenet.papers.verdict import Verdict
from widenet.runs.trial import TrialResult

HELD, NOT_HELD, NOT_DECIDED = Verdict.HELD, Verdict.NOT_HELD, Verdict.NOT_DECIDED
FIGURE = figure_by_name("fine-grained/fig2b")
SETTINGS = replace(FIGURE.scales["quick"], portions=(0.0, 0.5, 1.0), net_portions=(0.0, 0.5, 1.0))
ONE_NET = replace(SETTINGS, net_portions=(0.5,))
WRONG = {0.0: 0.1, 0.5: 0.3, 1.0: 0.5}
COMPLEXITIES = (1.0, 2.0, 3.0)


def records(
    wrong=WRONG,
    complexities=COMPLEXITIES,
    seed_1=None,
    excess=0.2,
    diverged=False,
    settings=SETTINGS,
    net_wrong=None,
):
    """Errors of networks by portion, and complexities of both seeds."""
    rows = [list(complexities), list(seed_1 or complexities)]
    results = []
    for batch in FIGURE.plan(settings):
        for trial in batch:
            if "portions" in trial:
                errors = [[wrong[portion] for portion in settings.portions]] * 2
                l1 = [[value + excess for value in row] for row in errors]
                record = {"l1_errors": l1, "misclassified": errors, "complexities": rows}
            else:
                value = (net_wrong or wrong)[trial["portion"]]
                record = {"l1_errors": [1.0, value + excess], "misclassified": [0.5, value]}
                record["diverged"] = diverged
            results.append(Done(trial, TrialResult(record)))
    return results


def verdicts(done, settings=SETTINGS):
    curves = {curve.name: curve for curve in FIGURE.curves(settings, done)}
    return [judged_claim(claim, settings, curves).verdict for claim in FIGURE.claims]


def test_the_plan_has_the_limit_and_every_network():
    (limit,), *nets = FIGURE.plan(SETTINGS)
    assert (limit["n"], limit["portions"]) == (SETTINGS.n, list(SETTINGS.portions))
    assert {batch[0]["n"] for batch in nets} == {SETTINGS.n}
    assert [(batch[0]["seed"], batch[0]["portion"]) for batch in nets] == [
        (seed, portion) for seed in (0, 1) for portion in SETTINGS.net_portions
    ]


def test_curves_are_errors_at_the_end():
    found = {curve.name: curve for curve in FIGURE.curves(SETTINGS, records())}
    assert [point.best for point in found["classification error"].points] == [
        (0.1, 0.1),
        (0.3, 0.3),
        (0.5, 0.5),
    ]
    assert [name for name, curve in found.items() if curve.on_right] == ["complexity measure (10)"]
    assert sum(curve.style == "dashed" for curve in found.values()) == 2


def test_one_network_does_not_tell_a_trend_but_stands_beside_its_limit():
    done = records(settings=ONE_NET)
    assert verdicts(done, ONE_NET) == [HELD] * 5
    curves = {curve.name: curve for curve in FIGURE.curves(ONE_NET, done)}
    trend = judged_claim(FIGURE.claims[2], ONE_NET, curves)
    assert [each.what for each in trend.measured] == [
        "correlation of ℓ1 loss and complexity, m = ∞",
        "correlation of classification error and complexity, m = ∞",
    ]
    far = records(settings=ONE_NET, net_wrong={0.5: 0.6})
    assert verdicts(far, ONE_NET) == [HELD] * 4 + [NOT_HELD]


def test_claims_on_both_sides():
    assert verdicts(records()) == [HELD] * 5
    assert verdicts(records(complexities=(1.0, 1.1, 1.2)))[0] is NOT_HELD
    assert verdicts(records(complexities=(1.0, 4.0, 3.0)))[1] is NOT_HELD
    assert verdicts(records(wrong={0.0: 0.5, 0.5: 0.3, 1.0: 0.1}))[2] is NOT_HELD
    assert verdicts(records(excess=-0.05))[3] is not HELD


def test_seeds_that_disagree_decide_nothing():
    assert verdicts(records(seed_1=(1.0, 4.0, 3.0)))[1] is NOT_DECIDED


def test_networks_that_failed_or_diverged_decide_nothing_of_the_trend():
    done = records()
    failed = [done[0], *(Done(each.settings, None) for each in done[1:])]
    assert verdicts(failed) == [HELD, HELD, NOT_DECIDED, NOT_DECIDED, NOT_DECIDED]
    assert verdicts(records(diverged=True))[2] is NOT_DECIDED
    no_limits = [Done(done[0].settings, None), *done[1:]]
    assert verdicts(no_limits)[:3] == [NOT_DECIDED] * 3


@pytest.mark.usefixtures("small_images")
def test_a_tiny_run():
    tiny = {"portions": (0.0, 1.0), "net_portions": (1.0,), "n": 60, "num_test": 50, "m": 40, "steps": 10}
    settings = replace(FIGURE.scales["quick"], **tiny)
    result = run_figure(FIGURE, "quick", settings, num_workers=2)
    assert not result.failures
    assert all(math.isfinite(value) for curve in result.curves for value in curve.points[-1].best)
