"""What an audit will cost, said before anything large is allocated."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from widenet.audit.result import Forecast
from widenet.data.memory import available_bytes
from widenet.errors import InputError
from widenet.kernels.kernel import Kernel

DENSE_ROWS = 14_000  # a factorisation of more rows takes longer than products with tiles
USABLE_SHARE = 0.8  # of the free memory; the rest is left to the system
BASE_BYTES = 600 * 2**20  # interpreter and libraries
ASSUMED_BYTES = 8 * 2**30  # free memory, where the system does not tell
BLOCK_COLUMNS = 24  # vectors in a block, besides the label columns
NUM_VECTORS = 4000  # vectors of length n held at a time: a Krylov basis, or the preconditioner and its making
NUM_PRODUCTS = 110  # block products of an audit by tiles in float64, ...
NUM_SOLVE_PRODUCTS = 210  # ... and in float32, of the solves and their preconditioners, in half the time
PILOT_ROWS = 1024


@dataclass(frozen=True)
class Speed:
    """How fast this machine is at what an audit does most, float64."""

    flops: float  # matrix products, operations a second
    bytes: float  # reading a matrix that is larger than the caches, bytes a second
    entries: float  # kernel values from cosines, entries a second


def measure_speed(kernel: Kernel) -> Speed:
    """Time a small matrix product, a large matrix-vector product and one kernel tile; a third of a second."""
    square = torch.ones(PILOT_ROWS, PILOT_ROWS, dtype=torch.float64)
    tall = torch.ones(8 * PILOT_ROWS, PILOT_ROWS, dtype=torch.float64)
    rows = torch.nn.functional.normalize(square[:, :8] + torch.arange(8), dim=1)
    return Speed(
        flops=2 * PILOT_ROWS**3 / _seconds(lambda: square @ square),
        bytes=tall.numel() * 8 / _seconds(lambda: tall @ square[:, :1]),
        entries=PILOT_ROWS**2 / _seconds(lambda: kernel.tile(rows, rows)),
    )


def forecast_audit(
    n: int, d: int, num_columns: int, kernel: Kernel, available: int | None = None
) -> Forecast:
    """Choose how the Gram matrix is held, and say what that costs; refuse what fits neither way.

    Args:
        n: Rows.
        d: Columns of the prepared inputs.
        num_columns: Columns of the targets.
        kernel: The audit's kernel.
        available: Bytes of free memory; asked from the system by default.
    """
    if available is None:
        available = available_bytes() or ASSUMED_BYTES
    usable = int(USABLE_SHARE * available)
    inputs = BASE_BYTES + 8 * n * (2 * d + 8 * num_columns)
    dense = inputs + 3 * 8 * n * n
    speed = measure_speed(kernel)
    if n <= DENSE_ROWS and dense <= usable:
        return Forecast(dense, _dense_seconds(n, d, speed), "dense", 8 * n * n)
    least = inputs + 8 * n * (NUM_VECTORS + 60 * num_columns)
    if least > usable:
        raise InputError(
            f"An audit of {n:,} rows and {d:,} columns needs at least {least / 2**30:,.1f} GiB, even without "
            f"holding the kernel, and {usable / 2**30:,.1f} GiB can be used: take fewer rows."
        )
    packed = 8 * n * (n + 1024) // 2
    kept = min(packed, usable - least)
    gram = "packed" if kept == packed else "tiled"
    return Forecast(least + kept, _tiled_seconds(n, d, num_columns, kept / packed, speed), gram, kept)


def _dense_seconds(n: int, d: int, speed: Speed) -> float:
    """Two Gram matrices, two factorisations and inverses, about a hundred products, the label model."""
    grams = 2 * (n * n * d / speed.flops + n * n / 2 / speed.entries)
    factorisations = 2 * (n**3 + n**3 / 3) / speed.flops
    products = 100 * 8 * n * n / speed.bytes
    pilots = 12 * 10 * min(n, 2000) ** 3 / speed.flops  # eigendecompositions that choose depth and ridge
    subsets = 8 * min(n, 4096) ** 3 / speed.flops  # the learning curve
    return 2 + grams + factorisations + products + pilots + subsets


def _tiled_seconds(n: int, d: int, num_columns: int, kept: float, speed: Speed) -> float:
    gram = n * n * d / speed.flops + n * n / 2 / speed.entries
    columns = BLOCK_COLUMNS + num_columns
    product = max(2 * n * n * columns / speed.flops, 4 * n * n / speed.bytes) + (1 - kept) * gram
    return 60 + 2 * gram + (NUM_PRODUCTS + NUM_SOLVE_PRODUCTS / 2) * product


def _seconds(work: Callable[[], object]) -> float:
    work()  # the first call warms caches and threads up
    start = time.perf_counter()
    work()
    return max(time.perf_counter() - start, 1e-6)
