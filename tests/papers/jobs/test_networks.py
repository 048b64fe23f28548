"""Networks of a figure's trials: those that the trainer gives, whatever company they are in."""

import torch

from widenet.networks.names import network_by_name
from widenet.papers.jobs.draws import draw_shape, draws
from widenet.papers.jobs.job import Desk
from widenet.papers.jobs.networks import NETWORKS, network_trial, rate_and_decay
from widenet.papers.plan import pieces
from widenet.study.speed import Speed
from widenet.training.rows import as_rows
from widenet.training.settings import TrainingSettings
from widenet.training.together import train_together

SPEED = Speed(single=1e11, double=5e10, bytes=1e10)
DATA = "resnet-cube:n=40,d=8,seed=3"
GRID = [TrainingSettings(rate=rate, decay=0.01, epochs=3, seed=3) for rate in (0.05, 0.1, 1e6)]
TRIALS = [network_trial(DATA, 30, "3resnet-all", 10, each) for each in GRID]


def test_trials_are_the_trainers_runs():
    rows = draws(DATA, 30)
    train, validation, test = (
        as_rows(each.X, each.Y, torch.float32) for each in (rows.train, rows.validation, rows.test)
    )
    run = train_together(network_by_name("3resnet-all", 10), train, GRID[:1], test=test, fewest=2)[0]
    record = next(iter(NETWORKS.work(TRIALS[:1], Desk()))).record
    assert record["test_error"] == run.test_error
    validated = train_together(network_by_name("3resnet-all", 10), train, GRID[:1], test=validation, fewest=2)
    assert record["validation_error"] == validated[0].test_error


def test_a_run_is_the_same_in_any_company():
    together = [each.record for each in NETWORKS.work(TRIALS, Desk())]
    alone = [next(iter(NETWORKS.work([trial], Desk()))).record for trial in TRIALS]
    for first, second in zip(together, alone, strict=True):
        assert {**first, "seconds": 0} == {**second, "seconds": 0}


def test_wide_networks_are_trained_a_few_at_a_time():
    wide = [network_trial(DATA, 30, "3layer-all", 1000, each) for each in GRID]
    assert (NETWORKS.together(TRIALS[0]), NETWORKS.together(wide[0])) == (2**23 // (3 * 180), 2)
    planned = pieces([TRIALS, wide], 1, SPEED)
    assert sorted(piece.places for piece in planned) == [(0, 1, 2), (3, 4), (5,)]


def test_a_run_that_diverged_has_no_errors():
    record = list(NETWORKS.work(TRIALS, Desk()))[2].record
    (run,) = rate_and_decay(record)
    assert run.tried == {"rate": 1e6, "decay": 0.01}
    assert run.test == ()


def test_rows_of_one_seed_are_independent():
    rows = draws(DATA, 40)
    assert draw_shape(DATA) == (40, 8, 4)
    assert not torch.equal(rows.train.X, rows.test.X)
    assert not torch.equal(rows.validation.X, rows.test.X)
    assert torch.equal(rows.train.X, draws("resnet-cube:n=40,d=8,seed=3", 50).train.X)


def test_costs_grow_with_what_is_done():
    wider = [network_trial(DATA, 30, "3layer-all", 1000, GRID[0])]
    assert NETWORKS.seconds(wider, SPEED) > NETWORKS.seconds(TRIALS[:1], SPEED) > 0
    assert NETWORKS.seconds(TRIALS, SPEED) > NETWORKS.seconds(TRIALS[:1], SPEED)
    last = [{**wider[0], "network": "3layer-last"}]
    assert NETWORKS.seconds(last, SPEED) < NETWORKS.seconds(wider, SPEED)
