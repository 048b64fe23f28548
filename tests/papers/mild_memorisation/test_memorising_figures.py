"""Figures 2, 3, 4 and 6: curves and claims on made-up records, on both sides, and tiny runs."""

import math
from dataclasses import replace

import pytest

from widenet.papers.claim import judged_claim
from widenet.papers.figure import Done
from widenet.papers.figures import figure_by_name, figures_by_name
from widenet.papers.run import run_figure
from widenet.papers.verdict import Verdict
from widenet.runs.trial import TrialResult

HELD, NOT_HELD, NOT_DECIDED = Verdict.HELD, Verdict.NOT_HELD, Verdict.NOT_DECIDED
IMAGES = ("fig3a", "fig3b", "fig4a", "fig4b", "fig6")


def figure_of(name):
    return figure_by_name(f"mild-memorisation/{name}")


def records(figure, losses, bare=None, test=1.2):
    """Losses f of each seed at steps 5, 10, 15 and 20; `bare` are those without noise."""
    done = []
    for batch in figure.plan(figure.scales["quick"]):
        for trial in batch:
            is_bare = bare is not None and trial["noise"] == 0
            loss = (bare if is_bare else losses)[trial["seed"]]
            record = {"steps": [5, 10, 15, 20], "loss": loss, "test_clean": test}
            done.append(Done(trial, TrialResult(record)))
    return done


def verdicts(figure, done):
    settings = figure.scales["quick"]
    curves = {curve.name: curve for curve in figure.curves(settings, done)}
    return [judged_claim(claim, settings, curves).verdict for claim in figure.claims]


def both(last, middle=0.1):
    """The same losses for both seeds."""
    return [[1.0, 0.5, middle, last]] * 2


@pytest.mark.parametrize(
    ("name", "low"), [("fig2", 1e-12), ("fig3a", 1e-6), ("fig3b", 1e-5), ("fig4b", 1e-5)]
)
def test_a_loss_that_must_be_small(name, low):
    figure = figure_of(name)
    assert verdicts(figure, records(figure, both(low))) == [HELD]
    assert verdicts(figure, records(figure, both(0.01))) == [NOT_HELD]
    assert verdicts(figure, records(figure, [both(low)[0], both(0.01)[0]])) == [NOT_DECIDED]
    failed = [Done(each.settings, None) for each in records(figure, both(low))]
    assert verdicts(figure, failed) == [NOT_DECIDED]


def test_losses_on_images_are_mean_squared_errors():
    figure = figure_of("fig3a")
    loss, test = figure.curves(figure.scales["quick"], records(figure, both(1e-6)))
    assert loss.points[-1].best == (4e-6, 4e-6)
    assert (test.points[0].x, test.points[0].best, test.style) == (20.0, (1.2, 1.2), "marks")


def test_random_labels_with_and_without_noise():
    figure = figure_of("fig4a")
    noises = {trial["noise"] for batch in figure.plan(figure.scales["quick"]) for trial in batch}
    assert noises == {0.0, 0.01}
    assert verdicts(figure, records(figure, both(1e-5), both(0.1))) == [HELD, HELD]
    assert verdicts(figure, records(figure, both(0.1), both(0.1))) == [NOT_HELD, NOT_HELD]


def test_the_loss_that_stalls():
    figure = figure_of("fig6")
    assert verdicts(figure, records(figure, both(0.03, middle=0.05))) == [HELD, HELD, HELD]
    geometric = [[1.0, 0.1, 0.01, 1e-5]] * 2
    assert verdicts(figure, records(figure, geometric, test=9.0)) == [NOT_HELD, NOT_HELD, NOT_HELD]


def test_labels_and_layers_are_those_of_the_figure():
    trials = {name: figure_of(name).plan(figure_of(name).scales["paper"])[0][0] for name in IMAGES}
    assert {name: trial["portion"] for name, trial in trials.items()} == {
        "fig3a": 0.0,
        "fig3b": 0.0,
        "fig4a": 1.0,
        "fig4b": 1.0,
        "fig6": 0.0,
    }
    assert {name for name, trial in trials.items() if trial["k"]} == {"fig3b", "fig4b"}
    for trial in trials.values():
        assert (trial["n"], trial["r"], trial["batch"], trial["rate"]) == (60_000, 3000, 128, 0.003)
    three = trials["fig4b"]
    assert (three["components"], three["noise"], three["k"], three["std"]) == (100, 0.05, 750, 0.15)
    assert (trials["fig6"]["noise"], trials["fig3a"]["noise"]) == (0.0, 0.01)


@pytest.mark.parametrize("figure", figures_by_name("mild-memorisation"), ids=lambda figure: figure.name)
@pytest.mark.usefixtures("small_images")
def test_tiny_runs(figure):
    tiny = {"n": 40, "num_test": 20, "r": 20, "epochs": 3, "batch": 8, "components": 8, "k": 10, "steps": 15}
    quick = figure.scales["quick"]
    known = {name: value for name, value in tiny.items() if hasattr(quick, name)}
    result = run_figure(figure, "quick", replace(quick, **known), num_workers=2)
    assert not result.failures
    assert all(math.isfinite(value) for curve in result.curves for value in curve.points[-1].best)
