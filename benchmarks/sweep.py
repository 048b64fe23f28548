"""Microseconds per setting and step: sweeps trained together, a PyTorch loop, and jit(vmap(scan)) in JAX.

40 settings of the three-layer ResNet, batches of 50, d = 30, k = 15, all cores. JAX is run in an environment
of its own that `make bench` makes; without it, its figures are left out.
"""

import json
import subprocess
import time
from pathlib import Path

import torch
from torch import Tensor

from widenet.data import load
from widenet.networks.names import network_by_name
from widenet.networks.network import Network
from widenet.training.rows import Rows, as_rows
from widenet.training.settings import TrainingSettings
from widenet.training.sweeps import threads
from widenet.training.together import Group

WIDTHS = (50, 100, 500)
PEER_PYTHON = Path(".bench/jax/bin/python")
PEER_SCRIPT = Path(__file__).parent / "peers" / "jax_sweep.py"
NUM_SETTINGS, BATCH, NUM_REPEATS = 40, 50, 5


def rows_of_the_experiment() -> Rows:
    """The experiment's class [resnet-beyond-kernels, section 8.1], N = 500."""
    dataset = load("resnet-cube:n=500")
    return as_rows(dataset.X, dataset.Y, torch.float32)


def settings(number: int) -> list[TrainingSettings]:
    return [
        TrainingSettings(rate=0.001 * (1 + i / 100), decay=0.001, batch=BATCH, epochs=100)
        for i in range(number)
    ]


def together(network: Network, rows: Rows, num_settings: int, num_epochs: int) -> float:
    """Microseconds of a sweep, in groups and threads as `sweep` makes them; the best of several runs."""
    num_groups = torch.get_num_threads()
    groups = [Group(network, rows, settings(num_settings // num_groups)) for _ in range(num_groups)]

    def work(group: Group) -> None:
        for epoch in range(num_epochs):
            group.epoch(epoch)

    best = float("inf")
    with threads() as (pool, _):
        for _ in range(NUM_REPEATS + 1):
            start = time.perf_counter()
            list(pool.map(work, groups))
            best = min(best, time.perf_counter() - start)
    num_trained = num_groups * (num_settings // num_groups)
    return 1e6 * best / (num_trained * num_epochs * -(-rows.n // BATCH))


def loop(width: int, rows: Rows, num_steps: int = 100) -> float:
    """Microseconds of a step with autograd and torch.optim.SGD, one setting after the other."""
    d, k = rows.X.shape[1], rows.Y.shape[1]
    shapes = {"W": (width, d), "V": (width, k + 1), "A": (k, width)}
    params = {name: (torch.randn(*shape) / width**0.5).requires_grad_() for name, shape in shapes.items()}
    optimiser = torch.optim.SGD(params.values(), lr=0.001, momentum=0.9, weight_decay=0.001)
    ones = torch.ones(BATCH, 1)

    def step(X: Tensor, Y: Tensor) -> None:
        optimiser.zero_grad()
        out1 = torch.relu(X @ params["W"].T) @ params["A"].T
        out = out1 + torch.relu(torch.cat([out1, ones], 1) @ params["V"].T) @ params["A"].T
        ((Y - out).square().sum(1).mean() / 2).backward()
        optimiser.step()

    best = float("inf")
    batches = [rows[start : start + BATCH] for start in range(0, rows.n, BATCH)]
    for _ in range(NUM_REPEATS + 1):
        start = time.perf_counter()
        for number in range(num_steps):
            batch = batches[number % len(batches)]
            step(batch.X, batch.Y)
        best = min(best, time.perf_counter() - start)
    return 1e6 * best / num_steps


def peer(width: int, num_steps: int = 100) -> float | None:
    """Microseconds of JAX, the best of several runs after compilation; None without its environment."""
    if not PEER_PYTHON.exists():
        return None
    arguments = [str(number) for number in (width, NUM_SETTINGS, num_steps, NUM_REPEATS)]
    done = subprocess.run(
        [str(PEER_PYTHON), str(PEER_SCRIPT), *arguments], check=True, capture_output=True, text=True
    )
    return float(min(json.loads(done.stdout.splitlines()[-1])["microseconds"]))


def share_of_peak(width: int = 1000, num_settings: int = 8) -> dict[str, float]:
    """How much of the speed of a large matrix product the three-layer network's training reaches."""
    rows = rows_of_the_experiment()
    micros = together(network_by_name("3layer-all", width), rows, num_settings, num_epochs=2)
    d, k = rows.X.shape[1], rows.Y.shape[1]
    weights = width * d + width * (width + 1) + k * width
    operations = 6 * BATCH * weights - 2 * BATCH * width * d  # the inputs need no gradient
    left, right = torch.randn(2000, 2000), torch.randn(2000, 2000)
    product = torch.empty(2000, 2000)
    best = float("inf")
    for _ in range(NUM_REPEATS + 1):
        start = time.perf_counter()
        torch.mm(left, right, out=product)
        best = min(best, time.perf_counter() - start)
    peak = 2 * 2000**3 / best
    reached = operations / (micros * 1e-6)
    return {
        "micros": micros,
        "gigaflops": reached / 1e9,
        "peak_gigaflops": peak / 1e9,
        "share": reached / peak,
    }


def run() -> dict[str, dict[str, float | None]]:
    """All widths, and the share of the peak."""
    rows = rows_of_the_experiment()
    figures: dict[str, dict[str, float | None]] = {}
    for width in WIDTHS:
        ours = together(network_by_name("3resnet-all", width), rows, NUM_SETTINGS, 2000 // width)
        looped, jax = loop(width, rows), peer(width)
        figures[f"m={width}"] = {
            "ours": ours,
            "loop": looped,
            "jax": jax,
            "loop_over_ours": looped / ours,
            "jax_over_ours": None if jax is None else jax / ours,
        }
    return {**figures, "three layers, m=1000": {**share_of_peak()}}


if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
