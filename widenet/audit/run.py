"""The audit itself: from a data set to everything that can be said before training."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from widenet.audit.forecast import forecast_audit
from widenet.audit.generalise import learning_curve, loo_summary, population_bound
from widenet.audit.labels import audit_labels
from widenet.audit.problem import KernelProblem, distinct_problem
from widenet.audit.result import NUM_PICTURED, AuditResult, GramPlan, Held, Soundness, Suspect
from widenet.audit.settings import TRAINED_WIDTH, AuditSettings
from widenet.audit.spectral import complexity, label_spectrum, spectrum_summary, training_curve
from widenet.audit.train import train_beside
from widenet.base.errors import InputError, NotConvergedError
from widenet.base.progress import SILENT, Progress
from widenet.data.dataset import Dataset
from widenet.data.duplicates import Duplicates, find_duplicates
from widenet.kernels.kernel import Kernel
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.predict.loo import LeaveOneOut, estimated_leave_one_out, leave_one_out
from widenet.spectrum.floor import cholesky_floor, eigenvalue_floor
from widenet.spectrum.gram import DenseGram, Gram, TiledGram, num_to_fill
from widenet.study.data import data_summary

JITTER = 1e-8  # of the mean diagonal: lets rows that occur twice be left out one at a time
NORM_TOLERANCE = 1e-6  # of rows: what rounding in float32 leaves
LOO_PROBES = 28  # at least
PRECONDITIONER_RANK = 600
SINGLE_MARGIN = 100  # by which eigenvalues exceed the rounding of float32 where it is used

GramMaker = Callable[[Kernel, Tensor, torch.dtype], Gram]


def run_audit(
    dataset: Dataset,
    settings: AuditSettings | None = None,
    *,
    make_gram: GramMaker | None = None,
    allow_long: bool = False,
    progress: Progress = SILENT,
) -> AuditResult:
    """Say what a wide network will make of this data, before training one.

    Args:
        dataset: The data.
        settings: Kernel, step size, seed; the defaults of `AuditSettings` if left out.
        make_gram: Makes the Gram operator of a kernel on rows (n, d), in a precision; by default dense or
            tiled, as the forecast decides.
        allow_long: Whether an audit whose forecast exceeds an hour may run.
        progress: Told of each stage.
    """
    start = time.perf_counter()
    settings = settings or AuditSettings()
    kernel = kernel_by_name(settings.kernel)
    _refuse_other_norms(dataset)
    generator = torch.Generator().manual_seed(settings.seed)
    forecast, plan = forecast_audit(dataset.n, dataset.d, dataset.Y.shape[1], kernel)
    progress.note(forecast)
    forecast.refuse_long("audit fewer rows", allow_long=allow_long)
    work = _Work(dataset, make_gram or partial(_planned_gram, plan), generator, progress)
    duplicates = find_duplicates(dataset)

    progress("kernel matrix")
    gram = work.gram(kernel)
    problem = _problem(dataset, duplicates, kernel, gram)
    ridge = 0.0 if problem.floor > 0 and not duplicates.num_repeated else JITTER * float(gram.diag().mean())
    spectrum = label_spectrum(
        dataset, problem, generator=generator, progress=work.count("labels on the spectrum")
    )
    if _single_suffices(dataset.n, ridge or problem.floor):
        gram = gram.rounded(torch.float32)
    del problem
    loo = work.leave_one_out(gram, dataset.Y, ridge, "leave one out")
    del gram
    progress("learning curve")
    learning = learning_curve(dataset, kernel, loo, generator=generator)
    labels = audit_labels(dataset, work.fit_labels, generator=generator)
    curve = training_curve(spectrum, settings.eta)
    if settings.train:
        width = settings.width or TRAINED_WIDTH
        progress(f"training a network of width {width:,}")
        curve = replace(curve, trained=train_beside(dataset, width, generator=generator))
    found = complexity(dataset, spectrum)
    return AuditResult(
        data=data_summary(dataset),
        soundness=Soundness(duplicates.groups, duplicates.opposite, duplicates.conflicts),
        kernel=settings.kernel,
        complexity=found,
        spectrum=spectrum_summary(spectrum),
        curve=curve,
        bound=population_bound(dataset, settings.kernel, spectrum, found, kernel.diag(dataset.X)),
        loo=loo_summary(dataset, loo),
        learning_curve=learning,
        noise=labels.noise,
        labels=labels.suspects,
        pictures=_pictures(dataset, labels.suspects),
        forecast=forecast,
        gram=plan,
        seconds=time.perf_counter() - start,
    )


@dataclass(frozen=True)
class _Work:
    """Gram operators and leave-one-out fits of one audit."""

    dataset: Dataset
    make_gram: GramMaker
    generator: torch.Generator
    progress: Progress

    def gram(self, kernel: Kernel, dtype: torch.dtype = torch.float64) -> Gram:
        """The Gram operator of all rows; in the given precision where it is not held whole."""
        return self.make_gram(kernel, self.dataset.X, dtype)

    def leave_one_out(self, gram: Gram, Y: Tensor, ridge: float, stage: str) -> LeaveOneOut | None:
        """In closed form where the matrix is held, else estimated; None where that does not converge."""
        self.progress(stage)
        matrix = gram.held()
        if matrix is not None:
            return leave_one_out(matrix, Y, ridge)
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
        return lambda num_products: self.progress(stage, num_products, detail="products")


def _single_suffices(n: int, floor: float) -> bool:
    """Whether products in float32 are exact enough to solve with a matrix whose eigenvalues exceed `floor`.

    The rounding errors of n products of entries up to 1 add up as a random walk.
    """
    return floor >= SINGLE_MARGIN * torch.finfo(torch.float32).eps * math.sqrt(n)


def _planned_gram(plan: GramPlan, kernel: Kernel, X: Tensor, dtype: torch.dtype) -> Gram:
    """Held whole, or by as many tiles as there is room for."""
    if plan.held is Held.DENSE:
        return DenseGram(gram_matrix(kernel, X))
    return TiledGram(kernel, X, keep_bytes=plan.num_bytes, dtype=dtype)


def _refuse_other_norms(dataset: Dataset) -> None:
    """Certificates and theorems are about rows of norm 1."""
    farthest = float((dataset.X.norm(dim=1) - 1).abs().max())
    if farthest > NORM_TOLERANCE:
        raise InputError(
            f"An audit needs rows of norm 1, but some of {dataset.name} are off by {farthest:.2g}: prepare "
            "them with unit or standard."
        )


def _problem(dataset: Dataset, duplicates: Duplicates, kernel: Kernel, gram: Gram) -> KernelProblem:
    """The problem over distinct rows, with a certified floor under its spectrum where one is found."""
    if duplicates.num_repeated:
        gram = gram.part(duplicates.unique)
    floor, matrix = eigenvalue_floor(kernel, dataset.X[duplicates.unique]), gram.held()
    if matrix is not None:
        floor = floor or cholesky_floor(matrix)
    return distinct_problem(dataset, duplicates, gram, floor)


def _pictures(dataset: Dataset, suspects: tuple[Suspect, ...]) -> dict[int, Tensor]:
    """Pixels of the most suspicious rows, by row number."""
    if dataset.images is None:
        return {}
    position = {row: index for index, row in enumerate(dataset.rows.tolist())}
    return {each.row: dataset.images[position[each.row]] for each in suspects[:NUM_PICTURED]}
