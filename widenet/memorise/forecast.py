"""What memorising will cost, said before anything large is computed."""

import time
from dataclasses import dataclass

import torch

from widenet.base.errors import InputError
from widenet.base.memory import available_bytes
from widenet.memorise.methods.adam import AdamRecipe
from widenet.memorise.methods.direct import DENSE
from widenet.memorise.methods.pgd import TheoremDescent
from widenet.memorise.problem import Problem
from widenet.memorise.result import Forecast
from widenet.memorise.sigma import NUM_STEPS
from widenet.memorise.sizes import MANY_ROWS

BASE_BYTES = 400 * 2**20  # interpreter and libraries
USABLE_SHARE = 0.9  # of the free memory; the rest is left to the system
PILOT = 768  # rows of the products that are timed
SYMMETRIC = 0.7  # share of a product of rows with themselves that symmetry leaves to be computed
TIMES = 4  # that σ_min of few rows is computed, first to choose the layers
ITERATIONS = 600  # of conjugate gradients in `direct`, a typical number
DESCENT_STEPS = 1500  # of `pgd`, a typical number


@dataclass(frozen=True)
class Speed:
    """Operations a second of matrix products on this machine."""

    single: float
    double: float


def forecast_memorising(problem: Problem, method: str, available: int | None = None) -> Forecast:
    """Say what a run costs; refuse one that does not fit into memory.

    Args:
        problem: What is to be memorised.
        method: pgd, adam, direct, or theorem for `pgd` with the numbers of Theorem 4.
        available: Bytes of free memory; asked from the system by default.
    """
    n, k, r = problem.n, problem.k, problem.r
    rows, weights = 8 * n * k, 8 * k * r
    sigma = 4 * n * (n + 3072) + rows  # half a matrix, some block columns, the distinct rows
    training = {
        "direct": 3 * 8 * n * n + 2 * rows if n <= DENSE else 2 * rows + 16 * k * k,
        "pgd": 3 * rows + 10 * weights,
        "theorem": rows + 10 * weights,
        "adam": rows + 6 * weights,
    }[method]
    needed = BASE_BYTES + 2 * rows + 2 * weights + max(sigma, training)
    if available is None:
        available = available_bytes()
    if available is not None and needed - BASE_BYTES > USABLE_SHARE * available:
        raise InputError(
            f"To memorise {n:,} rows with {r:,} neurons takes about {needed / 2**30:,.1f} GiB of memory, "
            f"most of it for {'σ_min' if sigma > training else method}, and {available / 2**30:,.1f} GiB are "
            "available: take fewer rows."
        )
    speed = measure_speed()
    return Forecast(needed, 2 + _sigma_seconds(n, k, speed) + _training_seconds(n, k, r, method, speed))


def measure_speed() -> Speed:
    """Time a product of small matrices in both precisions; a tenth of a second."""
    return Speed(*(_flops(dtype) for dtype in (torch.float32, torch.float64)))


def _flops(dtype: torch.dtype) -> float:
    square = torch.ones(PILOT, PILOT, dtype=dtype)
    square @ square  # the first product warms caches and threads up
    start = time.perf_counter()
    square @ square
    return 2 * PILOT**3 / max(time.perf_counter() - start, 1e-6)


def _sigma_seconds(n: int, k: int, speed: Speed) -> float:
    gram = n * n * k + n**3 / 3
    if n <= MANY_ROWS:
        return TIMES * gram / speed.double
    return (gram + NUM_STEPS * SYMMETRIC * 4 * n * k**2) / speed.double


def _training_seconds(n: int, k: int, r: int, method: str, speed: Speed) -> float:
    product = SYMMETRIC * 2 * n * k**2
    if method == "adam":
        return AdamRecipe.epochs * (4 * n * k * r / speed.single + product / speed.double)
    if method == "theorem":
        return TheoremDescent.max_steps * (2 * product + 4 * k**2 * r) / speed.double
    if method == "pgd":
        return DESCENT_STEPS * (3 * product + 4 * k**2 * r) / speed.double
    if n <= DENSE:
        return (2 * n * n * k + n**3 / 3 + 10 * product) / speed.double
    return ITERATIONS * 2 * product / speed.single
