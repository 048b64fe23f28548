"""The comparison as a whole: no test row chooses anything, chance finds nothing, failures stay visible."""

from dataclasses import dataclass, field, replace
from importlib.metadata import version

import numpy as np
import pytest
import torch

from widenet.base.errors import InputError, WidenetError
from widenet.base.progress import Progress
from widenet.compare.estimators import EstimatorMethod
from widenet.compare.folds import make_fold, outer_folds
from widenet.compare.kernels import classical
from widenet.compare.methods import methods_by_name
from widenet.compare.result import CompareResult
from widenet.compare.run import run_compare
from widenet.compare.settings import CompareSettings
from widenet.compare.significance import FoldRows
from widenet.compare.summary import champion_of, constant_of, significance_of, summarise_methods
from widenet.compare.trial import FoldOutcome, run_trial
from widenet.compare.trials import trial_code
from widenet.compare.tuning import Family, Model, Score, Training
from widenet.data import with_labels
from widenet.report.compare import sentences
from widenet.runs.code import import_closure
from widenet.runs.store import Store
from widenet.study.forecast import Forecast
from widenet.study.result import Outcome
from widenet.testing import unit_rows

ROWS = FoldRows(train=50, test=50, counted=True)
CHEAP = ("relu2-bias-all", "gaussian", "arcsin", "ridge")


@dataclass(frozen=True)
class Spy:
    """A method that keeps what it is given."""

    name: str = "spy"
    family: Family = "kernel"
    seen: list[Training] = field(default_factory=list)
    asked: list[torch.Tensor] = field(default_factory=list)

    def fit(self, training, *, seed):
        self.seen.append(training)

        def predict(inputs):
            self.asked.append(inputs.X)
            return torch.zeros(len(inputs.X), training.Y.shape[1], dtype=training.Y.dtype)

        return Model(predict, {}, Score(1.0, 1.0))

    def forecast(self, training):
        return 0.0


@pytest.fixture
def watch(monkeypatch):
    """Put methods of one's own in place of all others."""

    def install(*methods):
        monkeypatch.setattr("widenet.compare.run.methods_by_name", lambda names, width, epochs: methods)

    return install


def rows_of(X):
    return {tuple(row) for row in X.tolist()}


def test_no_method_ever_sees_a_test_row_before_predicting_it(dataset, watch):
    spy = Spy()
    watch(spy)
    run_compare(dataset, CompareSettings(folds=4, repeats=2))
    assert len(spy.seen) == len(spy.asked) == 8
    for training, test in zip(spy.seen, spy.asked, strict=True):
        assert not rows_of(training.inputs.X) & rows_of(test)
        assert training.n + len(test) == dataset.n
        assert len(training.Y) == training.n


@pytest.mark.parametrize("name", ["gaussian", "ridge", "forest", "boosting"])
def test_targets_of_test_rows_change_no_choice(name, binary, monkeypatch):
    monkeypatch.setattr("widenet.compare.baselines.NUM_TREES", 40)
    monkeypatch.setattr("widenet.compare.baselines.MAX_ITERATIONS", 10)
    (method,) = methods_by_name([name], 8, 2)
    test = outer_folds(binary, 4, 1, seed=0)[1]
    labels = binary.labels.clone()
    labels[test] = 1 - labels[test]
    folds = [make_fold(each, test, seed=0) for each in (binary, with_labels(binary, labels))]
    first, second = (run_trial(method, fold) for fold in folds)
    assert first.setting == second.setting
    assert first.inner == second.inner
    assert second.error == pytest.approx(1 - first.error)


def test_result_has_what_is_promised(dataset):
    result = run_compare(dataset, CompareSettings(methods=CHEAP, folds=4, repeats=1))
    record = result.to_dict()
    assert {"schema", "version", "data", "methods", "best", "significance", "seconds"} <= set(record)
    for method in record["methods"]:
        assert {"name", "family", "error", "std", "rank", "wins", "seconds", "best"} <= set(method)
        assert len(method["errors"]) == 4
        assert method["error"] == pytest.approx(np.mean(method["errors"]))
        assert method["std"] == pytest.approx(np.std(method["errors"], ddof=1))
    errors = [method["error"] for method in record["methods"]]
    assert errors == sorted(errors)
    assert record["best"] == record["methods"][0]["name"]
    assert np.mean([method["rank"] for method in record["methods"]]) == pytest.approx(2.5)
    assert len(record["significance"]["against_best"]) == 3
    assert [test["first"] for test in record["significance"]["against_kernels"]] == ["baselines"]
    assert result.num_failed == 0
    assert result.outcome is Outcome.DONE
    assert result.resolved() == {
        "methods": [m["name"] for m in record["methods"]],
        "epochs": result.protocol.epochs,
        "repeats": 1,
    }
    assert isinstance(result, CompareResult)
    assert repr(result).startswith(f"CompareResult(data=small.npz, n={dataset.n}, methods=4, {result.best}=")
    assert record["protocol"]["chance"] > 0.3
    assert record["constant"]["error"] == pytest.approx(record["protocol"]["chance"], rel=0.02)
    assert len(record["constant"]["errors"]) == 4
    assert [test["second"] for test in record["significance"]["against_constant"]] == ["constant"] * 2
    for test in record["significance"]["against_best"]:
        assert {"low", "high", "p", "adjusted", "joint_low", "joint_high", "same"} <= set(test)
    for method in record["methods"]:
        assert 0 <= method["low"] <= method["error"] <= method["high"]


def test_the_same_seed_gives_the_same_numbers(binary):
    settings = CompareSettings(methods=("gaussian", "random-features"), folds=3, repeats=1)
    first, second = run_compare(binary, settings), run_compare(binary, settings)
    assert [m.errors for m in first.methods] == [m.errors for m in second.methods]
    other = run_compare(binary, replace(settings, seed=1))
    assert [m.errors for m in other.methods] != [m.errors for m in first.methods]


@pytest.mark.slow
def test_threads_change_no_number(multiclass):
    settings = CompareSettings(methods=("2layer-all", "gaussian", "forest", "boosting"), folds=3, repeats=1)
    alone = run_compare(multiclass, replace(settings, epochs=5, width=8))
    torch.set_num_threads(2)
    together = run_compare(multiclass, replace(settings, epochs=5, width=8))
    assert [m.errors for m in together.methods] == [m.errors for m in alone.methods]
    assert [m.inner for m in together.methods] == [m.inner for m in alone.methods]
    assert torch.get_num_threads() == 2


class Wavering(Spy):
    """A method whose error on a division of four folds is that of its list, by turns."""

    def __init__(self, name, family, errors):
        super().__init__(name, family)
        object.__setattr__(self, "errors", errors)

    def fit(self, training, *, seed):
        model = super().fit(training, seed=seed)
        wrong = self.errors[(len(self.seen) - 1) // 4 % len(self.errors)]

        def predict(inputs):
            signs = torch.where(inputs.X[:, :2].sum(1, keepdim=True) > 0, -1.0, 1.0).double()
            signs[: round(wrong * len(signs))] *= -1
            return signs

        return replace(model, predict=predict)


@pytest.mark.parametrize(("errors", "repeats"), [((0.9,) * 4, 2), ((0.3, 0.0, 0.2, 0.0), 4), ((0.0,) * 4, 2)])
def test_rows_are_divided_again_until_that_settles_the_answer(errors, repeats, binary, watch):
    watch(Wavering("perfect", "kernel", (0.0,) * 4), Wavering("wavering", "network", errors))
    result = run_compare(binary, CompareSettings(folds=4))
    assert result.protocol.repeats == repeats
    assert [len(method.errors) for method in result.methods] == [4 * repeats] * 2
    assert len(result.constant.errors) == 4 * repeats


def test_more_divisions_begin_with_the_same_ones(binary, tmp_path):
    settings = CompareSettings(methods=("gaussian", "random-features"), folds=3, repeats=1)
    with Store(tmp_path / "fits.db") as store:
        once = run_compare(binary, settings, store=store)
        told = Told()
        twice = run_compare(binary, replace(settings, repeats=2), store=store, progress=told)
    assert next(done for stage, done, _ in told.lines if stage == "trials") == 6
    by_name = {method.name: method.errors for method in twice.methods}
    assert all(by_name[method.name][:3] == method.errors for method in once.methods)


@pytest.mark.slow
def test_random_labels_have_no_significant_winner(binary):
    for seed in range(5):
        generator = torch.Generator().manual_seed(seed)
        noise = with_labels(binary, torch.randint(2, (binary.n,), generator=generator))
        result = run_compare(noise, CompareSettings(methods=(*CHEAP, "relu3-bias-last"), seed=seed))
        assert not any(test.significant for test in result.significance.against_best)
        assert not any(test.significant for test in result.significance.against_kernels)


def test_a_real_difference_is_found(arrays):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    result = run_compare(arrays(X, X[:, 0] * X[:, 1]), CompareSettings(methods=("ridge", "polynomial")))
    (test,) = result.significance.against_kernels
    assert (test.first, test.second) == ("baselines", "kernels")
    assert test.significant
    assert test.difference > 0
    assert "kernels are better: they beat baselines by at least" in sentences(result)[0]


@dataclass(frozen=True)
class Failing(Spy):
    """A method that fails on some of its folds."""

    name: str = "failing"

    def fit(self, training, *, seed):
        model = super().fit(training, seed=seed)
        if len(self.seen) == 2:
            raise WidenetError("it went wrong")
        if len(self.seen) == 3:
            return replace(model, predict=lambda inputs: torch.full((len(inputs.X), 1), torch.nan))
        return model


def test_failures_are_kept_apart(binary, watch):
    watch(Failing(), Spy())
    result = run_compare(binary, CompareSettings(folds=4, repeats=1))
    last = result.methods[-1]
    assert (last.name, last.error, last.std) == ("failing", None, None)
    assert result.num_failed == 2
    assert "it went wrong" in last.failures[0]
    assert "not finite" in last.failures[1]
    assert result.best == "spy"
    assert result.outcome is Outcome.PARTLY
    assert result.significance.against_best == ()


def test_failed_methods_have_no_part_in_ranks_and_wins():
    methods = [Spy("a"), Spy("b"), Spy("c")]
    outcomes = {
        "a": [FoldOutcome(0.3, 0.3, {}, 0.0), FoldOutcome(0.2, 0.2, {}, 0.0)],
        "b": [FoldOutcome(0.1, 0.1, {}, 0.0), FoldOutcome(None, None, None, 0.0, "b failed.")],
        "c": [FoldOutcome(0.4, 0.4, {}, 0.0), FoldOutcome(0.3, 0.3, {}, 0.0)],
    }
    results = summarise_methods(methods, outcomes, ROWS)
    assert [(r.name, r.rank, r.wins) for r in results] == [("a", 1.0, 2), ("c", 2.0, 0), ("b", None, None)]


def test_a_kernel_too_large_is_refused_before_anything_is_fitted(binary, watch, monkeypatch):
    spy = Spy()
    watch(spy, classical("arcsin"))
    monkeypatch.setattr("widenet.base.memory.available_bytes", lambda: 1000)
    with pytest.raises(InputError, match="A kernel of 96 rows in each thread needs"):
        run_compare(binary, CompareSettings(folds=5, repeats=1))
    assert not spy.seen


def test_stored_fits_belong_to_the_code_that_made_them():
    shared = import_closure(["widenet.compare.trial"])
    assert {"widenet.predict.learning_curve", "widenet.data.targets", "widenet.data.noise"} <= shared
    assert {"widenet.compare.tuning", "widenet.compare.folds"} <= shared
    assert not any(name.startswith("widenet.runs") for name in shared)
    assert {"widenet.kernels.names", "widenet.training.linear"} <= import_closure(["widenet.compare.kernels"])
    assert {"widenet.networks.resnet", "widenet.training.sweeps"} <= import_closure(
        ["widenet.compare.networks"]
    )
    network, kernel, ridge = methods_by_name(["2layer-all", "gaussian", "ridge"], 8, 2)
    assert len({trial_code(method) for method in (network, kernel, ridge, Spy())}) == 4
    assert trial_code(kernel) == trial_code(classical("arcsin"))
    made_here, made_there = EstimatorMethod("same", lambda classes: None), EstimatorMethod("same", unit_rows)
    assert trial_code(made_here) != trial_code(made_there)
    assert f"torch {version('torch')}, scikit-learn {version('scikit-learn')}" in trial_code(kernel)


class Told(Progress):
    """Keeps what it is told."""

    def __init__(self):
        self.lines, self.facts = [], []

    def __call__(self, stage, done=None, total=None, detail=""):
        self.lines.append((stage, done, total))

    def note(self, fact):
        self.facts.append(fact)


@dataclass(frozen=True)
class Interrupted(Spy):
    """A method of many hours that is interrupted after its first two folds."""

    def fit(self, training, *, seed):
        if len(self.seen) == 2:
            raise KeyboardInterrupt
        return super().fit(training, seed=seed)

    def forecast(self, training):
        return 7200.0


def test_only_what_is_left_is_forecast_and_counted(binary, watch, tmp_path):
    settings, told = CompareSettings(folds=5, repeats=1), Told()
    watch(Interrupted())
    with Store(tmp_path / "fits.db") as store:
        with pytest.raises(KeyboardInterrupt):
            run_compare(binary, settings, store=store, allow_long=True)
        with pytest.raises(InputError, match=r"about 6\.0 hours: 6\.0 of them are for spy"):
            run_compare(binary, settings, store=store)
        watch(Spy())
        run_compare(binary, settings, store=store, progress=told)
    assert next(done for stage, done, _ in told.lines if stage == "trials") == 2


def test_all_methods_failing_is_still_a_result(binary, watch):
    watch(Failing())
    result = run_compare(binary, CompareSettings(folds=4, repeats=1))
    assert result.best is None
    assert sentences(result) == ("Every method failed, so there is nothing to compare.",)


@dataclass(frozen=True)
class Slow(Spy):
    """A method that would take a day."""

    name: str = "slow"

    def forecast(self, training):
        return 86400.0


def test_more_than_an_hour_needs_consent(binary, watch):
    spy = Slow()
    watch(spy)
    with pytest.raises(
        InputError, match=r"about 120\.0 hours: 120\.0 of them are for slow; .*`allow_long=True`"
    ):
        run_compare(binary, CompareSettings(folds=5, repeats=1))
    assert not spy.seen
    run_compare(binary, CompareSettings(folds=5, repeats=1), allow_long=True)
    assert len(spy.seen) == 5


def test_progress_counts_forecasts_and_then_fits(binary):
    told = Told()
    settings = CompareSettings(methods=("arcsin", "ridge"), folds=3, repeats=1)
    result = run_compare(binary, settings, progress=told)
    assert told.lines[:3] == [("forecasts", done, 2) for done in range(3)]
    fits, importances = [("trials", done, 6) for done in range(7)], [("trials", 6 + k, 9) for k in range(4)]
    assert list(dict.fromkeys(told.lines[3:])) == fits + importances
    assert told.facts == [result.forecast]
    assert isinstance(result.forecast, Forecast)
    assert result.to_dict()["forecast"] == result.forecast.seconds > 0


def test_fits_go_fold_by_fold_so_that_their_pace_is_even(binary, watch):
    order = []
    first, second = (Spy(name, seen=_Noting(order, name)) for name in ("a", "b"))
    watch(first, second)
    run_compare(binary, CompareSettings(folds=3, repeats=1))
    assert order == ["a", "b"] * 3


class _Noting(list):
    """A list that notes whose it is in another one whenever something is appended."""

    def __init__(self, order, name):
        super().__init__()
        self.order, self.name = order, name

    def append(self, item):
        super().append(item)
        self.order.append(self.name)


@pytest.mark.parametrize("name", ["width", "epochs", "rows", "repeats"])
def test_sizes_must_be_positive(name):
    with pytest.raises(InputError, match=f"`{name}` is -3, but must be (at least|from) 1"):
        CompareSettings(**{name: -3})


def test_champions_are_chosen_by_inner_errors(binary):
    methods = [Spy("a"), Spy("b"), Spy("c", "network")]
    outcomes = {
        "a": [FoldOutcome(0.5, 0.1, {}, 0.0), FoldOutcome(0.1, 0.4, {}, 0.0)],
        "b": [FoldOutcome(0.2, 0.3, {"h": 1}, 0.0), FoldOutcome(0.3, 0.2, {"h": 1}, 0.0)],
        "c": [FoldOutcome(0.2, 0.2, {}, 0.0), FoldOutcome(0.2, 0.2, {}, 0.0)],
    }
    results = summarise_methods(methods, outcomes, ROWS)
    champion = champion_of(results, "kernel")
    assert champion.chosen == ("a", "b")
    assert champion.errors == (0.5, 0.3)
    assert champion_of(results, "baseline") is None
    (test,) = significance_of(results, constant_of([0.5, 0.5]), ROWS).against_kernels
    assert test.difference == pytest.approx(0.2 - 0.4)
