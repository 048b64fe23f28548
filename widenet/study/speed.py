"""How fast this machine, or its device, is at what forecasts count: matrix products, and reading memory."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import torch
from torch import Tensor

from widenet.base.threads import one_thread

PILOT_ROWS = 512  # of the products that are timed: enough for every core, and done in milliseconds
PILOT_BYTES = 2**25  # of the matrix whose reading is timed: more than the caches hold
PILOT_SECONDS = 0.02  # of calls that are timed


@dataclass(frozen=True)
class Speed:
    """What was measured in about a tenth of a second."""

    single: float  # operations a second of matrix products in float32
    double: float  # the same in float64
    bytes: float  # bytes a second of reading a float64 matrix that is larger than the caches


def measure_speed(device: torch.device | str = "cpu") -> Speed:
    """Time products of small matrices in both precisions, and a large matrix-vector product."""
    square = torch.ones(PILOT_ROWS, PILOT_ROWS, dtype=torch.float64, device=device)
    tall = torch.ones(PILOT_BYTES // (8 * PILOT_ROWS), PILOT_ROWS, dtype=torch.float64, device=device)
    half = square.to(torch.float32)
    operations = 2 * PILOT_ROWS**3
    return Speed(
        single=operations / seconds_of(lambda: half @ half),
        double=operations / seconds_of(lambda: square @ square),
        bytes=tall.numel() * tall.element_size() / seconds_of(lambda: tall @ square[:, :1]),
    )


def measure_thread_speed() -> Speed:
    """The same on one thread, for work that is spread over threads as a whole."""
    with one_thread():
        return measure_speed()


def seconds_of(work: Callable[[], object]) -> float:
    """Median time of the calls that fit into `PILOT_SECONDS`, after one that warms caches and threads up.

    A single call may take twice as long as most do.
    """
    _wait_for(work())
    times: list[float] = []
    while not times or sum(times) < PILOT_SECONDS:
        start = time.perf_counter()
        _wait_for(work())
        times.append(max(time.perf_counter() - start, 1e-6))
    return median(times)


def _wait_for(found: object) -> None:
    """Graphics cards compute while Python goes on, until it looks at a number."""
    if isinstance(found, Tensor) and found.device.type != "cpu":
        found[(-1,) * found.ndim].item()
