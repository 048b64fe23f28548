"""All 60,000 MNIST images audited: time, peak memory, and the width of the bracket."""

import resource
import time

from widenet.audit.run import run_audit
from widenet.data import load
from widenet.study.progress import told_progress


def run() -> dict[str, float | str | None]:
    """One audit in this process, whose peak resident memory is read at the end."""
    start = time.perf_counter()
    with told_progress(quiet=False) as progress:
        result = run_audit(load("mnist"), progress=progress)
    found = result.complexity
    return {
        "seconds": time.perf_counter() - start,
        "forecast seconds": result.forecast.seconds,
        "peak GiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "forecast GiB": result.forecast.memory_bytes / 2**30,
        "gram": result.gram.held.value,
        "complexity": found.value,
        "lower": found.lower,
        "upper": found.upper,
        "shuffled": found.shuffled,
        "its error": found.shuffled_error,
        "λ_max": result.spectrum.eigenvalue_max,
        "λ_min certified above": result.spectrum.eigenvalue_min_certified,
        "leave-one-out error": result.loo.error,
        "its standard error from the probes": result.loo.error_bar,
        "misclassified": result.loo.misclassified,
        "label noise": result.noise.estimate,
    }


if __name__ == "__main__":
    for key, value in run().items():
        print(f"{key}: {value}")
