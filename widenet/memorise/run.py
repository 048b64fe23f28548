"""Memorising from start to end: forecast, conditions, training that can be interrupted, certificate."""

import math
import time
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from widenet.base.errors import InputError, WidenetError
from widenet.base.progress import SILENT, Progress
from widenet.data.dataset import Dataset
from widenet.memorise.certificate import certificate_bytes, measure_fit, measured_facts, pack_weights
from widenet.memorise.conditions import Conditions, conditions_of
from widenet.memorise.forecast import forecast_memorising
from widenet.memorise.methods.method import FittingMethod, State
from widenet.memorise.methods.pgd import TheoremDescent
from widenet.memorise.problem import SquaresProblem, perturbed_inputs, problem_of, targets
from widenet.memorise.result import LossCurve, MemoriseResult, Resumed
from widenet.memorise.settings import METHODS, THEOREM, MemoriseSettings
from widenet.memorise.train import state_arrays, train_method
from widenet.runs.code import code_version
from widenet.runs.device import device_named
from widenet.runs.differences import note_differences
from widenet.runs.kept import KeptState
from widenet.runs.store import Store
from widenet.runs.trial import Trial, data_hash
from widenet.spectrum.cholesky import EigenvalueBracket
from widenet.study.data import data_summary
from widenet.study.forecast import Forecast
from widenet.study.study import named

MOST_RECORDS = 400  # of the loss that a result keeps


def run_memorise(
    dataset: Dataset,
    settings: MemoriseSettings | None = None,
    *,
    store: Store | None = None,
    allow_long: bool = False,
    progress: Progress = SILENT,
) -> MemoriseResult:
    """Fit a mildly overparametrised network to every row, and certify it.

    Args:
        dataset: Classes, or one target column.
        settings: The defaults of `MemoriseSettings` if left out.
        store: Where the state is kept on the way, and looked for at the start; without one, nothing outlives
            the call.
        allow_long: Whether a run whose forecast exceeds an hour may start; what was begun may end.
        progress: Told of each stage, of the forecast, the conditions and the method's plan, and of what keeps
            the run from going on from its store.
    """
    start = time.perf_counter()
    settings = settings or MemoriseSettings()
    device = device_named(settings.device)
    trial = trial_of(dataset, settings)
    kept = KeptState(store, trial)
    note_differences(store, [trial], progress)
    before = 0.0 if kept.earlier is None else kept.earlier.notes["seconds"]
    progress("choosing the network")
    problem = problem_of(
        dataset,
        layers=settings.layers,
        r=settings.width,
        noise=settings.perturb,
        seed=settings.seed,
        equal_rows=settings.random_rows == "equal",
    )
    forecast = forecast_memorising(problem, method_type(settings), device=device)
    progress.note(forecast)
    if kept.earlier is None:
        forecast.refuse_long("use fewer rows or another `method`", allow_long=allow_long)
    conditions = _conditions(dataset, problem, kept, progress)
    method = method_of(settings, conditions)  # which may refuse, and then nothing should be left

    def seconds() -> float:
        """Time that was spent so far, by earlier runs too."""
        return before + time.perf_counter() - start

    def notes() -> dict[str, Any]:
        return {"conditions": asdict(conditions), "seconds": seconds()}

    if kept.earlier is None:
        kept.save_if_due({}, notes())  # σ_min of many rows may take longer than the training
    progress.note(conditions)
    progress.note(method.plan(problem))
    there = problem.to(device)
    state = train_method(there, method, kept, notes=notes, progress=progress)
    progress("measuring the network")
    W = method.weights(there, state).cpu()  # what follows is certified
    if not bool(W.isfinite().all()):
        kept.drop()  # nobody should go on from there
        raise WidenetError(f"{method.name} diverged: try another `method`, or another `seed`.")
    kept.finish(state_arrays(state), notes())
    result = _result(dataset, problem, conditions, method, state, W, forecast)
    return replace(result, seconds=seconds())


def _result(
    dataset: Dataset,
    problem: SquaresProblem,
    conditions: Conditions,
    method: FittingMethod,
    state: State,
    W: Tensor,
    forecast: Forecast,
) -> MemoriseResult:
    """Measure the network of weights W (k, r), and certify it where every target is reproduced."""
    X = perturbed_inputs(dataset.X, problem.noise, problem.seed)
    fit = measure_fit(problem, X, W, conditions, is_classes=dataset.labels is not None)
    weights, certificate = pack_weights(problem, fit.W), None
    if fit.labels_reproduced:
        certificate = certificate_bytes(problem, X, conditions, fit, dataset, weights)
    return MemoriseResult(
        data=data_summary(dataset),
        noise=float(problem.noise),
        conditions=conditions,
        power=conditions.power,
        rounding=fit.rounding,
        **measured_facts(problem, conditions, fit),
        method=method.name,
        plan=method.plan(problem),
        steps=method.steps(state),
        curve=loss_curve(state["history"]),
        forecast=forecast,
        weights=weights,
        certificate=certificate,
    )


def trial_of(dataset: Dataset, settings: MemoriseSettings) -> Trial:
    """A run, told by everything that its end depends on."""
    modules = sorted({place.partition(":")[0] for place in (*METHODS.values(), THEOREM)})
    code = code_version("widenet.memorise.run", *modules)
    return Trial(
        settings={"study": "memorise", **asdict(settings), "classes": dataset.classes},
        code=f"{code} numpy {np.__version__} torch {torch.__version__}",
        data=data_hash(dataset.X, targets(dataset)),
    )


def method_type(settings: MemoriseSettings) -> type[FittingMethod]:
    """The method that settings name."""
    method: type[FittingMethod] = named(THEOREM if settings.theorem else METHODS[settings.method])
    return method


def method_of(settings: MemoriseSettings, conditions: Conditions) -> FittingMethod:
    """The method, ready to start; Theorem 4's numbers need a proved σ_min."""
    if not settings.theorem:
        return method_type(settings)()
    if conditions.sigma_min.lower <= 0:
        noise, advice = conditions.mending_noise, "add columns, or use fewer rows"
        if noise is not None:
            advice = f"`perturb={noise:g}` would fix that"
        raise InputError(f"Theorem 4 requires σ_min > 0, which cannot be proved here: {advice}.")
    return TheoremDescent(sigma=conditions.sigma_min.lower)


def _conditions(dataset: Dataset, problem: SquaresProblem, kept: KeptState, progress: Progress) -> Conditions:
    """What the theorems require, measured now or by an earlier run."""
    if kept.earlier is None:
        progress("computing σ_min")
        stage = "computing σ_min"
        return conditions_of(dataset, problem, progress=lambda share: progress(stage, detail=f"{share:.0%}"))
    history = kept.earlier.arrays.get("history")
    progress.note(Resumed(None if history is None else int(history[-1, 0])))
    record = dict(kept.earlier.notes["conditions"])
    return Conditions(**record | {"sigma_min": EigenvalueBracket(**record["sigma_min"])})


def loss_curve(history: Tensor) -> LossCurve:
    """At most `MOST_RECORDS` records of (step, seconds, f), first and last among them."""
    stride = max(1, math.ceil((len(history) - 1) / (MOST_RECORDS - 1)))
    kept = sorted({*range(0, len(history), stride), len(history) - 1})
    steps, seconds, losses = history[kept].T.tolist()
    return LossCurve(tuple(int(step) for step in steps), tuple(seconds), tuple(losses))
