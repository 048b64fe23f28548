"""What is known, told and refused before the training."""

import numpy as np
import pytest

from widenet.base.errors import InputError
from widenet.data import Dataset, load
from widenet.memorise import forecast as forecast_module
from widenet.memorise import plan as plan_module
from widenet.memorise.plan import MemoriseSettings, draft_memorising, plan_memorising
from widenet.memorise.run import carry_out
from widenet.runs.checkpoint import Checkpoint


@pytest.fixture
def dataset(tmp_path) -> Dataset:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(120, 20))
    np.savez(tmp_path / "rows.npz", X=X, y=np.array(list("abcd"))[np.arange(120) % 4])
    return load(str(tmp_path / "rows.npz"))


@pytest.fixture
def no_sigma(monkeypatch) -> None:
    def again(*_arguments: object, **_options: object) -> None:
        raise AssertionError("σ_min was computed")

    monkeypatch.setattr(plan_module, "conditions_of", again)


def test_sigma_min_is_kept_for_the_run_that_goes_on(dataset, tmp_path, monkeypatch, request):
    monkeypatch.setattr("widenet.runs.checkpoint.EVERY", 0.0)
    mine = Checkpoint(tmp_path / "a", "me")
    first = plan_memorising(draft_memorising(dataset, checkpoint=mine), checkpoint=mine)
    request.getfixturevalue("no_sigma")
    second = plan_memorising(draft_memorising(dataset, checkpoint=Checkpoint(tmp_path / "a", "me")))
    assert second.conditions == first.conditions
    assert second.seconds > first.seconds > 0
    result = carry_out(second).result
    assert result.labels_reproduced
    assert result.seconds > second.seconds


@pytest.mark.usefixtures("no_sigma")
def test_the_forecast_comes_before_sigma_min(dataset):
    draft = draft_memorising(dataset, MemoriseSettings(layers=2))
    assert draft.forecast.seconds > 0
    assert draft.problem.layers == 2


@pytest.mark.usefixtures("no_sigma")
def test_a_long_run_asks_for_yes_before_sigma_min(dataset, monkeypatch):
    monkeypatch.setattr(forecast_module, "measure_speed", lambda: forecast_module.Speed(1.0, 1.0))
    with pytest.raises(InputError, match=r"hours.*--yes"):
        draft_memorising(dataset)
    assert draft_memorising(dataset, allow_long=True).forecast.seconds > 3600


def test_what_was_begun_goes_on_however_long_it_takes(dataset, tmp_path, monkeypatch):
    monkeypatch.setattr("widenet.runs.checkpoint.EVERY", 0.0)
    mine = Checkpoint(tmp_path / "a", "me")
    plan_memorising(draft_memorising(dataset, checkpoint=mine), checkpoint=mine)
    monkeypatch.setattr(forecast_module, "measure_speed", lambda: forecast_module.Speed(1.0, 1.0))
    assert draft_memorising(dataset, checkpoint=mine).forecast.seconds > 3600


def test_theorem_4_says_how_many_steps_it_implies(dataset):
    plan = plan_memorising(draft_memorising(dataset, MemoriseSettings(method="pgd", theorem=True)))
    assert any("Theorem 4" in sentence and "steps" in sentence for sentence in plan.sentences())


def test_a_method_that_is_refused_leaves_no_checkpoint(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 10))
    X[7] = X[3] + 1e-9 * rng.normal(size=10)
    np.savez(tmp_path / "rows.npz", X=X, y=rng.normal(size=40))
    monkeypatch.setattr("widenet.runs.checkpoint.EVERY", 0.0)
    mine = Checkpoint(tmp_path / "a", "me")
    settings = MemoriseSettings(layers=2, method="pgd", theorem=True)
    draft = draft_memorising(load(str(tmp_path / "rows.npz")), settings, checkpoint=mine)
    with pytest.raises(InputError, match=r"Theorem 4 needs a σ_min above 0.*--perturb"):
        plan_memorising(draft, checkpoint=mine)
    assert not mine.path.exists()


def test_settings_that_make_no_sense():
    with pytest.raises(InputError, match="--method pgd"):
        MemoriseSettings(theorem=True)
    with pytest.raises(InputError, match="direct"):
        MemoriseSettings(method="sgd")
