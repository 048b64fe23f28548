"""Figures 1 and 2: their plans, and their claims on made-up records of both kinds."""

from dataclasses import replace

import pytest

from widenet.papers.beyond_two_layers.comparison import SphereComparison
from widenet.papers.beyond_two_layers.fig1a import FIG1A
from widenet.papers.beyond_two_layers.fig1b import FIG1B
from widenet.papers.beyond_two_layers.fig2a import FIG2A
from widenet.papers.beyond_two_layers.fig2b import FIG2B
from widenet.papers.run import run_figure
from widenet.papers.verdict import Verdict

HELD, NOT_HELD, NOT_DECIDED = Verdict.HELD, Verdict.NOT_HELD, Verdict.NOT_DECIDED
SMALL = SphereComparison(
    m=(10, 20), n=(40,), rates=(1.0, 0.5), decays=(1e-4,), epochs=3, held_out=30, seeds=2
)
BY_N = replace(SMALL, m=(10,), n=(40, 80))
# Errors at m = 10 of what the paper draws; wider is better.
AS_CLAIMED = {"3layer-hidden": 1.0, "2layer-hidden": 5.0, "3layer-last": 9.0, "2layer-last": 20.0}


def is_limit(trial):
    return trial["job"].endswith("LIMITS")


@pytest.fixture
def record_of(network_record, kernel_record):
    """Records with the errors of a table; kernels have those of their network, and 7 if it has no other."""

    def by_error(errors, of_ntk=7.0, of_exact=None):
        def made(trial):
            if is_limit(trial):
                errors_by_decay = [1.0 for _ in trial["decays"]]
                return dict.fromkeys(("decays", "validation", "test"), errors_by_decay)
            is_kernel, name = trial["job"].endswith("KERNELS"), trial["network"]
            if is_kernel and name.endswith("hidden"):
                return kernel_record(trial, of_ntk)
            error = errors[name] * 10 / trial["width"]
            if is_kernel:
                return kernel_record(trial, error if of_exact is None else of_exact)
            worse = 0.0 if trial["rate"] in (5.0, 0.5 / trial["width"]) else 1.0
            return network_record(trial, [error + worse + 1, error + worse])

        return made

    return by_error


@pytest.mark.parametrize(("figure", "concept"), [(FIG1A, "three-sines"), (FIG2A, "three-tanhs")])
def test_the_plan_has_every_method_width_and_seed(figure, concept):
    plan = figure.plan(SMALL)
    assert len(plan) == 8 * 2 * 2 + 4 * 2 * 2  # methods, widths, seeds; limits at both ends of the axis
    everything = [trial for batch in plan for trial in batch]
    assert {trial["data"] for trial in everything} == {f"{concept}:n=40,seed={seed}" for seed in (0, 1)}
    trials = [trial for trial in everything if not is_limit(trial)]
    rates = {(each["network"], each["width"], each["rate"]) for each in trials if "rate" in each}
    for network in ("3layer-hidden", "2layer-hidden"):
        assert {(network, m, value / m) for m in (10, 20) for value in (1.0, 0.5)} <= rates
    assert {rate for name, _, rate in rates if name == "3layer-last"} == set(SMALL.last_rates)  # at every m
    assert {trial["initialisation"]["name"] for trial in trials} == {"layers"}


def test_limits_start_where_networks_do():
    """The last layer is solved from 0; the other layers move from outputs that are drawn by seed."""
    limits = {
        (each["kernel"], each["start"], each["seed"])
        for batch in FIG1A.plan(SMALL)
        for each in batch
        if is_limit(each)
    }
    assert limits == {
        *((f"relu{depth}-bias-last", "", 0) for depth in (2, 3)),
        *(
            (f"relu{depth}-bias-hidden", f"relu{depth}-bias-last", seed)
            for depth in (2, 3)
            for seed in (0, 1)
        ),
    }


@pytest.mark.parametrize("figure", [FIG1B, FIG2B])
def test_the_plan_has_every_number_of_samples(figure):
    sizes = {trial["data"].split(",")[0].partition(":")[2] for batch in figure.plan(BY_N) for trial in batch}
    assert sizes == {"n=40", "n=80"}


def test_claims_hold_where_the_numbers_are_as_in_the_paper(verdicts, record_of):
    assert set(verdicts(FIG1A, SMALL, record_of(AS_CLAIMED))) == {HELD}
    assert set(verdicts(FIG1B, BY_N, record_of(AS_CLAIMED))) == {HELD}


def test_each_claim_fails_where_its_numbers_do(verdicts, record_of):
    three_layers_behind = verdicts(FIG1A, SMALL, record_of({**AS_CLAIMED, "3layer-hidden": 8.0}))
    assert three_layers_behind[0] is NOT_HELD
    last_ahead = verdicts(FIG1A, SMALL, record_of({**AS_CLAIMED, "2layer-last": 3.0}))
    assert last_ahead == [HELD, NOT_HELD, NOT_HELD, NOT_HELD, HELD, HELD]
    last_near = verdicts(FIG1A, SMALL, record_of({**AS_CLAIMED, "2layer-last": 8.0}))
    assert last_near == [HELD, HELD, HELD, NOT_HELD, HELD, HELD]
    exact_ahead = verdicts(FIG1A, SMALL, record_of(AS_CLAIMED, of_exact=1.0))
    assert exact_ahead == [HELD, HELD, NOT_HELD, HELD, HELD, HELD]
    ntk_ahead = verdicts(FIG1A, SMALL, record_of(AS_CLAIMED, of_ntk=1.5))
    assert ntk_ahead == [HELD, HELD, HELD, HELD, NOT_HELD, HELD]


def test_wider_must_be_better(verdicts, record_of, network_record):
    def flat(trial):
        made = record_of(AS_CLAIMED)(trial)
        if trial.get("network") == "3layer-hidden" and trial["job"].endswith("NETWORKS"):
            return network_record(trial, [0.5 * trial["width"] / 10])
        return made

    assert verdicts(FIG1A, SMALL, flat)[-1] is NOT_HELD


def test_seeds_that_disagree_and_failures_decide_nothing(verdicts, record_of):
    made = record_of(AS_CLAIMED)

    def disagreeing(trial):
        other = trial["seed"] == 1 and trial.get("network") == "3layer-hidden"
        return record_of({**AS_CLAIMED, "3layer-hidden": 30.0})(trial) if other else made(trial)

    assert verdicts(FIG1A, SMALL, disagreeing)[0] is NOT_DECIDED
    failing = verdicts(
        FIG1A, SMALL, lambda trial: None if trial.get("network") == "2layer-hidden" else made(trial)
    )
    assert failing[0] is NOT_DECIDED


def test_a_tiny_figure_runs():
    result = run_figure(FIG1B, "quick", replace(BY_N, seeds=1, epochs=1, kernel_decays=(1e-2,)))
    assert not result.failures
    assert [curve.name for curve in result.curves][:3] == ["3layer", "2layer", "3layer(last)"]
    assert all(0 < value < 1e3 for curve in result.curves for point in curve.points for value in point.best)
    assert result.curves[0].at(80).chosen[0].keys() == {"rate", "decay"}
