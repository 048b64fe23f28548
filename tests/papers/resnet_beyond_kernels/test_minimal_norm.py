"""Figure 4: smallest norms at every error, and claims on made-up records."""

import math

from widenet.papers.curve import Curve
from widenet.papers.figure import Done
from widenet.papers.resnet_beyond_kernels.fig4a import FIG4A
from widenet.papers.resnet_beyond_kernels.fig4b import FIG4B
from widenet.papers.resnet_beyond_kernels.minimal_norm import (
    BY_HAND,
    IN_TEST,
    IN_TRAIN,
    SMALLEST,
    STATED,
    UNTOUCHED,
    ParitySettings,
    curves,
    plan,
)
from widenet.papers.run import run_figure
from widenet.papers.verdict import Verdict
from widenet.runs.trial import TrialResult

HELD, NOT_HELD, OPEN = Verdict.HELD, Verdict.NOT_HELD, Verdict.NOT_DECIDED
SMALL = ParitySettings(
    m=(200, 400),
    rates=(5.0,),
    decays=(0.0, 1e-4),
    n=50,
    d=16,
    epochs=2,
    held_out=40,
    seeds=2,
    hand_epochs=3,
)


def is_by_hand(trial):
    return trial["job"].endswith("CONSTRUCTED")


def by_hand(trial, scale=0.9):
    """A constructed net with `scale` times the error and the norm that the paper states."""
    place = SMALL.hand_decays.index(trial["decay"])
    error, norm = list(STATED.items())[place]
    return {"error": scale * error, "norm": scale * norm * math.sqrt(SMALL.d)}


def record_of(network_record, scale=0.9, test=(1.0, 1.2), frobenius=100.0):
    def made(trial):
        if is_by_hand(trial):
            return by_hand(trial, scale)
        small = trial["decay"] == 0  # fits well, with large weights
        error = 0.001 if small else 0.7
        return network_record(trial, test, train=[1.0, error], frobenius=frobenius if small else 20.0)

    return made


def test_the_plan_has_the_constructed_nets_and_a_grid_for_every_width():
    batches = plan(SMALL)
    assert [len(batch) for batch in batches] == [3, 3, 2, 2, 2, 2]
    assert all(map(is_by_hand, batches[0]))
    assert {trial["width"] for trial in batches[0]} == {400}
    assert {trial["data"] for trial in batches[2]} == {"parity6:n=50,d=16,seed=0"}
    assert {trial["network"] for trial in batches[2]} == {"2layer-biasfree-hidden"}
    assert {trial["initialisation"]["name"] for trial in batches[2]} == {"signed"}
    assert {trial["seed"] for batch in batches[-2:] for trial in batch} == {1}


def test_norms_are_the_smallest_that_reach_an_error(network_record):
    trials = [trial for batch in plan(SMALL) for trial in batch]
    made = record_of(network_record)
    found: dict[str, Curve] = {
        curve.name: curve
        for curve in curves(SMALL, [Done(trial, TrialResult(made(trial))) for trial in trials])
    }
    assert found[IN_TRAIN].at(1.0).best == (20.0, 20.0)
    assert found[IN_TRAIN].at(0.69).best == (100.0, 100.0)
    assert found[IN_TRAIN].at(0.011).best == (100.0, 100.0)
    assert found[IN_TEST].at(1.0).best == (math.inf, math.inf)  # 1.2 at the last epoch
    best, last = found[SMALLEST].points
    assert (best.x_by_seed, last.x_by_seed) == ((1.0, 1.0), (1.2, 1.2))
    assert [point.x_by_seed[0] for point in found[BY_HAND].points] == [0.9 * error for error in STATED]


def test_claims_hold_where_the_numbers_are_as_in_the_paper(verdicts, network_record):
    assert verdicts(FIG4A, SMALL, record_of(network_record)) == [HELD, HELD, HELD, HELD]


def test_each_claim_fails_where_its_numbers_do(verdicts, network_record):
    assert verdicts(FIG4A, SMALL, record_of(network_record, scale=1.1))[0] is NOT_HELD
    learned = record_of(network_record, test=(0.8, 0.8))
    assert verdicts(FIG4A, SMALL, learned)[1] is HELD
    assert verdicts(FIG4B, SMALL, learned)[1] is NOT_HELD
    passing = verdicts(FIG4A, SMALL, record_of(network_record, test=(0.6, 1.2)))  # at its best epoch only
    assert passing[1] is OPEN
    assert verdicts(FIG4A, SMALL, record_of(network_record, frobenius=21.0))[2] is NOT_HELD


def test_what_validation_rows_choose_is_judged_on_test_rows_that_nothing_was_chosen_on(
    verdicts, network_record
):
    made = record_of(network_record)

    def misled(trial):
        """One net has a small test error at an epoch that validation rows do not choose."""
        if is_by_hand(trial):
            return made(trial)
        return network_record(trial, (0.5, 0.9), train=(1.0, 0.9), validation=(0.8, 0.7), frobenius=40.0)

    assert verdicts(FIG4A, SMALL, misled) == [HELD, OPEN, HELD, HELD]
    trials = [trial for batch in plan(SMALL) for trial in batch]
    found = curves(SMALL, [Done(trial, TrialResult(misled(trial))) for trial in trials])
    (chosen,) = next(curve for curve in found if curve.name == UNTOUCHED).points
    assert (chosen.x_by_seed, chosen.best) == ((0.9, 0.9), (40.0, 40.0))
    both = record_of(network_record, test=(0.6, 0.6))
    assert verdicts(FIG4A, SMALL, both)[3] is NOT_HELD


def test_failures_and_diverged_runs(verdicts, network_record):
    made = record_of(network_record)

    def diverged(trial):
        return made(trial) if is_by_hand(trial) else network_record(trial, [1.0], diverged=True)

    assert verdicts(FIG4A, SMALL, diverged) == [HELD, OPEN, OPEN, OPEN]
    failing = verdicts(FIG4A, SMALL, lambda trial: None if is_by_hand(trial) else made(trial))
    assert failing == [OPEN, HELD, OPEN, HELD]
    first = next(trial for batch in plan(SMALL) for trial in batch if not is_by_hand(trial))
    partly = verdicts(FIG4A, SMALL, lambda trial: None if trial == first else made(trial))
    assert partly == [HELD, OPEN, OPEN, OPEN]


def test_norms_beside_nets_that_were_not_constructed_decide_nothing(verdicts, network_record):
    assert verdicts(FIG4A, SMALL, record_of(network_record, scale=1.1))[2] is OPEN


def test_a_tiny_figure_runs():
    result = run_figure(FIG4B, "quick", SMALL)
    assert not result.failures
    assert all(value > 0 for value in result.curves[0].points[0].best)
