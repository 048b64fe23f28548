"""Memorising from start to end: plan, training with checkpoints, certificate."""

import hashlib
import json
import math
import time
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from widenet.base.errors import WidenetError
from widenet.data.dataset import Dataset
from widenet.memorise.certificate import (
    Fit,
    Source,
    bound_of,
    certificate_bytes,
    holds_of,
    measure_fit,
    pack_weights,
)
from widenet.memorise.methods.method import State, copied, last_loss
from widenet.memorise.plan import (
    MemoriseSettings,
    Plan,
    Progress,
    checkpoint_notes,
    draft_memorising,
    plan_memorising,
)
from widenet.memorise.problem import perturbed, targets
from widenet.memorise.result import SCHEMA, DataSummary, LossCurve, MemoriseResult
from widenet.report.memorise.verdict import verdict
from widenet.runs.checkpoint import Checkpoint
from widenet.runs.trial import code_version, data_hash

MOST_RECORDS = 400  # of the loss that a result keeps
# The code that the end of a run depends on.
CODE = (
    "memorise.certificate",
    "memorise.conditions",
    "memorise.landscape",
    "memorise.plan",
    "memorise.problem",
    "memorise.rounding",
    "memorise.run",
    "memorise.sigma",
    "memorise.sizes",
    *(f"memorise.methods.{name}" for name in ("adam", "direct", "method", "pgd", "steps", "whitening")),
    "networks.quadratic",
    "spectrum.cholesky",
    "spectrum.lanczos",
    "theory.mild_memorisation.descent",
)


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
    draft = draft_memorising(
        dataset, settings, checkpoint=checkpoint, allow_long=allow_long, progress=progress
    )
    plan = plan_memorising(draft, checkpoint=checkpoint, progress=progress)
    return carry_out(plan, source=source, checkpoint=checkpoint, progress=progress)


def carry_out(
    plan: Plan,
    *,
    source: Source | None = None,
    checkpoint: Checkpoint | None = None,
    progress: Progress = lambda stage: None,
) -> Memorised:
    """Train, measure and certify, with the arguments of `run_memorise`."""
    start = time.perf_counter()
    dataset, problem = plan.draft.dataset, plan.draft.problem
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
        certificate = certificate_bytes(problem, X, plan.conditions, fit, source, dataset.classes, weights)
    seconds = plan.seconds + time.perf_counter() - start
    return Memorised(_result(plan, state, fit, seconds), weights, certificate)


def checkpoint_at(path: Path, dataset: Dataset, settings: MemoriseSettings) -> Checkpoint:
    """The checkpoint of a run, known by everything that its end depends on."""
    parts = {
        "settings": asdict(settings),
        "data": data_hash(dataset.X, targets(dataset)),
        "classes": dataset.classes,
        "code": code_version(import_module(f"widenet.{name}") for name in CODE),
        "numpy": np.__version__,
        "torch": torch.__version__,
    }
    identity = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    return Checkpoint(path, identity)


def _train(plan: Plan, checkpoint: Checkpoint | None, progress: Progress) -> State:
    """The state at the end; what an interruption leaves is written before it goes on."""
    start = time.perf_counter()
    method, problem, saved = plan.method, plan.draft.problem, plan.draft.saved
    # A copy has the layout of one that was read back from a file, so that both round alike.
    state = copied(saved.state if saved and saved.state else method.start(problem))

    def noted() -> dict[str, str]:
        return checkpoint_notes(plan.conditions, plan.seconds + time.perf_counter() - start)

    progress("training")
    try:
        while not method.done(state):
            state = method.advance(problem, state)
            progress(f"training: step {method.steps(state):,}, loss {last_loss(state):.2e}")
            if checkpoint is not None:
                checkpoint.save_if_due(state, noted())
    except KeyboardInterrupt:
        if checkpoint is not None:
            checkpoint.save(state, noted())
        raise
    return state


def _result(plan: Plan, state: State, fit: Fit, seconds: float) -> MemoriseResult:
    dataset, problem, conditions = plan.draft.dataset, plan.draft.problem, plan.conditions
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
        forecast=plan.draft.forecast,
        seconds=seconds,
    )


def loss_curve(history: Tensor) -> LossCurve:
    """At most `MOST_RECORDS` records of (step, seconds, f), first and last among them."""
    stride = max(1, math.ceil((len(history) - 1) / (MOST_RECORDS - 1)))
    kept = sorted({*range(0, len(history), stride), len(history) - 1})
    steps, seconds, losses = history[kept].T.tolist()
    return LossCurve(tuple(int(step) for step in steps), tuple(seconds), tuple(losses))
