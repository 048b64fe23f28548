"""Figures 1(a) to 1(d): plan, curves and claims on made-up records, on both sides."""

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
FIG1A = figure_by_name("fine-grained/fig1a")
SETTINGS = replace(FIG1A.scales["quick"], steps=10)
LOSSES = {0.0: (1.0, 0.1, 0.01), 1.0: (1.0, 0.8, 0.6), None: (1.0, 0.99, 0.98)}


def records(
    losses=LOSSES, predicted=None, random_of_seed_1=None, changed=0.01, figure=FIG1A, settings=SETTINGS
):
    """Trials of the plan with these losses at steps 0, 1 and 10, for both seeds by default."""
    predicted = predicted or [losses[0.0], losses[1.0], losses[1.0], losses[None]]
    results = []
    for batch in figure.plan(settings):
        for trial in batch:
            if "portion" not in trial:
                record = {"steps": [0, 1, 10], "predicted": predicted}
            else:
                found = losses[trial["portion"]]
                if trial["seed"] == 1 and trial["portion"] == 1.0 and random_of_seed_1:
                    found = random_of_seed_1
                steps = [0, 1, 10] if len(found) == 3 else [0, 1]
                record = {"steps": steps, "loss": list(found), "sign_changes": [0.0, changed]}
            results.append(Done(trial, TrialResult(record)))
    return results


def verdicts(figure, settings, done):
    curves = {curve.name: curve for curve in figure.curves(settings, done)}
    return [judged_claim(claim, settings, curves).verdict for claim in figure.claims]


def test_the_plan_has_every_kind_of_labels_for_every_seed():
    trials = [trial for batch in FIG1A.plan(SETTINGS) for trial in batch]
    found = [(trial["portion"], trial["seed"]) for trial in trials[1:]]
    assert found == [(portion, seed) for portion in (0.0, 1.0, None) for seed in (0, 1)]
    assert {trial["data"] for trial in trials} == {"mnist-2"}
    assert trials[0]["seeds"] == [0, 1]


def test_curves_are_losses_by_step_and_seed():
    found = {curve.name: curve for curve in FIG1A.curves(SETTINGS, records())}
    assert [(point.x, point.best) for point in found["random labels"].points] == [
        (0.0, (1.0, 1.0)),
        (1.0, (0.8, 0.8)),
        (10.0, (0.6, 0.6)),
    ]
    assert [curve.style for curve in found.values()] == ["line"] * 3 + ["dashed"] * 3 + ["numbers"] * 3
    signs = found["worst-case labels, signs that changed"]
    assert [(point.x, point.best) for point in signs.points] == [(10.0, (0.01, 0.01))]


def test_claims_are_held_where_true_is_fast_and_worst_is_slow():
    assert verdicts(FIG1A, SETTINGS, records()) == [HELD] * 4


def test_claims_are_not_held_where_it_is_the_other_way_round():
    turned = {0.0: LOSSES[1.0], 1.0: LOSSES[0.0], None: LOSSES[0.0]}
    assert verdicts(FIG1A, SETTINGS, records(turned, changed=0.3)) == [NOT_HELD, NOT_HELD, HELD, NOT_HELD]


def test_seeds_that_disagree_decide_nothing():
    done = records(random_of_seed_1=(1.0, 0.5, 0.001))
    assert verdicts(FIG1A, SETTINGS, done)[0] is NOT_DECIDED


def test_a_prediction_must_be_close_at_every_step():
    off = [(1.0, 0.5, 0.01), LOSSES[1.0], LOSSES[1.0], LOSSES[None]]
    assert verdicts(FIG1A, SETTINGS, records(predicted=off))[2] is NOT_HELD
    grown = [(1.0, math.inf, math.inf), LOSSES[1.0], LOSSES[1.0], LOSSES[None]]
    assert verdicts(FIG1A, SETTINGS, records(predicted=grown))[2] is NOT_HELD


def test_a_run_that_diverged_is_slower_than_any():
    diverged = {**LOSSES, 0.0: (1.0, 5e7)}
    found = verdicts(FIG1A, SETTINGS, records(diverged, [LOSSES[0.0], *[LOSSES[1.0]] * 2, LOSSES[None]]))
    assert found[0] is NOT_HELD


def test_failed_trials_decide_nothing():
    failed = [Done(each.settings, None) for each in records()]
    assert verdicts(FIG1A, SETTINGS, [records()[0], *failed[1:]])[0] is NOT_DECIDED
    assert verdicts(FIG1A, SETTINGS, [failed[0], *records()[1:]]) == [HELD, HELD, NOT_DECIDED, HELD]


FIG1C = figure_by_name("fine-grained/fig1c")
TWO_STEPS = replace(FIG1C.scales["quick"], steps=10)


def test_a_second_step_size_has_curves_and_a_claim_of_its_own():
    done = records(figure=FIG1C, settings=TWO_STEPS)
    found = {curve.name: curve for curve in FIG1C.curves(TWO_STEPS, done)}
    assert [name for name in found if name.startswith("true labels")] == [
        "true labels",
        "true labels, η = 0.006",
        "true labels, predicted",
        "true labels, η = 0.006, predicted",
        "true labels, signs that changed",
        "true labels, η = 0.006, signs that changed",
    ]
    assert found["true labels, η = 0.006"].style == "dashdot"
    assert found["true labels, η = 0.006, predicted"].style == "dotted"
    assert verdicts(FIG1C, TWO_STEPS, done) == [HELD] * 5
    half = len(done) // 2
    unlike = records(
        predicted=[(1.0, 0.5, 0.01), *[LOSSES[1.0]] * 2, LOSSES[None]], figure=FIG1C, settings=TWO_STEPS
    )
    only_first, only_second = [*unlike[:half], *done[half:]], [*done[:half], *unlike[half:]]
    assert verdicts(FIG1C, TWO_STEPS, only_first) == [HELD, HELD, NOT_HELD, HELD, HELD]
    assert verdicts(FIG1C, TWO_STEPS, only_second) == [HELD, HELD, HELD, HELD, NOT_HELD]


FIG1B = figure_by_name("fine-grained/fig1b")
N_2000 = replace(FIG1B.scales["quick"], seeds=2)


def spectrum(decay=0.5, true=(30.0, 0.01), random=((1.0, 1.0), (1.0, 1.1))):
    """Eigenvalues that fall by `decay`, and projections at first and at last."""
    index = list(range(1, 26))
    columns = [[first] * 20 + [last] * 5 for first, last in (true, *random)]
    eigenvalues = [100 * decay**i for i in range(25)]
    record = {"index": index, "eigenvalues": eigenvalues, "projections": columns}
    return [Done(FIG1B.plan(N_2000)[0][0], TrialResult(record))]


def test_alignment_claims_on_both_sides():
    assert verdicts(FIG1B, N_2000, spectrum()) == [HELD, HELD, HELD]
    assert verdicts(FIG1B, N_2000, spectrum(decay=0.99))[0] is NOT_HELD
    assert verdicts(FIG1B, N_2000, spectrum(true=(1.0, 1.0)))[1] is NOT_HELD
    assert verdicts(FIG1B, N_2000, spectrum(random=((9.0, 0.1), (9.0, 0.1))))[2] is NOT_HELD
    assert verdicts(FIG1B, N_2000, spectrum(random=((9.0, 0.1), (1.0, 1.0))))[2] is NOT_DECIDED


def test_eigenvalues_need_no_second_seed():
    one = replace(N_2000, seeds=1)
    found = verdicts(FIG1B, one, spectrum(random=((1.0, 1.0),)))
    assert found == [HELD, NOT_DECIDED, NOT_DECIDED]


def test_worst_labels_are_one_mark_on_the_left():
    *_, worst = FIG1B.curves(N_2000, spectrum())
    assert [(point.x, point.best) for point in worst.points] == [(2000.0, (2000**0.5,) * 2)]
    assert [curve.on_right for curve in FIG1B.curves(N_2000, spectrum())] == [True, False, False, False]


def test_a_failed_spectrum_decides_nothing():
    failed = [Done(FIG1B.plan(N_2000)[0][0], None)]
    assert verdicts(FIG1B, N_2000, failed) == [NOT_DECIDED] * 3


@pytest.mark.parametrize("name", ["fig1a", "fig1d"])
@pytest.mark.usefixtures("small_images")
def test_a_tiny_run(name):
    figure = figure_by_name(f"fine-grained/{name}")
    tiny = {"fig1a": {"n": 40, "m": 60, "steps": 8}, "fig1d": {"n": 60}}[name]
    result = run_figure(figure, "quick", replace(figure.scales["quick"], **tiny), num_workers=2)
    assert not result.failures
    assert all(math.isfinite(value) for curve in result.curves[:3] for value in curve.points[-1].best)
