"""Kernels of infinite width on a draw of a concept class: ridge regression at every ridge, exact."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from widenet.kernels.matrix import cross_matrix, gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.papers.grid_run import GridRun
from widenet.papers.jobs.draws import draw_shape, draws
from widenet.papers.jobs.job import Desk, Job
from widenet.runs.trial import Record, TrialResult
from widenet.study.speed import Speed
from widenet.training.linear import factorise, ridge_predictions

EIGEN_OPERATIONS = 25.0  # times n³, of an eigendecomposition in units of a matrix product's operations
KERNEL_OPERATIONS = 200.0  # of an entry of the kernel


def limit_trial(
    data: str, num_held_out: int, kernel: str, decays: Sequence[float], offset: float = 0.0
) -> dict[str, Any]:
    """The settings of one trial.

    Args:
        data: A concept class with its options, number of rows and seed.
        num_held_out: Validation rows, and as many test rows.
        kernel: A name of `kernel_by_name`.
        decays: Weight decays; the ridge is n times that, as the loss of SGD is a mean over rows.
        offset: A constant that joins the kernel.
    """
    common = {"job": f"{__name__}:LIMITS", "data": data, "num_held_out": num_held_out}
    return {**common, "kernel": kernel, "decays": list(decays), "offset": offset}


def fit_limits(trials: Sequence[Record], desk: Desk) -> Iterable[TrialResult]:
    """Fit one kernel at all ridges; mean ‖y − f‖² on validation and test rows for each."""
    for trial in trials:
        desk.look_up()
        rows, kernel = draws(trial["data"], trial["num_held_out"]), kernel_by_name(trial["kernel"])
        factors = factorise(gram_matrix(kernel, rows.train.X) + trial["offset"])
        ridges = len(rows.train.X) * torch.tensor(trial["decays"], dtype=torch.float64)
        errors = {}
        for name, held_out in (("validation", rows.validation), ("test", rows.test)):
            cross = cross_matrix(kernel, held_out.X, rows.train.X) + trial["offset"]
            errors[name] = mean_errors(ridge_predictions(factors, cross, rows.train.Y, ridges), held_out.Y)
        yield TrialResult({**errors, "decays": trial["decays"]})


def mean_errors(predictions: Tensor, Y: Tensor) -> list[float]:
    """Mean ‖y − f‖² over rows of predictions (r, n, k), for each of the r."""
    errors: list[float] = (predictions - Y).square().sum(-1).mean(-1).tolist()
    return errors


def limit_seconds(trials: Sequence[Record], speed: Speed) -> float:
    """An eigendecomposition, kernels with held-out rows, and predictions at every ridge."""
    first = trials[0]
    n, _, k = draw_shape(first["data"])
    num_rows = 2 * first["num_held_out"]
    products = 2 * num_rows * n * (n + k * len(first["decays"]))
    operations = EIGEN_OPERATIONS * n**3 + products + KERNEL_OPERATIONS * n * (n + num_rows)
    return len(trials) * 2 * operations / speed.double


LIMITS = Job(fit_limits, limit_seconds)


def limit_runs(record: Record) -> list[GridRun]:
    """The fits of one trial as runs of a grid over decays."""
    columns = zip(record["decays"], record["test"], record["validation"], strict=True)
    return [GridRun({"decay": decay}, (test,), (validation,)) for decay, test, validation in columns]
