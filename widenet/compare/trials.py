"""Trials of a comparison: one method on one fold each, forecast first, kept in a store if there is one."""

import pkgutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import version
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from widenet.base.errors import InputError, WidenetError
from widenet.compare.folds import Fold, make_fold
from widenet.compare.tuning import Method, Setting, losses
from widenet.data.dataset import Dataset
from widenet.runs.store import Store
from widenet.runs.trial import Failure, Result, Trial, code_version, data_hash
from widenet.runs.trials import Progress, run_trials

# The code that a trial's numbers come from.
PACKAGES = ("compare", "kernels", "networks", "training")
MODULES = ("data.noise", "data.targets", "predict.learning_curve")
LIBRARIES = ("torch", "scikit-learn")


@dataclass(frozen=True)
class Outcome:
    """What came of one method on one fold; `failure` says what went wrong where it has no error.

    Attributes:
        error: Mean loss over the test rows.
        inner: The error by which the setting was chosen.
        setting: What was chosen.
        seconds: Time to choose, fit and predict.
        failure: A sentence, where the method failed.
    """

    error: float | None
    inner: float | None
    setting: Setting | None
    seconds: float
    failure: str | None = None


def run_trial(method: Method, fold: Fold) -> Outcome:
    """Fit to the training part of a fold and judge on its test part."""
    start = time.perf_counter()
    try:
        model = method.fit(fold.training, seed=fold.seed)
        predictions = model.predict(fold.inputs).to(fold.Y.dtype)
        if not bool(predictions.isfinite().all()):
            raise WidenetError("its predictions are not finite")
    except InputError:
        raise
    except (WidenetError, torch.linalg.LinAlgError) as error:
        return Outcome(None, None, None, time.perf_counter() - start, f"{method.name} failed: {error}.")
    row_losses = losses(predictions, fold.Y, classification=fold.training.labels is not None)
    return Outcome(float(row_losses.mean()), model.score.error, model.setting, time.perf_counter() - start)


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
        methods: Sequence[Method],
        tests: Sequence[Tensor],
        *,
        seed: int,
        protocol: Mapping[str, Any],
        store: Store | None,
    ) -> None:
        self.dataset, self.methods, self.tests, self.store = dataset, methods, tests, store
        generator = torch.Generator().manual_seed(seed)
        self.seeds = torch.randint(2**31 - 1, (len(tests),), generator=generator).tolist()
        labels = [] if dataset.labels is None else [dataset.labels]
        code, data = _code(), data_hash(dataset.X, dataset.Y, *labels)
        # Fold by fold, so that the pace so far, over all methods, tells when the rest will be done.
        self.trials = {
            (method.name, j): Trial({"method": method.name, "fold": j, "seed": seed, **protocol}, code, data)
            for j in range(len(tests))
            for method in methods
        }

    def fold(self, index: int) -> Fold:
        """Made when it is asked for, so that only one is held."""
        return make_fold(self.dataset, self.tests[index], seed=self.seeds[index])

    def forecast(self, progress: Progress) -> dict[str, float]:
        """Seconds that the trials of each method will take which are not in the store."""
        training = self.fold(0).training
        expected = {}
        for done, method in enumerate(self.methods):
            progress(done, len(self.methods), "forecasts")
            num_pending = self._num_pending(method)
            expected[method.name] = num_pending * method.forecast(training) if num_pending else 0.0
        progress(len(self.methods), len(self.methods), "forecasts")
        return expected

    def run(self, progress: Progress) -> dict[str, list[Outcome]]:
        """Bring every trial to its end: outcomes of each method, by fold."""
        methods = {method.name: method for method in self.methods}

        def work(settings: list[Mapping[str, Any]]) -> list[Result]:
            (own,) = settings
            name, j = str(own["method"]), int(own["fold"])
            return [Result(asdict(run_trial(methods[name], self.fold(j))))]

        groups = [[trial] for trial in self.trials.values()]
        found = run_trials(groups, work, store=self.store, progress=progress)
        outcomes: dict[str, list[Outcome]] = {name: [] for name in methods}
        for (name, _), result in zip(self.trials, found, strict=True):
            if isinstance(result, Failure):
                raise result.error
            outcomes[name].append(Outcome(**result.record))
        return outcomes

    def _num_pending(self, method: Method) -> int:
        own = [trial for (name, _), trial in self.trials.items() if name == method.name]
        return sum(self.store is None or self.store.get(trial) is None for trial in own)


def _code() -> str:
    """Version of all code that a trial's numbers come from."""
    libraries = [f"{library} {version(library)}" for library in LIBRARIES]
    return ", ".join((code_version(_modules()), *libraries))


def _modules() -> list[ModuleType]:
    packages = [import_module(f"widenet.{package}") for package in PACKAGES]
    inside = [
        f"{package.__name__}.{found.name}"
        for package in packages
        for found in pkgutil.iter_modules(package.__path__)
    ]
    return [import_module(name) for name in (*inside, *(f"widenet.{module}" for module in MODULES))]
