"""Trials of a comparison: one method on one fold each, forecast first, kept in a store if there is one."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from itertools import product
from typing import Any

import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

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

LIBRARIES = ("torch", "scikit-learn")  # whose versions a trial's numbers depend on


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
        self.seeds = fold_seeds(len(tests), seed=seed)
        labels = [] if dataset.labels is None else [dataset.labels]
        self.data = data_hash(dataset.X, dataset.Y, *labels)
        self.shared = {"seed": seed, **protocol}
        # Fold by fold, so that the pace so far, over all methods, tells when the rest will be done.
        self.trials: dict[tuple[str, int], Trial] = {}
        for j, method in product(range(len(tests)), methods):
            settings = {"method": method.name, "fold": j, **self.shared}
            self.trials[method.name, j] = Trial(settings, trial_code(method), self.data)

    def fold(self, index: int) -> Fold:
        """Made when it is asked for, so that only one is held."""
        return make_fold(self.dataset, self.tests[index], seed=self.seeds[index])

    def forecast(self, progress: Progress) -> dict[str, float]:
        """Seconds that the trials of each method will take which are not in the store.

        Each is timed in a thread like those of the trials, which share them.
        """
        training, num_workers = self.fold(0).training, torch.get_num_threads()
        expected = {}
        with threads(1) as (pool, _):
            for done, method in enumerate(self.methods):
                progress("forecasts", done, len(self.methods))
                num_pending = self._num_pending(method)
                seconds = pool.submit(method.forecast, training).result() if num_pending else 0.0
                expected[method.name] = num_pending * seconds / num_workers
        progress("forecasts", len(self.methods), len(self.methods))
        return expected

    def run(self, folds: range, progress: Progress) -> dict[str, list[FoldOutcome]]:
        """Bring the trials of some folds to their end: outcomes of each method, by fold."""
        methods = {method.name: method for method in self.methods}

        def record(own: Mapping[str, Any]) -> Record:
            return asdict(run_trial(methods[own["method"]], self.fold(own["fold"])))

        wanted = {key: trial for key, trial in self.trials.items() if key[1] in folds}
        outcomes: dict[str, list[FoldOutcome]] = {name: [] for name in methods}
        for (name, _), found in zip(wanted, self._records(wanted.values(), record, progress), strict=True):
            outcomes[name].append(FoldOutcome(**found))
        return outcomes

    def importances(self, name: str, folds: range, progress: Progress) -> Importances:
        """What a method relies on, from some folds; it is fitted to each of them again."""
        method = next(each for each in self.methods if each.name == name)
        columns = feature_columns(self.dataset)
        shuffles = num_shuffles(len(columns))

        def record(own: Mapping[str, Any]) -> Record:
            return fold_increases(method, self.fold(own["fold"]), columns, shuffles)

        code = ", ".join((trial_code(method), code_version("widenet.compare.importances")))
        settings = {"importances": name, "shuffles": shuffles, "features": list(columns), **self.shared}
        trials = [Trial({**settings, "fold": j}, code, self.data) for j in folds]
        return importances_of(name, shuffles, self._records(trials, record, progress))

    def _records(
        self, trials: Collection[Trial], record: Callable[[Mapping[str, Any]], Record], progress: Progress
    ) -> list[Record]:
        """The record of each trial, computed from its settings where it is not in the store.

        As many run side by side as there are cores for; each has one of them, so that what it computes does
        not depend on their number.
        """

        def work(settings: list[Mapping[str, Any]]) -> list[TrialResult]:
            threadpool_limits(1, user_api="openmp")  # of this thread: those of scikit-learn's libraries
            return [TrialResult(record(own)) for own in settings]

        with threads() as (pool, _):
            groups, num_workers = [[trial] for trial in trials], torch.get_num_threads()
            found = run_trials(
                groups, work, store=self.store, executor=pool, num_workers=num_workers, progress=progress
            )
        for result in found:
            if isinstance(result, Failure):
                raise result.error
        return [result.record for result in found if isinstance(result, TrialResult)]

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
