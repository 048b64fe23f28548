"""How well a quarter of the rows foretells the kernel predictor's error at all rows.

Run as `python -m benchmarks.learning_curve [--quarters N] [NAME ...]`; all data sets but digits are looked
for in WIDENET_DATA, then downloaded.
"""

import argparse
import json
import statistics
import time
from typing import TypedDict

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.data import Dataset, held_out, load
from widenet.kernels.matrix import cross_matrix, gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.predict.learning_curve import (
    JITTER,
    mistakes,
    predict_learning_curve,
    squared_errors,
)

NAMES = ("digits", "mnist-2", "cifar10-2")
KERNEL = kernel_by_name("relu2-hidden")
FIRST_SEED = 1000  # the curve's priors were tuned on quarters drawn with the seeds 0 to 23


class Measured(TypedDict):
    """Error and share of mistakes with all rows: leaving one out, and on the test set if there is one."""

    error: float
    misclassified: float
    test_error: float | None
    test_misclassified: float | None


class Quarter(TypedDict):
    """What one random quarter predicted, and whether its intervals contain what was measured."""

    error: float
    deviation: float
    error_covered: bool
    misclassified: float
    misclassified_low: float
    misclassified_high: float
    misclassified_covered: bool
    seconds: float


def measure(dataset: Dataset) -> Measured:
    """Fit all rows once, for the errors that the quarters are asked to foretell."""
    K = gram_matrix(KERNEL, dataset.X)
    K.diagonal().add_(JITTER * K.diagonal().mean())
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(K))
    alpha = inverse @ dataset.Y
    left_out = dataset.Y - alpha / inverse.diagonal()[:, None]
    result = Measured(
        error=float(squared_errors(left_out, dataset.Y).mean()),
        misclassified=float(mistakes(left_out, dataset.Y).mean()),
        test_error=None,
        test_misclassified=None,
    )
    try:
        test = held_out(dataset.name, dataset)
    except InputError:  # digits come without one
        return result
    predictions = cross_matrix(KERNEL, test.X, dataset.X) @ alpha
    result["test_error"] = float(squared_errors(predictions, test.Y).mean())
    result["test_misclassified"] = float(mistakes(predictions, test.Y).mean())
    return result


def predict(dataset: Dataset, rows: Tensor, measured: Measured, generator: torch.Generator) -> Quarter:
    """Foretell the errors at all rows from those in `rows`, and compare."""
    started = time.perf_counter()
    curve = predict_learning_curve(
        KERNEL, dataset.X[rows], dataset.Y[rows], [dataset.n], classification=True, generator=generator
    )
    assert curve.misclassified is not None
    assert curve.misclassified_low is not None
    assert curve.misclassified_high is not None
    return Quarter(
        error=curve.error[-1],
        deviation=curve.error[-1] / measured["error"] - 1,
        error_covered=curve.error_low[-1] <= measured["error"] <= curve.error_high[-1],
        misclassified=curve.misclassified[-1],
        misclassified_low=curve.misclassified_low[-1],
        misclassified_high=curve.misclassified_high[-1],
        misclassified_covered=curve.misclassified_low[-1]
        <= measured["misclassified"]
        <= curve.misclassified_high[-1],
        seconds=time.perf_counter() - started,
    )


def run(names: tuple[str, ...] = NAMES, num_quarters: int = 10) -> dict[str, dict[str, object]]:
    """Measured errors, every quarter's prediction and a summary, by data set."""
    results: dict[str, dict[str, object]] = {}
    for name in names:
        dataset = load(name)
        measured = measure(dataset)
        quarters = []
        for seed in range(FIRST_SEED, FIRST_SEED + num_quarters):
            generator = torch.Generator().manual_seed(seed)
            rows = torch.randperm(dataset.n, generator=generator)[: dataset.n // 4]
            quarters.append(predict(dataset, rows, measured, generator))
        off = [abs(quarter["deviation"]) for quarter in quarters]
        results[name] = {
            "measured": measured,
            "median_deviation": statistics.median(off),
            "worst_deviation": max(off),
            "within_25_percent": statistics.mean(deviation <= 0.25 for deviation in off),
            "error_coverage": statistics.mean(q["error_covered"] for q in quarters),
            "misclassified_coverage": statistics.mean(q["misclassified_covered"] for q in quarters),
            "quarters": quarters,
        }
    return results


def main() -> None:
    """Print the results as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--quarters", type=int, default=10)
    arguments = parser.parse_args()
    print(json.dumps(run(tuple(arguments.names), arguments.quarters), indent=2))


if __name__ == "__main__":
    main()
