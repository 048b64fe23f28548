"""A table of a million rows audited by landmarks: time, peak memory, the range of the error, flips found.

The range is also checked where the kernel itself can be afforded: on fewer rows, sample and landmarks in
proportion.
"""

import resource
import sys
import time

import numpy as np
import torch

import widenet
from widenet.audit.generalise import loo_summary
from widenet.audit.result import AuditResult
from widenet.audit.run import run_audit
from widenet.audit.settings import SAMPLE_ROWS, AuditSettings
from widenet.data.dataset import Dataset
from widenet.data.duplicates import find_duplicates
from widenet.kernels import gram_matrix, kernel_by_name
from widenet.predict.loo import leave_one_out
from widenet.study.progress import told_progress

NUM_ROWS, NUM_COLUMNS, FLIPPED = 10**6, 20, 0.05
LANDMARKS = 2000
CHECKED_ROWS, CHECKED_SAMPLE, CHECKED_LANDMARKS = 8192, 2048, 512  # where the kernel itself is at hand


def table(n: int, *, seed: int = 0) -> tuple[Dataset, np.ndarray]:
    """Two classes, told by an interaction of columns, and which of the n labels were flipped, shape (n,)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, NUM_COLUMNS))
    is_up = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] > 0
    flipped = rng.random(n) < FLIPPED
    return widenet.load(X, np.where(is_up ^ flipped, "up", "down")), flipped


def found_share(result: AuditResult, flipped: np.ndarray) -> float:
    """The share of flipped labels among the most suspicious rows, as many as were flipped."""
    worst = result.labels.index[: int(flipped.sum())]
    return float(flipped[worst].mean())


def exact_error(dataset: Dataset, result: AuditResult) -> float:
    """The share that the chosen kernel itself misclassifies with all rows, each left out once."""
    K = gram_matrix(kernel_by_name(result.chosen.kernel), dataset.X)
    found = loo_summary(
        dataset, find_duplicates(dataset).points, leave_one_out(K, dataset.Y, result.chosen.ridge)
    )
    assert found.misclassified is not None
    return found.misclassified


def check_range() -> dict[str, float]:
    """Both ends, and the error that they are to hold."""
    dataset, flipped = table(CHECKED_ROWS, seed=1)
    result = run_audit(dataset, AuditSettings(rows=CHECKED_SAMPLE, landmarks=CHECKED_LANDMARKS))
    assert result.whole is not None
    return {
        "checked low": result.whole.low,
        "checked kernel": exact_error(dataset, result),
        "checked landmarks": result.whole.loo.misclassified or 0.0,
        "checked high": result.whole.high,
        "checked flips among the most suspicious": found_share(result, flipped),
    }


def run(n: int = NUM_ROWS, landmarks: int = LANDMARKS) -> dict[str, float]:
    """One audit in this process, whose peak resident memory is read before the check."""
    dataset, flipped = table(n)
    read = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    start = time.perf_counter()
    with told_progress(quiet=False) as progress:
        result = run_audit(dataset, AuditSettings(landmarks=landmarks), allow_long=True, progress=progress)
    whole = result.whole
    assert whole is not None
    return {
        "rows": n,
        "sample": min(n, SAMPLE_ROWS),
        "landmarks": landmarks,
        "threads": torch.get_num_threads(),
        "seconds": time.perf_counter() - start,
        "forecast seconds": result.forecast.seconds,
        "GiB before": read,
        "peak GiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "forecast GiB": (result.forecast.memory_bytes or 0) / 2**30,
        "low": whole.low,
        "landmarks' error": whole.loo.misclassified or 0.0,
        "high": whole.high,
        "error on the sample": result.chosen.loo.misclassified or 0.0,
        "missed": whole.missed,
        "noise": result.noise.estimate,
        "noise low": result.noise.low,
        "noise high": result.noise.high,
        "flips among the most suspicious": found_share(result, flipped),
        **check_range(),
    }


if __name__ == "__main__":
    for key, value in run(*map(int, sys.argv[1:])).items():
        print(f"{key}: {value}")
