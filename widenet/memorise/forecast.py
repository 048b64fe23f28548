"""What memorising will cost, said before anything large is computed."""

import torch

from widenet.base.errors import InputError
from widenet.base.memory import BASE_BYTES
from widenet.memorise.methods.method import FittingMethod, form_operations
from widenet.memorise.problem import SquaresProblem
from widenet.memorise.sigma import NUM_STEPS
from widenet.memorise.sizes import MANY_ROWS
from widenet.runs.device import CPU, usable_on
from widenet.study.forecast import Forecast
from widenet.study.speed import Speed, measure_speed

TIMES = 4  # that σ_min of few rows is computed, first to choose the layers


def forecast_memorising(
    problem: SquaresProblem,
    method: type[FittingMethod],
    usable: int | None = None,
    device: torch.device = CPU,
) -> Forecast:
    """Say what a run costs; refuse one that does not fit into memory.

    Args:
        problem: What is to be memorised.
        method: How it is to be trained.
        usable: Bytes of memory to plan with; asked from the system by default.
        device: Where it is to be trained; σ_min is computed on the CPU.
    """
    n, k, r = problem.n, problem.k, problem.r
    rows, weights = 8 * n * k, 8 * k * r
    sigma = 4 * n * (n + 3072) + rows  # half a matrix, some block columns, the distinct rows
    training = method.num_bytes(n, k, r)
    needed = 2 * rows + 2 * weights + max(sigma, training)
    usable = usable_on(device) if usable is None else usable
    if needed > usable:
        raise InputError(
            f"Memorising {n:,} rows with {r:,} neurons takes about {needed / 2**30:,.1f} GiB of memory, most "
            f"of it for {'σ_min' if sigma > training else method.name}, but only {usable / 2**30:,.1f} GiB "
            "can be used: use fewer rows."
        )
    speed = measure_speed()
    training_speed = speed if device == CPU else measure_speed(device)
    seconds = 2 + _sigma_seconds(n, k, speed) + method.seconds(n, k, r, training_speed)
    return Forecast(seconds, BASE_BYTES + needed)


def _sigma_seconds(n: int, k: int, speed: Speed) -> float:
    gram = n * n * k + n**3 / 3
    if n <= MANY_ROWS:
        return TIMES * gram / speed.double
    return (gram + NUM_STEPS * 2 * form_operations(n, k)) / speed.double
