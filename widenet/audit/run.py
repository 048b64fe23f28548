"""The audit itself: from a data set to everything that can be said before training."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import version

import torch
from torch import Tensor

from widenet.audit.forecast import forecast_audit, kept_bytes
from widenet.audit.generalise import learning_curve, loo_summary, population_bound
from widenet.audit.labels import LabelReport, audit_labels
from widenet.audit.problem import Problem, distinct_problem
from widenet.audit.result import SCHEMA, AuditResult, DataSummary, Forecast
from widenet.audit.spectral import complexity, label_spectrum, spectrum_summary, training_curve
from widenet.audit.train import TrainSettings, train_beside
from widenet.data.dataset import Dataset
from widenet.data.duplicates import Duplicates, find_duplicates
from widenet.errors import InputError
from widenet.kernels.kernel import Kernel
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.predict.loo import LeaveOneOut, estimated_leave_one_out, leave_one_out
from widenet.spectrum.floor import cholesky_floor, eigenvalue_floor
from widenet.spectrum.gram import DenseGram, Gram, TiledGram

DEFAULT_KERNEL = "relu2-hidden"  # H∞: the theorems behind every section of the audit are about it
JITTER = 1e-8  # of the mean diagonal: lets rows that occur twice be left out one at a time
LOO_PROBES = 32
PRECONDITIONER_RANK = 600


@dataclass(frozen=True)
class AuditSettings:
    """What an audit depends on, besides the data.

    Attributes:
        kernel: Name of the kernel.
        eta: Step size of gradient descent; None for 1/λ_max.
        seed: Seed of every random choice.
        train: A real network to train beside the prediction; None for none.
    """

    kernel: str = DEFAULT_KERNEL
    eta: float | None = None
    seed: int = 0
    train: TrainSettings | None = None


def audit(
    dataset: Dataset,
    settings: AuditSettings | None = None,
    *,
    progress: Callable[[str], None] = lambda stage: None,
) -> AuditResult:
    """Say what a wide network will make of this data, before training one.

    Args:
        dataset: The data.
        settings: Kernel, step size, seed; the defaults of `AuditSettings` if left out.
        progress: Called with a few words as each stage begins.
    """
    start = time.perf_counter()
    settings = settings or AuditSettings()
    kernel = kernel_by_name(settings.kernel)
    if settings.eta is not None and not settings.eta > 0:
        raise InputError(f"The step size must be positive, not {settings.eta:g}.")
    if settings.train is not None and settings.kernel != DEFAULT_KERNEL:
        raise InputError(
            f"--train trains the network of {DEFAULT_KERNEL}; leave --kernel {settings.kernel} out."
        )
    generator = torch.Generator().manual_seed(settings.seed)
    forecast = forecast_audit(dataset.n, dataset.d, dataset.Y.shape[1], kernel)
    progress(
        f"forecast: {forecast.seconds:.0f} s and {forecast.memory_bytes / 2**30:.1f} GiB ({forecast.gram})"
    )
    duplicates = find_duplicates(dataset)

    progress("kernel matrix")
    gram = _gram(kernel, dataset.X, dataset, forecast)
    progress("labels on the spectrum")
    problem = _problem(dataset, duplicates, kernel, gram, forecast)
    spectrum = label_spectrum(dataset, problem, generator=generator)
    found = complexity(dataset, spectrum)
    curve = training_curve(spectrum, settings.eta)
    bound = population_bound(dataset, settings.kernel, spectrum, found, kernel.diag(dataset.X))
    del problem

    progress("leave one out")
    loo = _leave_one_out(gram, dataset.Y, _jitter(gram, duplicates), generator)
    del gram
    progress("learning curve")
    learning = learning_curve(dataset, kernel, loo, generator=generator)

    def fit_labels(label_kernel: Kernel, Y: Tensor, ridge: float) -> LeaveOneOut:
        return _leave_one_out(_gram(label_kernel, dataset.X, dataset, forecast), Y, ridge, generator)

    progress("wrong labels")
    labels: LabelReport = audit_labels(dataset, fit_labels, generator=generator)
    if settings.train is not None:
        progress(f"training a network of width {settings.train.width:,}")
        curve = replace(curve, trained=train_beside(dataset, settings.train, generator=generator))
    return AuditResult(
        schema=SCHEMA,
        version=version("widenet"),
        data=_summary(dataset, duplicates),
        kernel=settings.kernel,
        complexity=found,
        spectrum=spectrum_summary(spectrum),
        curve=curve,
        bound=bound,
        loo=loo_summary(dataset, loo),
        learning_curve=learning,
        noise=labels.noise,
        labels=labels.suspects,
        labels_file=None,
        forecast=forecast,
        seconds=time.perf_counter() - start,
    )


def _gram(kernel: Kernel, X: Tensor, dataset: Dataset, forecast: Forecast) -> Gram:
    """The Gram operator of rows X, held as the forecast decided."""
    if forecast.gram == "dense":
        return DenseGram(gram_matrix(kernel, X))
    keep = kept_bytes(forecast, dataset.n, dataset.d, dataset.Y.shape[1])
    return TiledGram(kernel, X, keep_bytes=keep)


def _problem(
    dataset: Dataset, duplicates: Duplicates, kernel: Kernel, gram: Gram, forecast: Forecast
) -> Problem:
    """The problem over distinct rows, with the best certified floor under its spectrum."""
    X = dataset.X[duplicates.unique]
    if duplicates.num_repeated:
        if isinstance(gram, DenseGram):
            gram = DenseGram(gram.matrix[duplicates.unique][:, duplicates.unique])
        else:
            gram = _gram(kernel, X, dataset, forecast)
    floor = eigenvalue_floor(kernel, X)
    if floor == 0 and isinstance(gram, DenseGram):
        floor = cholesky_floor(gram.matrix)
    return distinct_problem(dataset, duplicates, gram, floor)


def _leave_one_out(gram: Gram, Y: Tensor, ridge: float, generator: torch.Generator) -> LeaveOneOut:
    """In closed form where the matrix is held, estimated otherwise."""
    if isinstance(gram, DenseGram):
        return leave_one_out(gram.matrix, Y, ridge)
    rank = min(PRECONDITIONER_RANK, gram.n // 4)
    return estimated_leave_one_out(gram, Y, ridge, num_probes=LOO_PROBES, rank=rank, generator=generator)


def _jitter(gram: Gram, duplicates: Duplicates) -> float:
    return JITTER * float(gram.diag().mean()) if duplicates.num_repeated else 0.0


def _summary(dataset: Dataset, duplicates: Duplicates) -> DataSummary:
    counts = () if dataset.labels is None else torch.bincount(dataset.labels, minlength=len(dataset.classes))
    return DataSummary(
        name=dataset.name,
        n=dataset.n,
        d=dataset.d,
        classes=dataset.classes,
        class_counts=tuple(int(count) for count in counts),
        task=dataset.task,
        prepare=dataset.preparation.kind,
        duplicates=duplicates.groups,
        opposites=duplicates.opposite,
        conflicts=duplicates.conflicts,
        provenance=dataset.provenance,
    )
