"""Networks as methods: chosen inside the training part, trained on all of it."""

from dataclasses import replace

import pytest
import torch

from widenet.compare import networks
from widenet.compare.folds import make_fold, outer_folds
from widenet.compare.networks import NetworkMethod, default_epochs
from widenet.compare.trial import run_trial
from widenet.compare.tuning import MOST_PILOT_ROWS, losses


@pytest.fixture
def small_grid(monkeypatch):
    monkeypatch.setattr(networks, "RATES", (0.2, 0.01))
    monkeypatch.setattr(networks, "DECAYS", (0.0,))


@pytest.mark.parametrize("name", ["2layer-all", "3resnet-hidden"])
def test_networks_learn(dataset, name, small_grid):
    fold = make_fold(dataset, outer_folds(dataset, 4, 1, seed=0)[0], seed=0)
    model = NetworkMethod(name, width=32, epochs=100).fit(fold.training, seed=0)
    classification = dataset.labels is not None
    error = losses(model.predict(fold.inputs), fold.Y, classification=classification).mean()
    constant = (fold.Y - fold.training.Y.mean(0)).square().sum(1).mean()
    assert float(error) < (0.25 if classification else 0.5 * float(constant))
    assert set(model.setting) == {"rate", "decay"}


def test_only_training_rows_are_swept_over(binary, small_grid, monkeypatch):
    fold = make_fold(binary, outer_folds(binary, 4, 1, seed=0)[0], seed=0)
    seen = []
    sweep = networks._sweep

    def spy(method, training, grid, **options):
        seen.append((training, options.get("test")))
        return sweep(method, training, grid, **options)

    monkeypatch.setattr(networks, "_sweep", spy)
    NetworkMethod("2layer-all", width=8, epochs=3).fit(fold.training, seed=0)
    *inner, (everything, judged) = seen
    assert len(inner) == 3
    assert judged is None
    assert torch.equal(everything.inputs.X, fold.training.inputs.X)
    for fit, choose in inner:
        rows = torch.cat([fit.inputs.X, choose.inputs.X])
        assert {tuple(row) for row in rows.tolist()} == {
            tuple(row) for row in fold.training.inputs.X.tolist()
        }


def test_a_rate_that_diverges_is_not_chosen(regression, monkeypatch):
    monkeypatch.setattr(networks, "RATES", (1e4, 0.05))
    monkeypatch.setattr(networks, "DECAYS", (0.0,))
    fold = make_fold(regression, outer_folds(regression, 4, 1, seed=0)[0], seed=0)
    assert NetworkMethod("2layer-all", width=16, epochs=20).fit(fold.training, seed=0).setting["rate"] == 0.05


def test_a_run_that_diverged_has_no_score(regression):
    training = make_fold(regression, outer_folds(regression, 4, 1, seed=0)[0], seed=0).training
    method = NetworkMethod("2layer-all", width=8, epochs=2)
    (run,) = networks._sweep(method, training, method._grid(2, seed=0)[-1:], test=training)
    score = networks._final_score(run, classification=False)
    assert score.error == score.squared == run.test_error[-1]
    assert networks._final_score(replace(run, diverged=True), classification=True).error == float("inf")


def test_a_setting_that_diverges_on_all_rows_gives_way_to_the_next_best(regression, small_grid, monkeypatch):
    training = make_fold(regression, outer_folds(regression, 4, 1, seed=0)[0], seed=0).training
    method, sweep, tried = NetworkMethod("2layer-all", width=8, epochs=5), networks._sweep, []

    def fail_once(own, part, grid, *, keep_weights=False, **options):
        runs = sweep(own, part, grid, keep_weights=keep_weights, **options)
        if keep_weights:
            tried.append(grid[0].rate)
        return [replace(runs[0], diverged=True)] if tried == [grid[0].rate] and keep_weights else runs

    best = method.fit(training, seed=0).setting["rate"]
    monkeypatch.setattr(networks, "_sweep", fail_once)
    other = method.fit(training, seed=0).setting["rate"]
    assert tried == [best, other]
    assert other != best


def test_a_network_that_only_diverges_has_failed(regression, monkeypatch):
    monkeypatch.setattr(networks, "RATES", (1e4,))
    monkeypatch.setattr(networks, "DECAYS", (0.0,))
    fold = make_fold(regression, outer_folds(regression, 4, 1, seed=0)[0], seed=0)
    trial = run_trial(NetworkMethod("2layer-all", width=16, epochs=20), fold)
    assert trial.error is None
    assert "diverged at every rate from 10000 to 10000" in trial.failure


def test_the_same_seed_gives_the_same_network(regression, small_grid):
    fold = make_fold(regression, outer_folds(regression, 4, 1, seed=0)[0], seed=0)
    method = NetworkMethod("3layer-all", width=16, epochs=20)
    first, second = (method.fit(fold.training, seed=5).predict(fold.inputs) for _ in range(2))
    torch.testing.assert_close(first, second, rtol=0, atol=0)


def test_epochs_come_to_about_as_many_steps():
    assert default_epochs(1000) == 100
    assert default_epochs(10) == networks.MOST_EPOCHS
    assert default_epochs(10**6) == networks.FEWEST_EPOCHS


def test_forecast_scales_with_epochs(training, small_grid, monkeypatch):
    """By a clock that takes 1 s for an epoch and 3 s for what is done once."""
    now = 0.0

    def swept(method, training, grid):
        nonlocal now
        now += 3.0 + grid[0].epochs

    monkeypatch.setattr(networks, "_sweep", swept)
    monkeypatch.setattr(networks.time, "perf_counter", lambda: now)
    none, short, long = (
        NetworkMethod("2layer-all", 16, epochs).forecast(training) for epochs in (0, 10, 1000)
    )
    assert 0 < none < short
    assert long - none == pytest.approx(100 * (short - none))


def test_pilots_are_small(regression, small_grid, monkeypatch):
    seen = []
    monkeypatch.setattr(networks, "_sweep", lambda method, training, grid: seen.append(training.n))
    training = make_fold(regression, outer_folds(regression, 4, 1, seed=0)[0], seed=0).training
    NetworkMethod("2layer-all", 16, 10).forecast(training[torch.arange(training.n).repeat(40)])
    assert set(seen) == {MOST_PILOT_ROWS}
