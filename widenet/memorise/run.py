"""Memorising from start to end: conditions, forecast, training with checkpoints, certificate."""

import hashlib
import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from widenet.data.dataset import Dataset
from widenet.errors import InputError, WidenetError
from widenet.memorise.certificate import (
    Fit,
    Source,
    bound_of,
    certificate_bytes,
    holds_of,
    measure_fit,
    pack_weights,
)
from widenet.memorise.checkpoint import Checkpoint, Saved
from widenet.memorise.conditions import Conditions, conditions_of
from widenet.memorise.forecast import forecast_memorising
from widenet.memorise.methods.adam import AdamRecipe
from widenet.memorise.methods.direct import Direct
from widenet.memorise.methods.method import Method, State, last_loss
from widenet.memorise.methods.pgd import PerturbedDescent, TheoremDescent
from widenet.memorise.problem import Problem, perturbed, problem_of, targets
from widenet.memorise.result import SCHEMA, DataSummary, Forecast, LossCurve, MemoriseResult
from widenet.memorise.verdict import verdict
from widenet.runs.trial import code_version, data_hash
from widenet.spectrum.cholesky import EigenvalueBracket

METHODS = ("pgd", "adam", "direct")
DEFAULT_METHOD = "direct"  # the only one that ends at the global minimum for certain
HOUR = 3600.0
MOST_RECORDS = 400  # of the loss that a result keeps
# The code that the end of a run depends on.
CODE = (
    "memorise.certificate",
    "memorise.conditions",
    "memorise.landscape",
    "memorise.problem",
    "memorise.run",
    "memorise.sigma",
    "memorise.sizes",
    *(f"memorise.methods.{name}" for name in ("adam", "direct", "method", "pgd", "steps", "whitening")),
    "networks.quadratic",
    "spectrum.cholesky",
    "spectrum.lanczos",
    "theory.mild_memorisation.descent",
)

Progress = Callable[[str], None]


@dataclass(frozen=True)
class MemoriseSettings:
    """What memorising depends on, besides the data.

    Attributes:
        layers: 2 or 3; None for what suits the data.
        method: One of `METHODS`.
        width: Neurons of the trained layer; None for 2k + 2.
        noise: Standard deviation of the perturbation of each coordinate.
        theorem: Whether `pgd` uses exactly Theorem 4's numbers.
        seed: Seed of every random choice.
    """

    layers: int | None = None
    method: str = DEFAULT_METHOD
    width: int | None = None
    noise: float = 0.0
    theorem: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise InputError(f"There is no method {self.method!r}: take {', '.join(METHODS)}.")
        if self.theorem and self.method != "pgd":
            raise InputError(
                "Theorem 4 is about perturbed gradient descent: use --theorem with --method pgd."
            )


@dataclass(frozen=True)
class Plan:
    """What is known before the training.

    Attributes:
        dataset: The data.
        settings: The settings.
        problem: What is to be memorised.
        conditions: What the theorems ask for.
        method: How it is trained.
        forecast: What it will cost.
        saved: What an earlier run left; None where this one begins.
        seconds: Time that was spent so far, by earlier runs too.
    """

    dataset: Dataset
    settings: MemoriseSettings
    problem: Problem
    conditions: Conditions
    method: Method
    forecast: Forecast
    saved: Saved | None
    seconds: float

    def sentences(self) -> tuple[str, ...]:
        """What the theorems ask for on this data, and what will be done."""
        return (*self.conditions.sentences(), *self.method.notes(self.problem))


@dataclass(frozen=True)
class Memorised:
    """What memorising leaves behind.

    Attributes:
        result: Everything that was found.
        weights: W, and R of a random layer, as a safetensors file.
        certificate: The certificate as a file; None where not every target was reproduced.
    """

    result: MemoriseResult
    weights: bytes
    certificate: bytes | None


def run_memorise(
    dataset: Dataset,
    settings: MemoriseSettings | None = None,
    *,
    source: Source | None = None,
    checkpoint: Checkpoint | None = None,
    allow_long: bool = False,
    progress: Progress = lambda stage: None,
) -> Memorised:
    """Fit a mildly overparametrised network to every row, and certify it.

    Args:
        dataset: Classes, or one target column.
        settings: The defaults of `MemoriseSettings` if left out.
        source: How the data can be loaded again; by its name if left out.
        checkpoint: Where the state is kept on the way, and looked for at the start.
        allow_long: Whether a run whose forecast is beyond an hour may start.
        progress: Called with what is being done.
    """
    plan = plan_memorising(dataset, settings, checkpoint=checkpoint, allow_long=allow_long, progress=progress)
    return carry_out(plan, source=source, checkpoint=checkpoint, progress=progress)


def plan_memorising(
    dataset: Dataset,
    settings: MemoriseSettings | None = None,
    *,
    checkpoint: Checkpoint | None = None,
    restart: bool = False,
    allow_long: bool = False,
    progress: Progress = lambda stage: None,
) -> Plan:
    """Everything before the training, with the arguments of `run_memorise`.

    With `restart`, a checkpoint of another run is overwritten instead of refused.
    """
    start = time.perf_counter()
    settings = settings or MemoriseSettings()
    saved = None if checkpoint is None else checkpoint.load(restart=restart)
    progress("choosing the network")
    problem = problem_of(
        dataset, layers=settings.layers, r=settings.width, noise=settings.noise, seed=settings.seed
    )
    forecast = forecast_memorising(problem, settings.method)
    if forecast.seconds > HOUR and not allow_long:
        raise InputError(
            f"This would take about {forecast.seconds / HOUR:.1f} hours: take fewer rows or another "
            "--method, or add --yes to run it all the same."
        )
    if saved is None:
        progress("computing σ_min")
        conditions = conditions_of(
            dataset, problem, progress=lambda share: progress(f"computing σ_min: {share:.0%}")
        )
        before = 0.0
    else:
        conditions, before = _noted(saved)
    seconds = before + time.perf_counter() - start
    if checkpoint is not None and saved is None:
        checkpoint.save_if_due(
            {}, _notes(conditions, seconds)
        )  # σ_min of many rows takes longer than training
    chosen = method_of(settings, conditions)
    return Plan(dataset, settings, problem, conditions, chosen, forecast, saved, seconds)


def carry_out(
    plan: Plan,
    *,
    source: Source | None = None,
    checkpoint: Checkpoint | None = None,
    progress: Progress = lambda stage: None,
) -> Memorised:
    """Train, measure and certify, with the arguments of `run_memorise`."""
    start = time.perf_counter()
    dataset, problem = plan.dataset, plan.problem
    state = _train(plan, checkpoint, progress)
    progress("measuring the network")
    W = plan.method.weights(problem, state)
    if not bool(W.isfinite().all()):
        if checkpoint is not None:
            checkpoint.remove()  # nobody should go on from there
        raise WidenetError(f"{plan.method.name} diverged: try another --method, or another --seed.")
    X = perturbed(dataset.X, problem.noise, problem.seed)
    fit = measure_fit(problem, X, W, plan.conditions, is_classes=dataset.labels is not None)
    weights = pack_weights(problem, fit.W)
    certificate = None
    if fit.labels_reproduced:
        source = source or Source(dataset.name, None, dataset.preparation.kind, False)
        certificate = certificate_bytes(problem, X, plan.conditions, fit, source, weights)
    seconds = plan.seconds + time.perf_counter() - start
    return Memorised(_result(plan, state, fit, seconds), weights, certificate)


def method_of(settings: MemoriseSettings, conditions: Conditions) -> Method:
    """The method by its name; Theorem 4's numbers need a proved σ_min."""
    if settings.method == "adam":
        return AdamRecipe()
    if settings.method == "direct":
        return Direct()
    if not settings.theorem:
        return PerturbedDescent()
    if conditions.sigma_min.lower <= 0:
        raise InputError(f"Theorem 4 needs a σ_min above 0. {' '.join(conditions.sentences()[2:])}")
    return TheoremDescent(sigma=conditions.sigma_min.lower)


def checkpoint_at(path: Path, dataset: Dataset, settings: MemoriseSettings) -> Checkpoint:
    """The checkpoint of a run, known by everything that its end depends on."""
    parts = {
        "settings": asdict(settings),
        "data": data_hash(dataset.X, targets(dataset)),
        "code": code_version(import_module(f"widenet.{name}") for name in CODE),
        "numpy": np.__version__,
        "torch": torch.__version__,
    }
    identity = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    return Checkpoint(path, identity)


def _train(plan: Plan, checkpoint: Checkpoint | None, progress: Progress) -> State:
    """The state at the end; what an interruption leaves is written before it goes on."""
    start = time.perf_counter()
    method, problem = plan.method, plan.problem
    state = plan.saved.state if plan.saved and plan.saved.state else method.start(problem)

    def notes() -> dict[str, str]:
        return _notes(plan.conditions, plan.seconds + time.perf_counter() - start)

    progress("training")
    try:
        while not method.done(state):
            state = method.advance(problem, state)
            progress(f"training: step {method.steps(state):,}, loss {last_loss(state):.2e}")
            if checkpoint is not None:
                checkpoint.save_if_due(state, notes())
    except KeyboardInterrupt:
        if checkpoint is not None:
            checkpoint.save(state, notes())
        raise
    return state


def _notes(conditions: Conditions, seconds: float) -> dict[str, str]:
    return {"conditions": json.dumps(asdict(conditions)), "seconds": repr(seconds)}


def _noted(saved: Saved) -> tuple[Conditions, float]:
    """Conditions and seconds as `_notes` wrote them."""
    record = json.loads(saved.notes["conditions"])
    record["sigma_min"] = EigenvalueBracket(**record["sigma_min"])
    return Conditions(**record), float(saved.notes["seconds"])


def _result(plan: Plan, state: State, fit: Fit, seconds: float) -> MemoriseResult:
    dataset, problem, conditions = plan.dataset, plan.problem, plan.conditions
    found, steps = fit.landscape, plan.method.steps(state)
    is_classes = dataset.labels is not None
    return MemoriseResult(
        schema=SCHEMA,
        version=version("widenet"),
        data=DataSummary(
            name=dataset.name,
            task=dataset.task,
            classes=dataset.classes,
            prepare=dataset.preparation.kind,
            noise=problem.noise,
            provenance=dataset.provenance,
        ),
        n=problem.n,
        points=conditions.num_points,
        d=dataset.d,
        layers=problem.layers,
        k=problem.k,
        r=problem.r,
        power=conditions.power,
        parameters=problem.num_parameters,
        conditions=conditions.sentences(),
        sigma_min=conditions.sigma_min,
        loss=found.loss,
        max_residual=found.max_residual,
        tolerance=fit.tolerance,
        labels_reproduced=fit.labels_reproduced,
        curvature_norm=found.curvature_norm,
        lambda_min=found.lambda_min,
        bound=bound_of(fit, conditions),
        holds=holds_of(fit, conditions),
        method=plan.method.name,
        notes=plan.method.notes(problem),
        steps=steps,
        curve=loss_curve(state["history"]),
        certified=fit.labels_reproduced,
        verdict=verdict(fit, conditions, plan.method.name, steps, is_classes=is_classes),
        forecast=plan.forecast,
        seconds=seconds,
    )


def loss_curve(history: Tensor) -> LossCurve:
    """At most `MOST_RECORDS` records of (step, seconds, f), first and last among them."""
    stride = max(1, math.ceil((len(history) - 1) / (MOST_RECORDS - 1)))
    kept = sorted({*range(0, len(history), stride), len(history) - 1})
    steps, seconds, losses = history[kept].T.tolist()
    return LossCurve(tuple(int(step) for step in steps), tuple(seconds), tuple(losses))
