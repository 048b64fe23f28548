"""The comparison itself: every method on every outer fold, then ranks and tests."""

import time
from typing import Any

import torch

from widenet.base.progress import SILENT, Progress, after, on_workers
from widenet.base.wording import HOUR
from widenet.compare.constant import constant_errors, constant_measures, num_repeated
from widenet.compare.folds import outer_folds
from widenet.compare.importances import Importances, NotMeasured, why_not_measured
from widenet.compare.methods import methods_by_name
from widenet.compare.networks import default_epochs
from widenet.compare.result import CompareResult, Measure, Protocol
from widenet.compare.settings import CompareSettings
from widenet.compare.significance import FoldRows
from widenet.compare.summary import Standings, constant_of, standings
from widenet.compare.trial import FoldOutcome
from widenet.compare.trials import Trials
from widenet.data.dataset import Dataset
from widenet.data.sample import some_rows
from widenet.runs.cluster import joined
from widenet.runs.store import Store
from widenet.runs.workers import Workers, workers_for
from widenet.study.data import data_summary
from widenet.study.forecast import Forecast

ROUNDING = 1e-12  # share of the best constant's error by which rounding may change an error


def run_compare(
    dataset: Dataset,
    settings: CompareSettings | None = None,
    *,
    cluster: Any = None,
    store: Store | None = None,
    allow_long: bool = False,
    progress: Progress = SILENT,
) -> CompareResult:
    """Compare networks, kernels and baselines on this data by nested cross-validation.

    Args:
        dataset: The data.
        settings: Methods, folds, sizes, seed; the defaults of `CompareSettings` if left out.
        cluster: Where fits run instead of here: the address of a Dask scheduler, a `ClusterAddress`, or a
            client or cluster of Dask.
        store: Where finished fits are kept, so that a comparison that was interrupted resumes from there.
        allow_long: Whether a comparison whose forecast exceeds an hour may run.
        progress: Told of the forecasts that are done, and then of the fits.
    """
    start = time.perf_counter()
    settings = settings or CompareSettings()
    methods_by_name(settings.methods, settings.width, epochs=1)  # refuse wrong names before anything else
    dataset = some_rows(dataset, settings.rows, seed=_sklearn_seed(settings.seed))
    least, most = settings.repeats_for(dataset.n)
    tests = outer_folds(dataset, settings.folds, most, seed=_sklearn_seed(settings.seed))
    train_rows = dataset.n - len(tests[0])
    epochs = settings.epochs or default_epochs(train_rows)
    methods = methods_by_name(settings.methods, settings.width, epochs)
    protocol = {"folds": settings.folds, "width": settings.width, "epochs": epochs}
    trials = Trials(dataset, methods, tests, seed=settings.seed, protocol=protocol, store=store)
    classes, chance = dataset.labels is not None, _chance(dataset)
    rounding = 0.0 if classes else ROUNDING * chance
    rows = FoldRows(train_rows, len(tests[0]), classes, rounding, settings.folds)
    with joined(cluster) as place:
        num_workers = torch.get_num_threads() if place is None else place.num_threads()
        forecast = _forecast(trials.forecast(progress, num_workers), allow_long, progress)
        told = progress if place is None else on_workers(progress, place.num_workers)
        with workers_for(trials.work, forecast.seconds, place) as workers:
            found = _until_settled(trials, workers, rows, least, told)
            importances = _importances(trials, workers, found, range(settings.folds), told)
    return CompareResult(
        data=data_summary(dataset),
        protocol=Protocol(
            measure=Measure.MISCLASSIFIED if classes else Measure.SQUARED,
            chance=chance,
            train_rows=train_rows,
            test_rows=len(tests[0]),
            seed=settings.seed,
            repeated_rows=num_repeated(dataset.X),
            repeats=len(found.constant.errors) // settings.folds,
            **protocol,
        ),
        methods=found.methods,
        best=found.best,
        constant=found.constant,
        significance=found.significance,
        importances=importances,
        forecast=forecast,
        seconds=time.perf_counter() - start,
    )


def _until_settled(
    trials: Trials, workers: Workers, rows: FoldRows, least: int, progress: Progress
) -> Standings:
    """Divide the rows again until that settles the answer, or they have been divided as often as planned.

    How often depends on numbers alone, never on a clock, so that the same seed gives the same result.
    """
    num_folds = rows.folds or len(trials.tests)
    outcomes: dict[str, list[FoldOutcome]] = {method.name: [] for method in trials.methods}
    done = 0
    for end in range(least * num_folds, len(trials.tests) + 1, num_folds):
        told = after(progress, done * len(trials.methods))
        for name, more in trials.run(range(done, end), workers, told).items():
            outcomes[name] += more
        done = end
        tests = trials.tests[:done]
        measures = constant_measures(trials.dataset, tests)
        constant = constant_of(constant_errors(trials.dataset, tests), measures)
        found = standings(trials.methods, outcomes, constant, rows)
        if found.significance.settled:
            break
    return found


def _importances(
    trials: Trials, workers: Workers, found: Standings, folds: range, progress: Progress
) -> Importances:
    """What the method of the smallest error relies on, from the folds of the first division."""
    why_not = why_not_measured(trials.dataset)
    if found.best is None or not found.significance.learned:
        why_not = NotMeasured.NO_WINNER
    if found.best is None or why_not is not None:
        return Importances(not_measured=why_not)
    num_done = len(found.constant.errors) * len(trials.methods)
    return trials.importances(found.best, folds, workers, after(progress, num_done))


def _forecast(expected: dict[str, float], allow_long: bool, progress: Progress) -> Forecast:
    """The sum over the methods, noted, and refused where it is too long."""
    forecast = Forecast(sum(expected.values()))
    progress.note(forecast)
    slowest = max(expected, key=lambda name: expected[name])
    forecast.refuse_long(
        f"{expected[slowest] / HOUR:,.1f} of them are for {slowest}; use fewer `rows`, `methods` or `epochs`",
        allow_long=allow_long,
    )
    return forecast


def _sklearn_seed(seed: int) -> int:
    return seed % 2**32


def _chance(dataset: Dataset) -> float:
    """Error of the best constant over all rows."""
    (error,) = constant_errors(dataset, [torch.arange(dataset.n)])
    return error
