"""Networks of infinite width on two classes of images, a portion of whose labels is random."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from widenet.kernels.names import kernel_by_name
from widenet.papers.jobs.images import KERNEL, TEST_LABELS, TRAIN_LABELS, image_rows, signs_of
from widenet.papers.jobs.job import Desk, Job
from widenet.predict.limit import limit_errors
from widenet.runs.trial import Record, TrialResult
from widenet.study.speed import Speed

KERNEL_OPERATIONS = 200.0  # of an entry of the kernel, in units of a matrix product's operations
COLUMNS = {"mnist-2": 784, "cifar10-2": 3072}
SLOW = 2.5  # times the time of large matrix products


def noise_trial(
    data: str, n: int, num_test: int, portions: Sequence[float], seeds: Sequence[int]
) -> dict[str, Any]:
    """The settings of one trial.

    Args:
        data: `mnist-2` or `cifar10-2`.
        n: Training rows, the first ones.
        num_test: Test rows, the first ones.
        portions: Of the labels of both that are drawn anew.
        seeds: Of these draws; all share one factorisation of H∞.
    """
    rows = {"data": data, "n": n, "num_test": num_test}
    return {"job": f"{__name__}:LABEL_NOISE", **rows, "portions": list(portions), "seeds": list(seeds)}


def fit_noisy_labels(trials: Sequence[Record], desk: Desk) -> Iterable[TrialResult]:
    """Errors on test rows and the complexity (10), for each seed a number for each portion."""
    for trial in trials:
        desk.look_up()
        train, test = image_rows(trial["data"], trial["n"], trial["num_test"])
        draws = [(portion, seed) for seed in trial["seeds"] for portion in trial["portions"]]
        Y, Y_test = (
            torch.stack([signs_of(rows.redrawn(*draw, stream)) for draw in draws], dim=1)
            for rows, stream in ((train, TRAIN_LABELS), (test, TEST_LABELS))
        )
        found = limit_errors(kernel_by_name(KERNEL), train.X, Y, test.X, Y_test)
        shape = (len(trial["seeds"]), len(trial["portions"]))
        yield TrialResult(
            {
                "l1_errors": found.l1_errors.reshape(shape).tolist(),
                "misclassified": found.misclassified.reshape(shape).tolist(),
                "complexities": found.complexities.reshape(shape).tolist(),
            }
        )


def noise_seconds(trials: Sequence[Record], speed: Speed) -> float:
    """Entries of the kernel, a factorisation, and solves for all columns."""
    total = 0.0
    for trial in trials:
        n, num_rows = trial["n"], trial["n"] / 2 + trial["num_test"]
        solves = 4 * n * n * len(trial["portions"]) * len(trial["seeds"])
        kernel = n * num_rows * (KERNEL_OPERATIONS + 2 * COLUMNS[trial["data"]])
        total += SLOW * (n**3 / 3 + solves + kernel) / speed.double
    return total


def noise_bytes(trials: Sequence[Record]) -> int:
    """The kernel, its factor, the kernel with test rows, and the rows."""
    first = trials[0]
    n, d = first["n"], COLUMNS[first["data"]]
    return 8 * n * (2 * n + first["num_test"] + d)


LABEL_NOISE = Job(fit_noisy_labels, noise_seconds, noise_bytes)
