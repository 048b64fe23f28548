"""Trials of a comparison: one method on one fold each, forecast first, kept in a store if there is one."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from itertools import product
from typing import Any

from threadpoolctl import threadpool_limits
from torch import Tensor

from widenet.base.memory import is_out_of_memory
from widenet.base.progress import Progress
from widenet.base.threads import threads
from widenet.compare.folds import Fold, fold_seeds, make_fold
from widenet.compare.importances import (
    Importances,
    feature_columns,
    fold_increases,
    importances_of,
    num_shuffles,
)
from widenet.compare.trial import FoldOutcome, run_trial
from widenet.compare.tuning import CompareMethod
from widenet.data.dataset import Dataset
from widenet.runs.code import code_version
from widenet.runs.store import Store
from widenet.runs.trial import Failure, Record, Trial, TrialResult, data_hash
from widenet.runs.trials import run_trials
from widenet.runs.workers import Workers, explained

LIBRARIES = ("torch", "scikit-learn")  # whose versions a trial's numbers depend on


@dataclass(frozen=True)
class FoldWork:
    """Runs trials from their settings: all that a worker must be given.

    Attributes:
        dataset: The rows that are compared on.
        methods: The methods.
        tests: Test rows of each fold.
        seeds: Seed of each fold.
    """

    dataset: Dataset
    methods: Sequence[CompareMethod]
    tests: Sequence[Tensor]
    seeds: Sequence[int]

    def __call__(self, settings: list[Mapping[str, Any]]) -> list[TrialResult]:
        threadpool_limits(1, user_api="openmp")  # of this thread: those of scikit-learn's libraries
        return [TrialResult(self.record(own)) for own in settings]

    def fold(self, index: int) -> Fold:
        """Made when it is asked for, so that only one is held."""
        return make_fold(self.dataset, self.tests[index], seed=self.seeds[index])

    def method(self, name: str) -> CompareMethod:
        """The method of this name."""
        return next(each for each in self.methods if each.name == name)

    def record(self, own: Mapping[str, Any]) -> Record:
        """What a method makes of a fold, or what it relies on there."""
        fold = self.fold(own["fold"])
        if "importances" not in own:
            return asdict(run_trial(self.method(own["method"]), fold))
        columns = feature_columns(self.dataset)
        return fold_increases(self.method(own["importances"]), fold, columns, own["shuffles"])


class Trials:
    """All trials of a comparison.

    Args:
        dataset: The rows that are compared on.
        methods: The methods.
        tests: Test rows of each fold.
        seed: Seed of every random choice.
        protocol: What else a trial's numbers depend on, for the store to tell trials apart.
        store: Where finished trials are kept.
    """

    def __init__(
        self,
        dataset: Dataset,
        methods: Sequence[CompareMethod],
        tests: Sequence[Tensor],
        *,
        seed: int,
        protocol: Mapping[str, Any],
        store: Store | None,
    ) -> None:
        self.dataset, self.methods, self.tests, self.store = dataset, methods, tests, store
        rows = replace(dataset, images=None, cells=None)  # what no method is fitted to need not be sent
        self.work = FoldWork(rows, methods, tests, fold_seeds(len(tests), seed=seed))
        labels = [] if dataset.labels is None else [dataset.labels]
        self.data = data_hash(dataset.X, dataset.Y, *labels)
        self.shared = {"seed": seed, **protocol}
        # Fold by fold, so that the pace so far, over all methods, tells when the rest will be done.
        self.trials: dict[tuple[str, int], Trial] = {}
        for j, method in product(range(len(tests)), methods):
            settings = {"method": method.name, "fold": j, **self.shared}
            self.trials[method.name, j] = Trial(settings, trial_code(method), self.data)

    def forecast(self, progress: Progress, num_workers: int) -> dict[str, float]:
        """Seconds that the trials of each method will take which are not in the store.

        Each is timed in a thread like those of the trials.

        Args:
            progress: Told of the methods that were timed.
            num_workers: Trials that will run side by side.
        """
        training = self.work.fold(0).training
        expected = {}
        with threads(1) as (pool, _):
            for done, method in enumerate(self.methods):
                progress("forecasts", done, len(self.methods))
                num_pending = self._num_pending(method)
                seconds = pool.submit(method.forecast, training).result() if num_pending else 0.0
                expected[method.name] = num_pending * seconds / num_workers
        progress("forecasts", len(self.methods), len(self.methods))
        return expected

    def run(self, folds: range, workers: Workers, progress: Progress) -> dict[str, list[FoldOutcome]]:
        """Bring the trials of some folds to their end: outcomes of each method, by fold."""
        wanted = {key: trial for key, trial in self.trials.items() if key[1] in folds}
        outcomes: dict[str, list[FoldOutcome]] = {method.name: [] for method in self.methods}
        for (name, _), found in zip(wanted, self._found(wanted.values(), workers, progress), strict=True):
            if isinstance(found, Failure):  # not kept in the store: another run may have more memory
                outcomes[name].append(FoldOutcome(None, None, None, 0.0, f"{name} failed: {found.error}"))
            else:
                outcomes[name].append(FoldOutcome(**found.record))
        return outcomes

    def importances(self, name: str, folds: range, workers: Workers, progress: Progress) -> Importances:
        """What a method relies on, from some folds; it is fitted to each of them again."""
        columns = feature_columns(self.dataset)
        shuffles = num_shuffles(len(columns))
        code = ", ".join((trial_code(self.work.method(name)), code_version("widenet.compare.importances")))
        settings = {"importances": name, "shuffles": shuffles, "features": list(columns), **self.shared}
        trials = [Trial({**settings, "fold": j}, code, self.data) for j in folds]
        found = self._found(trials, workers, progress)
        for each in found:
            if isinstance(each, Failure):
                raise each.error
        records = [each.record for each in found if isinstance(each, TrialResult)]
        return importances_of(name, shuffles, records)

    def _found(
        self, trials: Collection[Trial], workers: Workers, progress: Progress
    ) -> tuple[TrialResult | Failure, ...]:
        """What came of each trial, computed from its settings where it is not in the store.

        Only those fail that run out of memory; any other error is raised.

        As many run side by side as there are cores for; each has one of them, so that what it computes does
        not depend on their number.
        """
        found = run_trials(
            [[trial] for trial in trials],
            workers.work,
            store=self.store,
            executor=workers.executor,
            num_workers=workers.num_workers,
            progress=progress,
        )
        for result in found:
            if isinstance(result, Failure) and not is_out_of_memory(result.error):
                raise explained(result.error)
        return found

    def _num_pending(self, method: CompareMethod) -> int:
        own = [trial for (name, _), trial in self.trials.items() if name == method.name]
        return sum(self.store is None or self.store.get(trial) is None for trial in own)


def trial_code(method: CompareMethod) -> str:
    """Version of all code that the numbers of a method's trials come from, and of the libraries.

    A method's own code is where its class stands, and where the functions stand that it was made of.
    """
    parts = (type(method), *filter(callable, vars(method).values()))
    own = {part.__module__ for part in parts if part.__module__}
    libraries = [f"{library} {version(library)}" for library in LIBRARIES]
    return ", ".join((code_version("widenet.compare.trial", *sorted(own)), *libraries))
