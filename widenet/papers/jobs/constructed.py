"""Nets that solve the parity of six signs with small weights [resnet-beyond-kernels, footnote 16]."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from widenet.networks.bias_free import NUM_SIGNS, BiasFreeTwoLayers, padded, parity_error, sign_points
from widenet.networks.initialise import Initialisation
from widenet.papers.jobs.job import Desk, Job
from widenet.runs.trial import Record, TrialResult
from widenet.study.speed import Speed
from widenet.training.rows import as_rows
from widenet.training.settings import TrainingSettings
from widenet.training.together import train_together

SMALL_WIDTH = 200  # of the nets that are trained on d = 6
BATCH, RATE = 8, 2.0
STEP_SECONDS = 1.5e-4  # of one step: some thirty operations on small matrices


def constructed_trial(width: int, d: int, decay: float, epochs: int, seed: int) -> dict[str, Any]:
    """The settings of one trial.

    Args:
        width: m of the net that is made, at least `SMALL_WIDTH`.
        d: Coordinates of its inputs.
        decay: Weight decay of the net that is trained on d = 6; less gives a smaller error and a larger norm.
        epochs: Passes over the 64 points of its cube.
        seed: Of its initial weights and of the order of the points.
    """
    made = {"job": f"{__name__}:CONSTRUCTED", "width": width, "d": d}
    return {**made, "decay": decay, "epochs": epochs, "seed": seed}


def construct(trials: Sequence[Record], desk: Desk) -> Iterable[TrialResult]:
    """Train nets on all points of {±1/√6}^6 together, then pad them and duplicate their neurons."""
    X = sign_points(NUM_SIGNS, NUM_SIGNS)
    rows = as_rows(X, X.sign().prod(dim=1, keepdim=True), torch.float32)
    grid = [
        TrainingSettings(
            rate=RATE,
            decay=each["decay"],
            batch=BATCH,
            epochs=each["epochs"],
            initialisation=Initialisation("signed"),
            seed=each["seed"],
        )
        for each in trials
    ]
    network = BiasFreeTwoLayers(SMALL_WIDTH, "hidden")
    runs = train_together(
        network, rows, grid, fewest=2, keep_weights=True, progress=lambda epoch: desk.look_up()
    )
    for trial, run in zip(trials, runs, strict=True):
        if run.weights is None:
            yield TrialResult({"error": math.inf, "norm": math.inf})
            continue
        wide = padded(run.weights, trial["width"], trial["d"])
        yield TrialResult({"error": parity_error(wide), "norm": float(wide["W"].norm())})


def construct_seconds(trials: Sequence[Record], speed: Speed) -> float:
    """Steps on small matrices, whose time hardly depends on the machine's matrix products."""
    num_steps = trials[0]["epochs"] * 2**NUM_SIGNS / BATCH
    return STEP_SECONDS * num_steps * (1 + len(trials) / 8)


CONSTRUCTED = Job(construct, construct_seconds, small_steps=True)
