"""Figure 3: which run's norms are shown, and what counts as no real difference."""

import math

import pytest

from widenet.papers.beyond_two_layers.fig3a import FIG3A
from widenet.papers.beyond_two_layers.fig3b import FIG3B
from widenet.papers.beyond_two_layers.regularisers import RegulariserSettings, norm_ratio, plan, ratio_curves
from widenet.papers.figure import Done
from widenet.papers.run import run_figure
from widenet.papers.verdict import Verdict
from widenet.runs.trial import TrialResult

SMALL = RegulariserSettings(
    m=(10, 20), rates=(1.0, 0.5), decays=(1e-3,), two_four=(1e-4,), n=40, epochs=3, held_out=30, seeds=2
)


def is_penalised(trial):
    return trial["decay_two_four"] > 0


def test_the_plan_has_one_regulariser_at_a_time():
    trials = [trial for batch in plan(SMALL) for trial in batch]
    assert len(trials) == 2 * 2 * 2 * 2  # regularisers, widths, seeds, rates
    assert {(each["decay"], each["decay_two_four"]) for each in trials} == {(1e-3, 0.0), (0.0, 1e-4)}
    assert {each["rate"] * each["width"] for each in trials} == {1.0, 0.5}
    assert {each["network"] for each in trials} == {"3layer-hidden"}
    assert FIG3A.plan(SMALL) == FIG3B.plan(SMALL)


@pytest.mark.parametrize("rows", [[[3.0, 4.0]] * 4, [[5.0, 0.0], [0.0, 0.0], [0.0, 0.0]]])
def test_the_norm_ratio_is_1_for_equal_rows_and_m_for_one(rows):
    lengths = [math.hypot(*row) for row in rows]
    norms = {
        "frobenius": math.sqrt(sum(length**2 for length in lengths)),
        "two_four": sum(length**4 for length in lengths) ** 0.25,
    }
    expected = 1 if lengths[-1] else len(rows)
    assert norm_ratio({"width": len(rows), "moved": {"W": norms}}) == pytest.approx(expected)


def test_the_ratio_is_that_of_the_best_run(network_record):
    """Of rates 1 and ½ the first has the best epoch, the second the best last one."""
    trials = [trial for batch in plan(SMALL) for trial in batch]

    def made(trial):
        is_first = trial["rate"] * trial["width"] == 1.0
        errors, two_four = ([0.1, 9.0], 0.5) if is_first else ([0.2, 0.3], 0.6)
        return network_record(trial, errors, two_four=two_four)

    curves = ratio_curves(SMALL, [Done(trial, TrialResult(made(trial))) for trial in trials])
    assert [curve.name for curve in curves] == ["‖W‖_F", "‖W‖_{2,4}"]
    point = curves[0].at(20)
    assert point.best == pytest.approx((20 * 0.5**4,) * 2)
    assert point.last == pytest.approx((20 * 0.6**4,) * 2)
    assert point.validated == point.best


def test_runs_that_diverge_have_no_ratio(network_record):
    trials = [trial for batch in plan(SMALL) for trial in batch]
    records = [TrialResult(network_record(trial, [1.0], diverged=True)) for trial in trials]
    curves = ratio_curves(SMALL, list(map(Done, trials, records)))
    assert all(math.isnan(value) for value in curves[0].at(10).best)


@pytest.mark.parametrize(
    ("error", "expected"), [(1.2, Verdict.HELD), (1.5, Verdict.NOT_DECIDED), (2.0, Verdict.NOT_HELD)]
)
def test_errors_are_the_same_within_a_factor(error, expected, verdicts, network_record):
    def made(trial):
        return network_record(trial, [error if is_penalised(trial) else 1.0])

    assert verdicts(FIG3A, SMALL, made) == [expected]
    assert verdicts(FIG3A, SMALL, lambda trial: network_record(trial, [1.0, 1.0])) == [Verdict.HELD]


def test_ratios_are_the_same_within_a_factor(verdicts, network_record):
    def made(trial):
        return network_record(trial, [1.0], two_four=1.3 if is_penalised(trial) else 1.0)

    assert verdicts(FIG3B, SMALL, made) == [Verdict.NOT_HELD]

    def one_seed(trial):
        return network_record(trial, [1.0], two_four=1.3 if is_penalised(trial) and trial["seed"] else 1.0)

    assert verdicts(FIG3B, SMALL, one_seed) == [Verdict.NOT_DECIDED]


def test_a_diverged_regulariser_is_a_difference(verdicts, network_record):
    def made(trial):
        return network_record(trial, [1.0], diverged=is_penalised(trial))

    assert verdicts(FIG3A, SMALL, made) == [Verdict.NOT_HELD]
    assert verdicts(FIG3B, SMALL, made) == [Verdict.NOT_DECIDED]


def test_a_tiny_figure_runs():
    result = run_figure(FIG3B, "quick", SMALL)
    assert not result.failures
    assert all(
        1 <= value <= point.x for curve in result.curves for point in curve.points for value in point.best
    )
