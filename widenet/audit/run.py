"""The audit itself: from a data set to everything that can be said before training."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import version

import torch
from torch import Tensor

from widenet.audit.forecast import forecast_audit
from widenet.audit.generalise import learning_curve, loo_summary, population_bound
from widenet.audit.labels import audit_labels
from widenet.audit.problem import PartOfGram, Problem, distinct_problem
from widenet.audit.result import SCHEMA, AuditResult, DataSummary, Forecast
from widenet.audit.spectral import complexity, label_spectrum, spectrum_summary, training_curve
from widenet.audit.train import TrainSettings, train_beside
from widenet.data.dataset import Dataset
from widenet.data.duplicates import Duplicates, find_duplicates
from widenet.errors import InputError, NotConvergedError
from widenet.kernels.kernel import Kernel
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.predict.loo import LeaveOneOut, estimated_leave_one_out, leave_one_out
from widenet.spectrum.floor import cholesky_floor, eigenvalue_floor
from widenet.spectrum.gram import DenseGram, Gram, TiledGram, num_to_fill

DEFAULT_KERNEL = "relu2-hidden"  # H∞: the theorems behind every section of the audit are about it
JITTER = 1e-8  # of the mean diagonal: lets rows that occur twice be left out one at a time
NORM_TOLERANCE = 1e-6  # of rows: what rounding in float32 leaves
LOO_PROBES = 28  # at least
PRECONDITIONER_RANK = 600
SINGLE_MARGIN = 100  # by which eigenvalues exceed the rounding of float32 where it is used


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


def run_audit(
    dataset: Dataset,
    settings: AuditSettings | None = None,
    *,
    progress: Callable[[str], None] = lambda stage: None,
) -> AuditResult:
    """Say what a wide network will make of this data, before training one.

    Args:
        dataset: The data.
        settings: Kernel, step size, seed; the defaults of `AuditSettings` if left out.
        progress: Called with a few words as each stage begins, and with these words, a colon and how far it
            is within a long one.
    """
    start = time.perf_counter()
    settings = settings or AuditSettings()
    kernel = _checked_kernel(settings)
    _refuse_other_norms(dataset)
    generator = torch.Generator().manual_seed(settings.seed)
    forecast = forecast_audit(dataset.n, dataset.d, dataset.Y.shape[1], kernel)
    progress(
        f"forecast: {forecast.seconds:.0f} s and {forecast.memory_bytes / 2**30:.1f} GiB ({forecast.gram})"
    )
    work = _Work(dataset, forecast, generator, progress)
    duplicates = find_duplicates(dataset)

    progress("kernel matrix")
    gram = work.gram(kernel)
    problem = _problem(dataset, duplicates, kernel, gram)
    ridge = 0.0 if problem.floor > 0 and not duplicates.num_repeated else JITTER * float(gram.diag().mean())
    spectrum = label_spectrum(
        dataset, problem, generator=generator, progress=work.count("labels on the spectrum")
    )
    if isinstance(gram, TiledGram) and _single_suffices(dataset.n, ridge or problem.floor):
        gram.round_(torch.float32)
    del problem
    loo = work.leave_one_out(gram, dataset.Y, ridge, "leave one out")
    del gram
    progress("learning curve")
    learning = learning_curve(dataset, kernel, loo, generator=generator)
    labels = audit_labels(dataset, work.fit_labels, generator=generator)
    curve = training_curve(spectrum, settings.eta)
    if settings.train is not None:
        progress(f"training a network of width {settings.train.width:,}")
        curve = replace(curve, trained=train_beside(dataset, settings.train, generator=generator))
    found = complexity(dataset, spectrum)
    return AuditResult(
        schema=SCHEMA,
        version=version("widenet"),
        data=_summary(dataset, duplicates),
        kernel=settings.kernel,
        complexity=found,
        spectrum=spectrum_summary(spectrum),
        curve=curve,
        bound=population_bound(dataset, settings.kernel, spectrum, found, kernel.diag(dataset.X)),
        loo=loo_summary(dataset, loo),
        learning_curve=learning,
        noise=labels.noise,
        labels=labels.suspects,
        labels_file=None,
        forecast=forecast,
        seconds=time.perf_counter() - start,
    )


@dataclass(frozen=True)
class _Work:
    """Gram operators and leave-one-out fits of one audit, done as its forecast decided."""

    dataset: Dataset
    forecast: Forecast
    generator: torch.Generator
    progress: Callable[[str], None]

    def gram(self, kernel: Kernel, dtype: torch.dtype = torch.float64) -> Gram:
        """The Gram operator of all rows; tiles of the given precision where it is not held whole."""
        if self.forecast.gram == "dense":
            return DenseGram(gram_matrix(kernel, self.dataset.X))
        return TiledGram(kernel, self.dataset.X, keep_bytes=self.forecast.gram_bytes, dtype=dtype)

    def leave_one_out(self, gram: Gram, Y: Tensor, ridge: float, stage: str) -> LeaveOneOut | None:
        """In closed form where the matrix is held, else estimated; None where that does not converge."""
        self.progress(stage)
        if isinstance(gram, DenseGram):
            return leave_one_out(gram.matrix, Y, ridge)
        try:
            return estimated_leave_one_out(
                gram,
                Y,
                ridge,
                num_probes=LOO_PROBES + num_to_fill(LOO_PROBES + Y.shape[1]),
                rank=min(PRECONDITIONER_RANK, gram.n // 4),
                generator=self.generator,
                progress=self.count(stage),
            )
        except NotConvergedError:
            return None

    def fit_labels(self, kernel: Kernel, Y: Tensor, ridge: float) -> LeaveOneOut:
        """Leave-one-out predictions of all rows under the kernel that was chosen for the labels."""
        dtype = torch.float32 if _single_suffices(self.dataset.n, ridge) else torch.float64
        loo = self.leave_one_out(self.gram(kernel, dtype), Y, ridge, "wrong labels")
        if loo is None:
            raise NotConvergedError(
                f"The labels of {self.dataset.n:,} rows could not be judged, because the solves with "
                f"{kernel.name} and ridge {ridge:.2g} did not converge; audit fewer rows."
            )
        return loo

    def count(self, stage: str) -> Callable[[int], None]:
        """Tell the stage, and then how many products with the Gram matrix it has made."""
        self.progress(stage)
        return lambda num_products: self.progress(f"{stage}: {num_products} products")


def _single_suffices(n: int, floor: float) -> bool:
    """Whether products in float32 are exact enough to solve with a matrix whose eigenvalues exceed `floor`.

    The rounding errors of n products of entries up to 1 add up as a random walk.
    """
    return floor >= SINGLE_MARGIN * torch.finfo(torch.float32).eps * math.sqrt(n)


def _checked_kernel(settings: AuditSettings) -> Kernel:
    if settings.eta is not None and not 0 < settings.eta < math.inf:
        raise InputError(f"The step size must be positive and finite, not {settings.eta:g}.")
    if settings.train is not None and settings.kernel != DEFAULT_KERNEL:
        raise InputError(
            f"--train trains the network of {DEFAULT_KERNEL}; leave --kernel {settings.kernel} out."
        )
    if settings.train is not None and settings.train.width % 2:
        raise InputError(f"--width {settings.train.width} must be even, because neurons come in pairs.")
    return kernel_by_name(settings.kernel)


def _refuse_other_norms(dataset: Dataset) -> None:
    """Certificates and theorems are about rows of norm 1."""
    farthest = float((dataset.X.norm(dim=1) - 1).abs().max())
    if farthest > NORM_TOLERANCE:
        raise InputError(
            f"An audit needs rows of norm 1, and some of {dataset.name} are off by {farthest:.2g}: prepare "
            "them with unit or standard."
        )


def _problem(dataset: Dataset, duplicates: Duplicates, kernel: Kernel, gram: Gram) -> Problem:
    """The problem over distinct rows, with a certified floor under its spectrum where one is found."""
    floor = eigenvalue_floor(kernel, dataset.X[duplicates.unique])
    if isinstance(gram, DenseGram):
        if duplicates.num_repeated:
            gram = DenseGram(gram.matrix[duplicates.unique][:, duplicates.unique])
        floor = floor or cholesky_floor(gram.matrix)
    elif duplicates.num_repeated:
        gram = PartOfGram(gram, duplicates.unique)
    return distinct_problem(dataset, duplicates, gram, floor)


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
