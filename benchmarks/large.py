"""All 60,000 MNIST images audited, or more: time, peak memory, and the width of the bracket.

python -m benchmarks.large [ROWS]
"""

import resource
import sys
import time

import torch

from widenet.audit.run import run_audit
from widenet.data import load, subset
from widenet.data.dataset import Dataset
from widenet.study.progress import told_progress

NUM_IMAGES, SIDE = 60_000, 28


def images(num_rows: int) -> Dataset:
    """The first images, and from 60,000 on the first ones again, moved by one pixel to the right."""
    dataset = load("mnist")
    if num_rows > 2 * dataset.n:
        raise SystemExit(f"There are at most {2 * dataset.n:,} rows.")
    if num_rows <= dataset.n:
        return subset(dataset, torch.arange(num_rows))
    again = dataset.X[: num_rows - dataset.n].unflatten(1, (SIDE, SIDE)).roll(1, dims=2)
    again[:, :, 0] = 0
    given = dataset.given + dataset.given[: len(again)]
    return load(torch.cat([dataset.X, again.flatten(1)]), given, prepare="unit")


def run(num_rows: int = NUM_IMAGES) -> dict[str, float | str | None]:
    """One audit in this process, whose peak resident memory is read at the end."""
    dataset = images(num_rows)
    start = time.perf_counter()
    with told_progress(quiet=False) as progress:
        result = run_audit(dataset, allow_long=True, progress=progress)
    found = result.complexity
    return {
        "rows": result.data.n,
        "seconds": time.perf_counter() - start,
        "forecast seconds": result.forecast.seconds,
        "peak GiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "forecast GiB": result.forecast.memory_bytes / 2**30,
        "gram": result.gram.held.value,
        "GiB for its tiles": result.gram.num_bytes / 2**30,
        "complexity": found.value,
        "lower": found.lower,
        "upper": found.upper,
        "shuffled": found.shuffled,
        "its error": found.shuffled_error,
        "λ_max": result.spectrum.eigenvalue_max,
        "λ_min certified above": result.spectrum.eigenvalue_min_certified,
        "leave-one-out error": result.loo.error,
        "its error from estimating it": result.loo.error_bar,
        "misclassified": result.loo.misclassified,
        "label noise": result.noise.estimate,
    }


if __name__ == "__main__":
    for key, value in run(*map(int, sys.argv[1:])).items():
        print(f"{key}: {value}")
