"""The audit itself: from a data set to everything that can be said before training."""

import time
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from widenet.audit.elsewhere import GramsElsewhere, grams_on
from widenet.audit.forecast import forecast_audit
from widenet.audit.generalise import learning_curve, loo_summary, population_bound
from widenet.audit.labels import LabelReport, audit_labels, most_similar
from widenet.audit.result import (
    NUM_NEAREST,
    NUM_PICTURED,
    NUM_REVIEWED,
    AuditResult,
    Bound,
    Chosen,
    Complexity,
    GramPlan,
    Held,
    Soundness,
    TrainingCurve,
)
from widenet.audit.settings import TRAINED_WIDTH, AuditSettings
from widenet.audit.spectral import LabelSpectrum, complexity, spectrum_summary, training_curve
from widenet.audit.train import train_beside
from widenet.audit.work import GramMaker, Interpolation, Work
from widenet.base.errors import InputError
from widenet.base.progress import SILENT, Progress
from widenet.base.threads import threads
from widenet.data.dataset import Dataset
from widenet.data.duplicates import Duplicates, find_duplicates
from widenet.data.noise import subset
from widenet.data.order import content_order
from widenet.data.outlying import find_outlying
from widenet.data.sample import some_rows
from widenet.kernels.kernel import Kernel
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.predict.choose import choose_model
from widenet.predict.learning_curve import LearningCurve
from widenet.runs.checkpoints import Checkpoints
from widenet.runs.code import code_version
from widenet.runs.device import device_named
from widenet.runs.store import Store
from widenet.runs.trial import Trial, data_hash
from widenet.spectrum.gram import DenseGram, Gram, TiledGram
from widenet.study.data import data_summary
from widenet.study.forecast import Forecast

NORM_TOLERANCE = 1e-6  # of rows: what rounding in float32 leaves
UNKEPT = ("eta", "raw_cells", "rows")  # what no kept stage depends on, but for the rows themselves


def run_audit(
    dataset: Dataset,
    settings: AuditSettings | None = None,
    *,
    make_gram: GramMaker | None = None,
    cluster: Any = None,
    store: Store | None = None,
    allow_long: bool = False,
    progress: Progress = SILENT,
) -> AuditResult:
    """Say what a wide network will make of this data, before training one.

    Args:
        dataset: The data.
        settings: Kernel, step size, seed; the defaults of `AuditSettings` if left out.
        make_gram: Makes the Gram operator of a kernel on rows (n, d), in a precision; by default dense or
            tiled, as the forecast decides.
        cluster: Where a kernel matrix is held that is too large for this machine alone: the address of a Dask
            scheduler, a `ClusterAddress`, or a client or cluster of Dask.
        store: Where long stages are kept on the way, and looked for at the start; without one, nothing
            outlives the call.
        allow_long: Whether an audit whose forecast exceeds an hour may run.
        progress: Told of each stage.
    """
    settings = settings or AuditSettings()
    device = device_named(settings.device, cluster)
    if cluster is not None:
        with grams_on(cluster, store, progress) as (elsewhere, told):
            return run_audit(
                dataset, settings, make_gram=elsewhere, store=store, allow_long=allow_long, progress=told
            )
    start = time.perf_counter()
    _refuse_other_norms(dataset)
    cells, dataset = dataset.cells, _sample(dataset, settings)
    width = (settings.width or TRAINED_WIDTH) if settings.train else 0
    forecast, plan, make_gram = _plan(dataset, settings, width, device, make_gram)
    progress.note(forecast)
    forecast.refuse_long("audit a sample with `rows`", allow_long=allow_long)
    duplicates = find_duplicates(dataset)
    work = _work(dataset, settings, duplicates, plan, make_gram, device, store, progress)
    found = _find(work, settings)
    result = AuditResult(
        data=data_summary(dataset),
        soundness=Soundness(
            duplicates.groups, duplicates.opposite, duplicates.conflicts, find_outlying(dataset)
        ),
        kernel=settings.kernel,
        raw_cells=settings.raw_cells,
        complexity=found.complexity,
        dependence=found.inverted.dependence,
        spectrum=spectrum_summary(found.spectrum),
        curve=_descent(work, found.spectrum, settings.eta, width),
        bound=found.bound,
        loo=loo_summary(work.dataset, work.points, found.inverted.loo),
        learning_curve=found.learning_curve,
        chosen=found.chosen,
        noise=found.labels.noise,
        contradicting=found.labels.contradicting,
        ranking=found.labels.suspects,
        pictures={},
        cells=cells,  # of all rows, so that a corrected table has them
        files=dict(zip(dataset.rows.tolist(), dataset.files, strict=True)) if dataset.files else {},
        forecast=forecast,
        gram=plan,
        seconds=0.0,
    )
    result = _with_evidence(result, work, dataset)
    return replace(result, seconds=time.perf_counter() - start)


def _sample(dataset: Dataset, settings: AuditSettings) -> Dataset:
    """The rows to audit; which ones are drawn does not depend on how a file is sorted."""
    if settings.rows is None or dataset.n <= settings.rows:
        return dataset
    if settings.rows < len(dataset.classes):
        raise InputError(
            f"`rows` is {settings.rows:,}, but {dataset.name} has {len(dataset.classes):,} classes: draw at "
            "least one row of each."
        )
    order = content_order(dataset.X, dataset.Y)
    return some_rows(dataset, settings.rows, seed=settings.seed, order=order)


def _plan(
    dataset: Dataset,
    settings: AuditSettings,
    width: int,
    device: torch.device,
    make_gram: GramMaker | None,
) -> tuple[Forecast, GramPlan, GramMaker]:
    """What the audit costs, how the kernel matrix is held, and what makes it so."""
    kernel = kernel_by_name(settings.kernel)
    sizes = dataset.n, dataset.d, dataset.Y.shape[1]
    forecast, plan = forecast_audit(*sizes, kernel, trained_width=width, device=device)
    if isinstance(make_gram, GramsElsewhere):
        forecast, plan, make_gram = make_gram.planned(dataset.n, forecast, plan)
    return forecast, plan, make_gram or partial(_planned_gram, plan)


def _work(
    dataset: Dataset,
    settings: AuditSettings,
    duplicates: Duplicates,
    plan: GramPlan,
    make_gram: GramMaker,
    device: torch.device,
    store: Store | None,
    progress: Progress,
) -> Work:
    """The kernel matrices of the rows in the order of their content.

    All that is drawn at random is drawn by position, which must not depend on how a file is sorted.
    """
    order = content_order(dataset.X, dataset.Y)
    ordered = subset(replace(dataset, images=None, cells=None), order)
    trial = partial(audit_trial, ordered, settings, is_whole=plan.held is Held.DENSE)
    checkpoints = Checkpoints(store, trial, progress, each_step=plan.held is Held.WORKERS)
    checkpoints.note_differences()
    generator = torch.Generator().manual_seed(settings.seed)
    points = duplicates.points.ordered(order)
    return Work(ordered, points, make_gram, generator, progress, checkpoints, device)


@dataclass(frozen=True)
class _Found:
    """What the stages of an audit found."""

    spectrum: LabelSpectrum
    inverted: Interpolation
    learning_curve: LearningCurve
    chosen: Chosen
    labels: LabelReport
    complexity: Complexity
    bound: Bound


def _find(work: Work, settings: AuditSettings) -> _Found:
    """Run the stages, one after the other; each draws where the one before it left off."""
    kernel, dataset = kernel_by_name(settings.kernel), work.dataset
    work.progress("kernel matrix")
    problem = work.problem(kernel)
    spectrum = work.spectrum(problem)
    inverted = work.interpolate(kernel, problem, spectrum)
    del problem  # and with it the kernel matrix
    work.progress("learning curve")
    curve = learning_curve(
        dataset, work.points, kernel, 0.0, inverted.loo, generator=work.generator, device=work.device
    )
    chosen, labels = _choose(work)
    found = complexity(dataset, spectrum, inverted.complexity, inverted.enclosure)
    bound = population_bound(dataset, settings.kernel, spectrum, found, kernel.diag(dataset.X))
    return _Found(spectrum, inverted, curve, chosen, labels, found, bound)


def audit_trial(dataset: Dataset, settings: AuditSettings, *, is_whole: bool) -> Trial:
    """An audit of rows in the order of their content, told by everything that its long stages depend on.

    Where the matrix is not held whole, stages estimate what they find in closed form elsewhere.
    """
    code = f"{code_version('widenet.audit.run')} numpy {np.__version__} torch {torch.__version__}"
    kept = {name: each for name, each in asdict(settings).items() if name not in UNKEPT}
    study = {"study": "audit", "whole matrix": is_whole}
    return Trial(study | kept, code, data_hash(dataset.X, dataset.Y))


def _choose(work: Work) -> tuple[Chosen, LabelReport]:
    """Choose depth and ridge for this data, for the error to expect and for the labels that look wrong."""
    dataset, points, generator, device = work.dataset, work.points, work.generator, work.device
    work.progress("choice of a kernel")
    X, Y, place = (part.to(device) for part in (dataset.X, dataset.Y, points.place))
    model = choose_model(X, Y, place=place, generator=generator)
    kernel = kernel_by_name(model.kernel)
    loo = work.fit(kernel, model.ridge)
    with threads(1) as (pool, _):  # its thousands of small steps are slower if each is split over cores
        labels = pool.submit(audit_labels, dataset, points, model, loo).result()
    work.progress("learning curve")
    curve = learning_curve(dataset, points, kernel, model.ridge, loo, generator=generator, device=device)
    return Chosen(model.kernel, model.ridge, loo_summary(dataset, points, loo), curve), labels


def _descent(work: Work, spectrum: LabelSpectrum, eta: float | None, width: int) -> TrainingCurve:
    """The predicted descent, with a network of some width, unless that is 0, trained beside it."""
    curve = training_curve(spectrum, eta)
    if not width:
        return curve
    trained = train_beside(
        work.dataset, width, generator=work.generator, device=work.device, progress=work.progress
    )
    return replace(curve, trained=trained)


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


def _with_evidence(result: AuditResult, work: Work, dataset: Dataset) -> AuditResult:
    """The rows nearest to the suspicious ones, and pictures of the first of both where rows are images."""
    suspects = result.suspicious[:NUM_REVIEWED]
    nearest = most_similar(work.dataset, work.points, suspects, NUM_NEAREST)
    if dataset.images is None:
        return replace(result, nearest=nearest)
    index = {row: place for place, row in enumerate(dataset.rows.tolist())}
    shown = [row for each in suspects[:NUM_PICTURED] for row in (each.row, *nearest[each.row])]
    return replace(result, nearest=nearest, pictures={row: dataset.images[index[row]] for row in shown})
