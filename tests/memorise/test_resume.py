"""What is known, told, kept and refused before the training, and taken up again after an interruption."""

import numpy as np
import pytest

from widenet.base.errors import InputError
from widenet.base.progress import Progress
from widenet.data import Dataset, load
from widenet.memorise import forecast as forecast_module, run as run_module
from widenet.memorise.conditions import Conditions
from widenet.memorise.methods.method import MethodPlan
from widenet.memorise.methods.pgd import PerturbedDescent
from widenet.memorise.result import MemoriseResult, Resumed
from widenet.memorise.run import run_memorise, trial_of
from widenet.memorise.settings import MemoriseSettings
from widenet.report.memorise import on_the_way
from widenet.runs.store import Store
from widenet.study.forecast import Forecast
from widenet.study.speed import Speed

PGD = MemoriseSettings(method="pgd", layers=2)


class Told(Progress):
    """Collects what is noted."""

    def __init__(self) -> None:
        self.facts: list[object] = []

    def note(self, fact: object) -> None:
        self.facts.append(fact)

    def one(self, kind: type) -> object:
        (found,) = (fact for fact in self.facts if isinstance(fact, kind))
        return found


@pytest.fixture
def dataset(tmp_path) -> Dataset:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(120, 20))
    np.savez(tmp_path / "rows.npz", X=X, y=np.array(list("abcd"))[np.arange(120) % 4])
    return load(str(tmp_path / "rows.npz"))


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "runs.store") as opened:
        yield opened


@pytest.fixture
def no_sigma(monkeypatch) -> None:
    def again(*_arguments: object, **_options: object) -> None:
        raise AssertionError("σ_min was computed")

    monkeypatch.setattr(run_module, "conditions_of", again)


@pytest.fixture
def slow(monkeypatch) -> None:
    """A machine on which everything takes hours."""
    monkeypatch.setattr(forecast_module, "measure_speed", lambda: Speed(1.0, 1.0, 1.0))


def interrupt(monkeypatch, dataset: Dataset, store: Store, settings: MemoriseSettings, advances: int) -> None:
    """Run until the training was advanced some times, each time by ten steps at most."""
    advance, made = PerturbedDescent.advance, []

    def interrupting(self, problem, state):
        if len(made) == advances:
            raise KeyboardInterrupt
        made.append(1)
        return advance(self, problem, state)

    with monkeypatch.context() as patch:
        patch.setattr("widenet.memorise.methods.pgd.MOST", 10)
        patch.setattr(PerturbedDescent, "advance", interrupting)
        with pytest.raises(KeyboardInterrupt):
            run_memorise(dataset, settings, store=store)


def whole_run(monkeypatch, dataset: Dataset, settings: MemoriseSettings = PGD) -> MemoriseResult:
    with monkeypatch.context() as patch:
        patch.setattr("widenet.memorise.methods.pgd.MOST", 10)
        return run_memorise(dataset, settings)


@pytest.mark.parametrize("advances", [0, 1, 3])
def test_an_interrupted_run_ends_as_one_that_never_was(dataset, store, monkeypatch, request, advances):
    whole = whole_run(monkeypatch, dataset)
    interrupt(monkeypatch, dataset, store, PGD, advances)
    kept = store.load_state(trial_of(dataset, PGD))
    assert store.num_unfinished() == 1
    request.getfixturevalue("no_sigma")
    told = Told()
    monkeypatch.setattr("widenet.memorise.methods.pgd.MOST", 10)
    result = run_memorise(dataset, PGD, store=store, progress=told)
    assert told.one(Resumed) == Resumed(10 * advances)
    assert on_the_way(Resumed(10)) == ("Resuming from step 10 of an earlier run.",)
    assert (result.certificate, result.weights) == (whole.certificate, whole.weights)
    assert (result.conditions, result.plan) == (whole.conditions, whole.plan)
    assert (result.curve.steps, result.curve.loss) == (whole.curve.steps, whole.curve.loss)
    assert result.seconds > kept.notes["seconds"] > 0
    assert store.num_unfinished() == 0


def test_sigma_min_is_kept_for_the_run_that_goes_on(dataset, store, monkeypatch, request):
    monkeypatch.setattr("widenet.runs.kept.EVERY", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(PerturbedDescent, "start", lambda self, problem: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run_memorise(dataset, PGD, store=store)
    request.getfixturevalue("no_sigma")
    told = Told()
    assert run_memorise(dataset, PGD, store=store, progress=told).labels_reproduced
    assert told.one(Resumed) == Resumed(None)
    assert "has already measured σ_min" in on_the_way(Resumed(None))[0]


def test_what_another_run_left_is_in_nobodys_way(dataset, store, monkeypatch):
    interrupt(monkeypatch, dataset, store, PGD, 2)
    other, told = MemoriseSettings(method="pgd", layers=2, seed=1), Told()
    result = run_memorise(dataset, other, store=store, progress=told)
    assert not any(isinstance(fact, Resumed) for fact in told.facts)
    assert result.certified
    assert store.num_unfinished() == 1
    told = Told()
    run_memorise(dataset, PGD, store=store, progress=told)
    assert told.one(Resumed) == Resumed(20)


def test_a_finished_run_is_kept_until_its_result_is_written(dataset, store, monkeypatch):
    """What takes the result may fail, for want of room on the disk, and then nothing should be lost."""
    monkeypatch.setattr("widenet.runs.kept.EVERY", 0.0)
    first = run_memorise(dataset, PGD, store=store)
    assert store.load_state(trial_of(dataset, PGD)).finished
    monkeypatch.setattr(PerturbedDescent, "advance", lambda self, problem, state: 1 / 0)
    again = run_memorise(dataset, PGD, store=store)
    assert (again.certificate, again.weights) == (first.certificate, first.weights)
    assert store.num_unfinished() == 0


def test_a_short_run_leaves_nothing(dataset, store):
    run_memorise(dataset, store=store)
    assert store.is_empty()


@pytest.mark.usefixtures("no_sigma")
def test_the_forecast_comes_before_sigma_min(dataset):
    told = Told()
    with pytest.raises(AssertionError, match="σ_min was computed"):
        run_memorise(dataset, MemoriseSettings(layers=2), progress=told)
    assert [type(fact) for fact in told.facts] == [Forecast]


def test_what_is_known_is_noted_in_order(dataset):
    told = Told()
    result = run_memorise(dataset, progress=told)
    assert [type(fact) for fact in told.facts] == [Forecast, Conditions, MethodPlan]
    assert told.facts == [result.forecast, result.conditions, result.plan]
    assert on_the_way(result.conditions)[0].startswith("Two layers")
    assert on_the_way(result.plan)[0].startswith("The quadratic form")
    assert on_the_way(result.forecast) == ()


@pytest.mark.usefixtures("no_sigma", "slow")
def test_a_long_run_asks_for_leave_before_sigma_min(dataset):
    with pytest.raises(InputError, match=r"hours.*`method`.*`allow_long=True`"):
        run_memorise(dataset)
    with pytest.raises(AssertionError, match="σ_min was computed"):
        run_memorise(dataset, allow_long=True)


def test_what_was_begun_goes_on_however_long_it_takes(dataset, store, monkeypatch, request):
    interrupt(monkeypatch, dataset, store, PGD, 1)
    request.getfixturevalue("slow")
    assert run_memorise(dataset, PGD, store=store).forecast.seconds > 3600


def test_theorem_4_says_how_many_steps_it_implies(dataset, monkeypatch):
    monkeypatch.setattr("widenet.memorise.methods.pgd.TheoremDescent.done", lambda self, state: True)
    told = Told()
    run_memorise(dataset, MemoriseSettings(method="pgd", theorem=True), progress=told, allow_long=True)
    plan = told.one(MethodPlan)
    assert plan.promise.value > 1
    assert any("Theorem 4" in sentence and "steps" in sentence for sentence in on_the_way(plan))


def test_a_method_that_is_refused_leaves_nothing(tmp_path, store, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 10))
    X[7] = X[3] + 1e-9 * rng.normal(size=10)
    np.savez(tmp_path / "rows.npz", X=X, y=rng.normal(size=40))
    monkeypatch.setattr("widenet.runs.kept.EVERY", 0.0)
    settings = MemoriseSettings(layers=2, method="pgd", theorem=True)
    with pytest.raises(InputError, match=r"Theorem 4 requires σ_min > 0.*`perturb=0.0001`"):
        run_memorise(load(str(tmp_path / "rows.npz")), settings, store=store, allow_long=True)
    assert store.is_empty()


def test_settings_that_make_no_sense():
    with pytest.raises(InputError, match="`method=pgd`"):
        MemoriseSettings(theorem=True)
    with pytest.raises(InputError, match=r"`method` is 'sgd'.*direct"):
        MemoriseSettings(method="sgd")
    with pytest.raises(InputError, match="`layers` is 4"):
        MemoriseSettings(layers=4)
    with pytest.raises(InputError, match="`perturb` is nan"):
        MemoriseSettings(perturb=float("nan"))
