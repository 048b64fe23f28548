"""Kernels of infinite width on a draw of a concept class: ridge regression at every ridge, exact.

Outputs of wide networks start at 0, or at a draw f⁽⁰⁾ of a Gaussian process where the last layer's weights do
not become small. Linearised training from there fits Y − f⁽⁰⁾ and adds f⁽⁰⁾ back.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from widenet.kernels.matrix import cross_matrix, gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.papers.grid_run import GridRun
from widenet.papers.jobs.draws import Draws, draw_shape, draws
from widenet.papers.jobs.job import Desk, Job
from widenet.runs.trial import Record, TrialResult
from widenet.study.speed import Speed
from widenet.training.linear import factorise, ridge_predictions

EIGEN_OPERATIONS = 25.0  # times n³, of an eigendecomposition in units of a matrix product's operations
KERNEL_OPERATIONS = 200.0  # of an entry of the kernel
JITTER = 1e-10  # times the mean variance, on the diagonal of a process that is drawn from


def limit_trial(
    data: str,
    num_held_out: int,
    kernel: str,
    decays: Sequence[float],
    offset: float = 0.0,
    start: str = "",
    seed: int = 0,
) -> dict[str, Any]:
    """The settings of one trial.

    Args:
        data: A concept class with its options, number of rows and seed.
        num_held_out: Validation rows, and as many test rows.
        kernel: A name of `kernel_by_name`.
        decays: Weight decays; the ridge is n times that, as the loss of SGD is a mean over rows.
        offset: A constant that joins the kernel.
        start: The kernel of the process that outputs start from; empty where they start at 0.
        seed: Of what is drawn from that process.
    """
    common = {"job": f"{__name__}:LIMITS", "data": data, "num_held_out": num_held_out}
    return {
        **common,
        "kernel": kernel,
        "decays": list(decays),
        "offset": offset,
        "start": start,
        "seed": seed,
    }


def fit_limits(trials: Sequence[Record], desk: Desk) -> Iterable[TrialResult]:
    """Fit one kernel at all ridges; mean ‖y − f‖² on validation and test rows for each."""
    for trial in trials:
        desk.look_up()
        rows, kernel = draws(trial["data"], trial["num_held_out"]), kernel_by_name(trial["kernel"])
        factors = factorise(gram_matrix(kernel, rows.train.X) + trial["offset"])
        ridges = len(rows.train.X) * torch.tensor(trial["decays"], dtype=torch.float64)
        seen, *unseen = starting_outputs(rows, trial["start"], trial["seed"])
        errors = {}
        sets = zip(("validation", "test"), (rows.validation, rows.test), unseen, strict=True)
        for name, held_out, begun in sets:
            cross = cross_matrix(kernel, held_out.X, rows.train.X) + trial["offset"]
            moved = ridge_predictions(factors, cross, rows.train.Y - seen, ridges)
            errors[name] = mean_errors(begun + moved, held_out.Y)
        yield TrialResult({**errors, "decays": trial["decays"]})


def starting_outputs(rows: Draws, start: str, seed: int) -> list[Tensor]:
    """f⁽⁰⁾ (n, k) on training, validation and test rows: one draw for each output, or 0 without a process."""
    sets = (rows.train, rows.validation, rows.test)
    if not start:
        return [torch.zeros_like(each.Y) for each in sets]
    covariance = gram_matrix(kernel_by_name(start), torch.cat([each.X for each in sets]))
    covariance.diagonal().add_(JITTER * covariance.diagonal().mean())
    generator = torch.Generator().manual_seed(seed)
    shape = (len(covariance), rows.train.Y.shape[1])
    noise = torch.randn(shape, generator=generator, dtype=torch.float64)
    return list((torch.linalg.cholesky(covariance) @ noise).split([len(each.X) for each in sets]))


def mean_errors(predictions: Tensor, Y: Tensor) -> list[float]:
    """Mean ‖y − f‖² over rows of predictions (r, n, k), for each of the r."""
    errors: list[float] = (predictions - Y).square().sum(-1).mean(-1).tolist()
    return errors


def limit_seconds(trials: Sequence[Record], speed: Speed) -> float:
    """An eigendecomposition, kernels with held-out rows, predictions at every ridge, and the start."""
    first = trials[0]
    n, _, k = draw_shape(first["data"])
    num_rows = 2 * first["num_held_out"]
    products = 2 * num_rows * n * (n + k * len(first["decays"]))
    operations = EIGEN_OPERATIONS * n**3 + products + KERNEL_OPERATIONS * n * (n + num_rows)
    if first["start"]:
        operations += (n + num_rows) ** 3 / 3 + KERNEL_OPERATIONS * (n + num_rows) ** 2
    return len(trials) * operations / speed.double


def limit_bytes(trials: Sequence[Record]) -> int:
    """A kernel with its eigenvectors and room for finding them, and kernels with held-out rows."""
    first = trials[0]
    n, _, _ = draw_shape(first["data"])
    num_rows = 2 * first["num_held_out"]
    start = 2 * (n + num_rows) ** 2 if first["start"] else 0
    return 8 * (max(4 * n * n, start) + 2 * num_rows * n)


LIMITS = Job(fit_limits, limit_seconds, limit_bytes)


def limit_runs(record: Record) -> list[GridRun]:
    """The fits of one trial as runs of a grid over decays."""
    columns = zip(record["decays"], record["test"], record["validation"], strict=True)
    return [GridRun({"decay": decay}, (test,), (validation,)) for decay, test, validation in columns]
