"""The proved ends of the complexity (10), and what they cost beside the matrix and its factorisation."""

import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import torch
from torch import Tensor

from widenet.data import load
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.spectrum.enclosure import complexity_ends, enclose, proved_floor

T = TypeVar("T")


def _timed(function: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    return function(), time.perf_counter() - start


def _solved(H: Tensor, Y: Tensor) -> Tensor:
    """H⁻¹Y; H is overwritten."""
    return torch.cholesky_solve(Y, torch.linalg.cholesky(H, out=H))


def measure(name: str) -> dict[str, float]:
    """Both ends on a built-in set, their relative distance, and the seconds of each step."""
    dataset = load(name)
    H, gram_seconds = _timed(lambda: gram_matrix(kernel_by_name("relu2-hidden"), dataset.X))
    alpha, factor_seconds = _timed(partial(_solved, H, dataset.Y))
    del H
    floor, floor_seconds = _timed(lambda: proved_floor(dataset.X))
    found, seconds = _timed(lambda: enclose(dataset.X, dataset.Y, alpha, floor))
    lower, upper = complexity_ends(found.total(), dataset.n)
    return {
        "rows": dataset.n,
        "lower": lower,
        "upper": upper,
        "relative width": (upper - lower) / upper,
        "λ_min proved above": floor,
        "kernel matrix seconds": gram_seconds,
        "factorisation seconds": factor_seconds,
        "λ_min seconds": floor_seconds,
        "enclosure seconds": seconds,
    }


def run() -> dict[str, dict[str, float]]:
    """Both sets that have a value in the paper."""
    return {name: measure(name) for name in ("mnist-2", "cifar10-2")}


if __name__ == "__main__":
    for title, record in run().items():
        print(title, *(f"{key}: {value:.15g}" for key, value in record.items()), sep="\n  ")
