"""The comparison itself: every method on every outer fold, then ranks, tests and a verdict."""

import time
from dataclasses import dataclass
from importlib.metadata import version

import torch

from widenet.base.errors import InputError
from widenet.compare.folds import outer_folds, some_rows
from widenet.compare.methods import methods_by_name
from widenet.compare.networks import default_epochs
from widenet.compare.result import SCHEMA, ComparisonResult, DataSummary, Protocol
from widenet.compare.summary import significance_of, summarise
from widenet.compare.trials import Trials
from widenet.data.dataset import Dataset
from widenet.report.compare.verdict import verdict
from widenet.runs.store import Store
from widenet.runs.trials import Progress

HOUR = 3600.0


@dataclass(frozen=True)
class CompareSettings:
    """What a comparison depends on, besides the data.

    Attributes:
        methods: Names of methods or groups; empty for all.
        folds: Outer folds.
        repeats: How often the rows are divided into folds anew.
        width: Neurons of each hidden layer of the networks.
        epochs: Epochs of their training; None for a number that suits the rows.
        rows: Most rows to compare on; more are drawn from.
        seed: Seed of every random choice.
    """

    methods: tuple[str, ...] = ()
    folds: int = 5
    repeats: int = 1
    width: int = 128
    epochs: int | None = None
    rows: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("repeats", "width", "rows", "epochs"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} must be positive, not {value}.")


def run_comparison(
    dataset: Dataset,
    settings: CompareSettings | None = None,
    *,
    store: Store | None = None,
    allow_long: bool = False,
    progress: Progress = lambda done, total, text: None,
) -> ComparisonResult:
    """Compare networks, kernels and baselines on this data by nested cross-validation.

    Args:
        dataset: The data.
        settings: Methods, folds, sizes, seed; the defaults of `CompareSettings` if left out.
        store: Where finished fits are kept, so that a comparison that was interrupted goes on from there.
        allow_long: Whether a comparison whose forecast is beyond an hour may run.
        progress: Called with the numbers of forecasts, and then of fits, that are done and wanted, and with
            what they are.
    """
    start = time.perf_counter()
    settings = settings or CompareSettings()
    methods_by_name(settings.methods, settings.width, epochs=1)  # refuse wrong names before anything else
    dataset = some_rows(dataset, settings.rows, seed=_sklearn_seed(settings.seed))
    tests = outer_folds(dataset, settings.folds, settings.repeats, seed=_sklearn_seed(settings.seed))
    train_rows = dataset.n - len(tests[0])
    epochs = settings.epochs or default_epochs(train_rows)
    methods = methods_by_name(settings.methods, settings.width, epochs)
    protocol = {
        "folds": settings.folds,
        "repeats": settings.repeats,
        "width": settings.width,
        "epochs": epochs,
    }
    trials = Trials(dataset, methods, tests, seed=settings.seed, protocol=protocol, store=store)

    expected = trials.forecast(progress)
    forecast = sum(expected.values())
    if forecast > HOUR and not allow_long:
        slowest = max(expected, key=lambda name: expected[name])
        raise InputError(
            f"This comparison would take about {forecast / HOUR:.1f} hours, "
            f"{expected[slowest] / HOUR:.1f} of them for {slowest}: use fewer --rows, --methods or --epochs, "
            "or add --yes to run it all the same."
        )
    outcomes = trials.run(progress)
    results = summarise(methods, outcomes)
    test_share = len(tests[0]) / train_rows
    significance = significance_of(results, test_share)
    data, measure, chance = _summary(dataset), _measure(dataset), _chance(dataset)
    return ComparisonResult(
        schema=SCHEMA,
        version=version("widenet"),
        data=data,
        protocol=Protocol(
            measure=measure,
            chance=chance,
            train_rows=train_rows,
            test_rows=len(tests[0]),
            seed=settings.seed,
            **protocol,
        ),
        methods=results,
        best=results[0].name if results[0].error is not None else None,
        significance=significance,
        verdict=verdict(results, significance, measure, chance),
        forecast=forecast,
        seconds=time.perf_counter() - start,
    )


def _sklearn_seed(seed: int) -> int:
    return seed % 2**32


def _measure(dataset: Dataset) -> str:
    return "squared error" if dataset.labels is None else "misclassified"


def _chance(dataset: Dataset) -> float:
    """Error of the best constant: the most frequent class, or the mean."""
    if dataset.labels is None:
        return float((dataset.Y - dataset.Y.mean(0)).square().sum(1).mean())
    return 1 - float(torch.bincount(dataset.labels).max()) / dataset.n


def _summary(dataset: Dataset) -> DataSummary:
    counts = () if dataset.labels is None else torch.bincount(dataset.labels, minlength=len(dataset.classes))
    return DataSummary(
        name=dataset.name,
        n=dataset.n,
        d=dataset.d,
        outputs=dataset.Y.shape[1],
        classes=dataset.classes,
        class_counts=tuple(int(count) for count in counts),
        task=dataset.task,
        prepare=dataset.preparation.kind,
        provenance=dataset.provenance,
    )
