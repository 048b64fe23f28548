"""Networks as methods: chosen inside the training part, trained on all of it."""

import pytest
import torch

from widenet.compare import networks
from widenet.compare.folds import make_fold, outer_folds
from widenet.compare.networks import NetworkMethod, default_epochs
from widenet.compare.trial import run_trial
from widenet.compare.tuning import MOST_PILOT_ROWS, Score, inner_splits, losses
from widenet.networks.names import network_by_name
from widenet.training.settings import TrainingSettings
from widenet.training.sweeps import train


@pytest.fixture
def small_grid(monkeypatch):
    monkeypatch.setattr(networks, "RATES", (0.2, 0.01))
    monkeypatch.setattr(networks, "DECAYS", (0.0,))


def test_training_that_fails_where_others_did_not_is_noticed(binary):
    training = make_fold(binary, outer_folds(binary, 4, 1, seed=0)[0], seed=0).training
    unseen = Score(error=0.1, squared=0.3)
    for share, fitted in ((1.0, True), (0.5, True), (0.0, False), (9.0, False)):
        assert networks._has_fitted(lambda inputs, k=share: k * training.Y, training, unseen) is fitted


@pytest.mark.parametrize("name", ["2layer-all", "3resnet-hidden"])
def test_networks_learn(dataset, name, small_grid):
    fold = make_fold(dataset, outer_folds(dataset, 4, 1, seed=0)[0], seed=0)
    model = NetworkMethod(name, width=32, epochs=100).fit(fold.training, seed=0)
    classification = dataset.labels is not None
    error = losses(model.predict(fold.inputs), fold.Y, classification=classification).mean()
    constant = (fold.Y - fold.training.Y.mean(0)).square().sum(1).mean()
    assert float(error) < (0.25 if classification else 0.5 * float(constant))
    assert set(model.setting) == {"rate", "decay"}


@pytest.fixture
def watched(monkeypatch):
    """What networks are trained on, and with which settings."""
    seen, trained = [], networks._trained

    def spy(method, training, grid):
        seen.append((training, list(grid)))
        return trained(method, training, grid)

    monkeypatch.setattr(networks, "_trained", spy)
    return seen


def rows_of(training):
    return {tuple(row) for row in training.inputs.X.tolist()}


def test_only_training_rows_are_trained_on(binary, small_grid, watched):
    fold = make_fold(binary, outer_folds(binary, 4, 1, seed=0)[0], seed=0)
    NetworkMethod("2layer-all", width=8, epochs=3).fit(fold.training, seed=0)
    *inner, (everything, _) = watched
    assert torch.equal(everything.inputs.X, fold.training.inputs.X)
    assert len(inner) == 1 + 3
    for (part, _), (fit, _) in zip(inner[1:], inner_splits(fold.training, seed=0), strict=True):
        assert rows_of(part) == rows_of(fold.training[fit])
    assert rows_of(inner[0][0]) == rows_of(inner[1][0])


def test_hopeless_settings_are_dropped_early(regression, watched, monkeypatch):
    monkeypatch.setattr(networks, "RATES", (0.1, 1e-6, 0.05, 1e-7))
    monkeypatch.setattr(networks, "DECAYS", (0.0,))
    training = make_fold(regression, outer_folds(regression, 4, 1, seed=0)[0], seed=0).training
    chosen = NetworkMethod("2layer-all", width=16, epochs=100).fit(training, seed=0).setting["rate"]
    (_, first), *middle, (_, last) = watched
    assert [(each.rate, each.epochs) for each in first] == [(rate, 25) for rate in (0.1, 1e-6, 0.05, 1e-7)]
    for _, finalists in middle:
        assert {each.rate for each in finalists} == {0.1, 0.05}
        assert {each.epochs for each in finalists} == {100}
    assert [each.rate for each in last] == [chosen]


def test_the_search_comes_near_to_training_each_to_the_end(regression, monkeypatch):
    training = make_fold(regression, outer_folds(regression, 4, 1, seed=0)[0], seed=0).training
    method = NetworkMethod("2layer-all", width=16, epochs=60)
    staged = method.fit(training, seed=0)
    monkeypatch.setattr(networks, "NUM_FINALISTS", 12)
    whole = method.fit(training, seed=0)
    assert whole.score.error <= staged.score.error < 1.5 * whole.score.error


def test_a_rate_that_diverges_is_not_chosen(regression, monkeypatch):
    monkeypatch.setattr(networks, "RATES", (1e4, 0.05))
    monkeypatch.setattr(networks, "DECAYS", (0.0,))
    fold = make_fold(regression, outer_folds(regression, 4, 1, seed=0)[0], seed=0)
    assert NetworkMethod("2layer-all", width=16, epochs=20).fit(fold.training, seed=0).setting["rate"] == 0.05


def test_finalists_have_different_rates(regression, monkeypatch):
    """Of two decays that do about as well, only one is a finalist."""
    monkeypatch.setattr(networks, "RATES", (0.1, 1e-3))
    monkeypatch.setattr(networks, "DECAYS", (0.0, 1e-6))
    training = make_fold(regression, outer_folds(regression, 4, 1, seed=0)[0], seed=0).training
    order = NetworkMethod("2layer-all", width=16, epochs=40)._searched(training, 0)
    assert [each.rate for each in order] == [0.1, 1e-3, 0.1, 1e-3]
    assert len({(each.rate, each.decay) for each in order}) == 4


def test_a_setting_that_diverges_on_all_rows_gives_way_to_the_next_best(regression, small_grid, monkeypatch):
    training = make_fold(regression, outer_folds(regression, 4, 1, seed=0)[0], seed=0).training
    method, trained, tried = NetworkMethod("2layer-all", width=8, epochs=5), networks._trained, []
    best = method.fit(training, seed=0).setting["rate"]

    def fail_once(own, part, grid):
        if part is training:
            tried.append(grid[0].rate)
        return [None] if part is training and len(tried) == 1 else trained(own, part, grid)

    monkeypatch.setattr(networks, "_trained", fail_once)
    other = method.fit(training, seed=0).setting["rate"]
    assert tried == [best, other]
    assert other != best


def test_a_run_that_ends_anywhere_has_diverged(regression, small_grid, monkeypatch):
    """An error on its own training rows far above that of a constant, without an overflow."""
    training = make_fold(regression, outer_folds(regression, 4, 1, seed=0)[0], seed=0).training
    method, trained, tried = NetworkMethod("2layer-all", width=8, epochs=5), networks._trained, []

    def spoil_once(own, part, grid):
        found = trained(own, part, grid)
        if part is training:
            tried.append(grid[0].rate)
        if tried == [grid[0].rate] and part is training:
            found[0]["A"] = 100 * found[0]["A"]
        return found

    monkeypatch.setattr(networks, "_trained", spoil_once)
    assert method.fit(training, seed=0).setting["rate"] == tried[1] != tried[0]


def test_what_was_put_out_for_held_out_rows_is_that_of_training_on_the_others(binary, small_grid):
    training = make_fold(binary, outer_folds(binary, 4, 1, seed=0)[0], seed=0).training
    model = NetworkMethod("2layer-all", width=8, epochs=5).fit(training, seed=0)
    settings = TrainingSettings(batch=networks.BATCH, epochs=5, seed=0, **model.setting)
    fit, choose = inner_splits(training, seed=0)[1]
    own = train(network_by_name("2layer-all", 8), training[fit].dataset, settings)
    found = dict(zip(model.unseen.rows.tolist(), model.unseen.outputs[:, 0].tolist(), strict=True))
    assert sorted(found) == list(range(training.n))
    expected = own.outputs(training[choose].inputs.X)[:, 0].tolist()
    assert [found[row] for row in choose.tolist()] == pytest.approx(expected, abs=1e-5)


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


def test_epochs_of_few_rows_come_to_fewer_steps():
    assert pytest.approx(default_epochs(240), abs=1) == networks.BATCH * networks.FEWEST_STEPS / 240
    assert default_epochs(500) == 100


def test_forecast_scales_with_epochs(training, small_grid, monkeypatch):
    """By a clock that takes 1 s for an epoch and 3 s for what is done once."""
    now = 0.0

    def trained(method, training, grid):
        nonlocal now
        now += 3.0 + grid[0].epochs

    monkeypatch.setattr(networks, "_trained", trained)
    monkeypatch.setattr(networks.time, "perf_counter", lambda: now)
    none, short, long = (
        NetworkMethod("2layer-all", 16, epochs).forecast(training) for epochs in (0, 10, 1000)
    )
    assert 0 < none < short
    assert long - none == pytest.approx(100 * (short - none))


def test_pilots_are_small(regression, small_grid, monkeypatch):
    seen = []
    monkeypatch.setattr(networks, "_trained", lambda method, training, grid: seen.append(training.n))
    training = make_fold(regression, outer_folds(regression, 4, 1, seed=0)[0], seed=0).training
    NetworkMethod("2layer-all", 16, 10).forecast(training[torch.arange(training.n).repeat(40)])
    assert set(seen) == {MOST_PILOT_ROWS}
