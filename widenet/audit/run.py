"""The audit itself: from a data set to everything that can be said before training."""

import time
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from widenet.audit.elsewhere import GramsElsewhere, grams_on
from widenet.audit.findings import (
    Bound,
    Chosen,
    Complexity,
    GramPlan,
    Held,
    LeaveOneOutSummary,
    Soundness,
    TrainingCurve,
    WholeRows,
)
from widenet.audit.forecast import forecast_audit, forecast_landmarks
from widenet.audit.generalise import learning_curve, loo_summary, population_bound
from widenet.audit.labels import LabelReport, audit_labels, most_similar
from widenet.audit.result import NUM_NEAREST, NUM_PICTURED, NUM_REVIEWED, AuditResult
from widenet.audit.settings import SAMPLE_ROWS, TRAINED_WIDTH, AuditSettings
from widenet.audit.spectral import LabelSpectrum, complexity, spectrum_summary, training_curve
from widenet.audit.train import train_beside
from widenet.audit.whole import whole_rows
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
from widenet.predict.loo import LeaveOneOut
from widenet.runs.checkpoints import Checkpoints
from widenet.runs.code import code_version
from widenet.runs.device import device_named
from widenet.runs.store import Store
from widenet.runs.trial import Trial, data_hash
from widenet.spectrum.gram import DenseGram, Gram, TiledGram
from widenet.study.data import data_summary
from widenet.study.forecast import Forecast

NORM_TOLERANCE = 1e-6  # of rows: what rounding in float32 leaves
# What no kept stage depends on, but for the rows themselves; that of landmarks has their number in its name.
UNKEPT = ("eta", "landmarks", "raw_cells", "rows")


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
    _refuse_one_target(dataset)
    sample = _sample(dataset, settings)
    judged = dataset if settings.landmarks and sample.n < dataset.n else sample  # whose labels are judged
    width = (settings.width or TRAINED_WIDTH) if settings.train else 0
    forecast, plan, make_gram = _plan(sample, settings, width, device, make_gram)
    advice = "audit a sample with `rows`"
    if judged is not sample:
        forecast, advice = _with_landmarks(forecast, judged, settings, device), "take fewer `landmarks`"
    progress.note(forecast)
    forecast.refuse_long(advice, allow_long=allow_long)
    begin = partial(_work, settings, plan, make_gram, device, store, progress)
    duplicates = find_duplicates(judged)
    work = begin(sample, duplicates if judged is sample else find_duplicates(sample))
    work.checkpoints.note_differences()
    found = _find(work, settings, judged.n)
    if judged is sample:
        verdict = _judge(work, found.chosen, found.left_out)
    else:
        verdict = _judge_all(begin(judged, duplicates), settings, found.chosen, sample.n)
    curve = _descent(work, found.spectrum, settings.eta, width)
    result = _gathered(settings, judged, duplicates, found, verdict, curve, forecast, plan)
    result = replace(
        _with_evidence(result, verdict.work, judged),
        data=replace(result.data, provenance=sample.provenance),
        cells=dataset.cells,  # of all rows, so that a corrected table has them
    )
    return replace(result, seconds=time.perf_counter() - start)


def _sample(dataset: Dataset, settings: AuditSettings) -> Dataset:
    """The rows to audit with the kernel; which are drawn does not depend on how a file is sorted."""
    num_rows = settings.rows or (SAMPLE_ROWS if settings.landmarks else dataset.n)
    if dataset.n <= num_rows and settings.landmarks:
        note = f"No landmarks are needed for {dataset.n:,} rows: all of them were audited exactly."
        return replace(dataset, provenance=(*dataset.provenance, note))
    if dataset.n <= num_rows:
        return dataset
    if num_rows < len(dataset.classes):
        raise InputError(
            f"`rows` is {num_rows:,}, but {dataset.name} has {len(dataset.classes):,} classes: draw at "
            "least one row of each."
        )
    order = content_order(dataset.X, dataset.Y)
    return some_rows(dataset, num_rows, seed=settings.seed, order=order)


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


def _with_landmarks(
    forecast: Forecast, dataset: Dataset, settings: AuditSettings, device: torch.device
) -> Forecast:
    """What the audit of a sample costs, and the labels of all rows after it."""
    sizes = dataset.n, dataset.d, dataset.Y.shape[1]
    assert settings.landmarks is not None
    after = forecast_landmarks(*sizes, settings.landmarks, device=device)
    memory = max(forecast.memory_bytes or 0, after.memory_bytes or 0)
    return Forecast(forecast.seconds + after.seconds, memory)


def _work(
    settings: AuditSettings,
    plan: GramPlan,
    make_gram: GramMaker,
    device: torch.device,
    store: Store | None,
    progress: Progress,
    dataset: Dataset,
    duplicates: Duplicates,
) -> Work:
    """The kernel matrices of the rows in the order of their content.

    All that is drawn at random is drawn by position, which must not depend on how a file is sorted.
    """
    order = content_order(dataset.X, dataset.Y)
    ordered = subset(replace(dataset, images=None, cells=None), order)
    trial = partial(audit_trial, ordered, settings, is_whole=plan.held is Held.DENSE)
    checkpoints = Checkpoints(store, trial, progress, each_step=plan.held is Held.WORKERS)
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
    left_out: LeaveOneOut  # by the predictor that was chosen
    loo: LeaveOneOutSummary  # of the kernel that interpolates
    complexity: Complexity
    bound: Bound


def _find(work: Work, settings: AuditSettings, num_rows: int) -> _Found:
    """Run the stages, one after the other; each draws where the one before it left off.

    The rows may be a sample of `num_rows`, to which the learning curve is then extrapolated.
    """
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
    chosen, left_out = _choose(work, num_rows)
    found = complexity(dataset, spectrum, inverted.complexity, inverted.enclosure)
    bound = population_bound(dataset, settings.kernel, spectrum, found, kernel.diag(dataset.X))
    loo = loo_summary(dataset, work.points, inverted.loo)
    return _Found(spectrum, inverted, curve, chosen, left_out, loo, found, bound)


def audit_trial(dataset: Dataset, settings: AuditSettings, *, is_whole: bool) -> Trial:
    """An audit of rows in the order of their content, told by everything that its long stages depend on.

    Where the matrix is not held whole, stages estimate what they find in closed form elsewhere.
    """
    code = f"{code_version('widenet.audit.run')} numpy {np.__version__} torch {torch.__version__}"
    kept = {name: each for name, each in asdict(settings).items() if name not in UNKEPT}
    study = {"study": "audit", "whole matrix": is_whole}
    return Trial(study | kept, code, data_hash(dataset.X, dataset.Y))


def _choose(work: Work, num_rows: int) -> tuple[Chosen, LeaveOneOut]:
    """Choose depth and ridge for this data, for the error to expect and for the labels that look wrong."""
    dataset, points, generator, device = work.dataset, work.points, work.generator, work.device
    work.progress("choice of a kernel")
    X, Y, place = (part.to(device) for part in (dataset.X, dataset.Y, points.place))
    model = choose_model(X, Y, place=place, generator=generator)
    kernel = kernel_by_name(model.kernel)
    loo = work.fit(kernel, model.ridge)
    work.progress("learning curve")
    today = num_rows if num_rows > dataset.n else None
    curve = learning_curve(
        dataset, points, kernel, model.ridge, loo, generator=generator, device=device, today=today
    )
    return Chosen(model.kernel, model.ridge, loo_summary(dataset, points, loo), curve), loo


@dataclass(frozen=True)
class _Judged:
    """The rows whose labels were judged, and what was found of them."""

    work: Work
    labels: LabelReport
    whole: WholeRows | None = None


def _judge(work: Work, chosen: Chosen, loo: LeaveOneOut) -> _Judged:
    """Judge the labels of rows by what was predicted without them."""
    work.progress("wrong labels")
    with threads(1) as (pool, _):  # its thousands of small steps are slower if each is split over cores
        return _Judged(work, pool.submit(audit_labels, work.dataset, work.points, chosen, loo).result())


def _judge_all(work: Work, settings: AuditSettings, chosen: Chosen, num_sampled: int) -> _Judged:
    """Judge all rows by landmarks, with the kernel and ridge that were chosen on a sample."""
    assert settings.landmarks is not None
    fit = work.fit_landmarks(kernel_by_name(chosen.kernel), chosen.ridge, settings.landmarks)
    whole = whole_rows(work.dataset, work.points, fit, chosen, num_sampled)
    return replace(_judge(work, chosen, fit.loo), whole=whole)


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


def _refuse_one_target(dataset: Dataset) -> None:
    """What a file is refused for before it is a data set."""
    if bool((dataset.Y[:1] == dataset.Y).all()):
        raise InputError(
            f"All {dataset.n:,} rows of {dataset.name} have the same target, so there is nothing to learn: "
            "give another one."
        )


def _gathered(
    settings: AuditSettings,
    dataset: Dataset,
    duplicates: Duplicates,
    found: _Found,
    verdict: _Judged,
    curve: TrainingCurve,
    forecast: Forecast,
    plan: GramPlan,
) -> AuditResult:
    """All that was found of rows whose labels were judged, without pictures and cells."""
    repeated = duplicates.groups, duplicates.opposite, duplicates.conflicts
    return AuditResult(
        data=data_summary(dataset),
        soundness=Soundness(*repeated, find_outlying(dataset)),
        kernel=settings.kernel,
        raw_cells=settings.raw_cells,
        complexity=found.complexity,
        dependence=found.inverted.dependence,
        spectrum=spectrum_summary(found.spectrum),
        curve=curve,
        bound=found.bound,
        loo=found.loo,
        learning_curve=found.learning_curve,
        chosen=found.chosen,
        whole=verdict.whole,
        noise=verdict.labels.noise,
        contradicting=verdict.labels.contradicting,
        ranking=verdict.labels.suspects,
        pictures={},
        files=dict(zip(dataset.rows.tolist(), dataset.files, strict=True)) if dataset.files else {},
        forecast=forecast,
        gram=plan,
        seconds=0.0,
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
