"""MNIST memorised: the paper's recipe, our descent and linear algebra; time to each loss in one table.

`python -m benchmarks.memorise [ROWS [EPOCHS]]`; all 60,000 rows and the recipe's 80 epochs by itself. An
epoch of the recipe is also measured against the fastest matrix product of this machine.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from widenet.data import load, subset
from widenet.memorise.methods.adam import AdamRecipe, train_epoch
from widenet.memorise.methods.direct import Direct
from widenet.memorise.methods.method import FittingMethod
from widenet.memorise.methods.pgd import PerturbedDescent
from widenet.memorise.problem import SquaresProblem, perturbed_inputs, random_weights
from widenet.networks.quadratic import RandomLayer

LOSSES = (1e-3, 1e-5, 1e-8)
NEURONS = 3000  # of the trained layer, in all of the paper's experiments with MNIST
ROWS, EPOCHS = 60_000, 80
PGD_STEPS = 100  # at some seconds each it would take hours to its end


@dataclass(frozen=True)
class Run:
    """One method on one problem; seconds to each of LOSSES, None where it was not reached."""

    network: str
    labels: str
    method: str
    seconds_to: tuple[float | None, ...]
    seconds: float
    steps: int
    loss: float
    max_residual: float

    def __str__(self) -> str:
        cells = " ".join("       -" if t is None else f"{t:8.1f}" for t in self.seconds_to)
        return (
            f"{self.network:12} {self.labels:6} {self.method:6} {cells} {self.seconds:8.1f} {self.steps:7} "
            f"{self.loss:9.1e} {self.max_residual:9.1e}"
        )


def two_layers(num_rows: int) -> SquaresProblem:
    """Images of norm 1 with noise .01 [mild-memorisation, Appendix A.1]."""
    dataset = subset(load("mnist"), torch.arange(num_rows))
    assert dataset.labels is not None
    X = perturbed_inputs(dataset.X, 0.01, seed=0)
    return SquaresProblem(X, dataset.labels.to(torch.float64), NEURONS, 2, None, 0.01, 0)


def three_layers(num_rows: int) -> SquaresProblem:
    """100 principal directions, noise .05, then 750 squared features of standard deviation .15."""
    dataset = subset(load("mnist"), torch.arange(num_rows))
    assert dataset.labels is not None
    centred = dataset.X - dataset.X.mean(0)
    directions = torch.linalg.eigh(centred.T @ centred).eigenvectors[:, -100:]
    X = perturbed_inputs(centred @ directions, 0.05, seed=0)
    layer = RandomLayer(random_weights(750, 100, seed=0), 2, 0.15**2)
    return SquaresProblem(layer(X), dataset.labels.to(torch.float64), NEURONS, 3, layer, 0.05, 0)


NETWORKS: dict[str, Callable[[int], SquaresProblem]] = {
    "two layers": two_layers,
    "three layers": three_layers,
}


def with_random_labels(problem: SquaresProblem) -> SquaresProblem:
    """Labels drawn uniformly from 0 to 9."""
    generator = torch.Generator().manual_seed(0)
    return replace(problem, y=torch.randint(10, (problem.n,), generator=generator).to(torch.float64))


def measure(network: str, labels: str, problem: SquaresProblem, method: FittingMethod) -> Run:
    """Run a method to its end; its clock starts before `start`, whose work counts."""
    begin = time.perf_counter()
    state = method.start(problem)
    before = time.perf_counter() - begin
    while not method.done(state):
        state = method.advance(problem, state)
    begin = time.perf_counter()
    W = method.weights(problem, state)
    after = time.perf_counter() - begin
    _, seconds, losses = state["history"].T
    reached = [(losses <= each).nonzero() for each in LOSSES]
    half = NEURONS // 2
    outputs = [(Z @ W).square_() for Z in problem.Z.split(4096)]
    residual = torch.cat([each[:, :half].sum(1) - each[:, half:].sum(1) for each in outputs]) - problem.y
    return Run(
        network=network,
        labels=labels,
        method=method.name,
        seconds_to=tuple(
            before + float(seconds[int(rows[0])]) + after if len(rows) else None for rows in reached
        ),
        seconds=before + float(state["seconds"]) + after,
        steps=method.steps(state),
        loss=float(residual.square().sum()) / (4 * problem.n),
        max_residual=float(residual.abs().max()),
    )


def product_peak(size: int = 4096, repeats: int = 3) -> float:
    """Operations a second of the fastest square matrix product in float32."""
    left, right = torch.randn(2, size, size)
    out = torch.empty(size, size)
    best = float("inf")
    for _ in range(repeats + 1):
        start = time.perf_counter()
        torch.mm(left, right, out=out)
        best = min(best, time.perf_counter() - start)
    return 2 * size**3 / best


def epoch_share(problem: SquaresProblem, repeats: int = 2) -> dict[str, float]:
    """Seconds of one epoch of the recipe, and what share of them its matrix products take at the peak."""
    method = AdamRecipe()
    state = method.start(problem)
    Z, y = problem.Z.to(torch.float32), problem.y.to(torch.float32)
    batches = torch.randperm(problem.n).split(method.batch)
    steps, whole, peak = float("inf"), float("inf"), 0.0
    for _ in range(repeats):
        peak = max(peak, product_peak())
        start = time.perf_counter()
        train_epoch(Z, y, batches, state, rate=method.rate)
        steps = min(steps, time.perf_counter() - start)
        start = time.perf_counter()
        state = method.advance(problem, state)
        whole = min(whole, time.perf_counter() - start)
    ideal = 4.0 * problem.n * problem.k * problem.r / peak
    return {
        "peak Gflop/s": peak / 1e9,
        "epoch seconds": steps,
        "share of the peak": ideal / steps,
        "epoch and its loss on all rows seconds": whole,
        "their share of the peak": ideal / whole,
    }


def run(num_rows: int = ROWS, epochs: int = EPOCHS) -> dict[str, object]:
    """Print the table row by row, and return it."""
    record: dict[str, object] = {"rows": num_rows, "epoch": epoch_share(two_layers(num_rows))}
    print(record, flush=True)
    titles = " ".join(f"to {each:g}".rjust(8) for each in LOSSES)
    print(f"{'network':12} {'labels':6} {'method':6} {titles} {'seconds':>8} {'steps':>7}  loss, residual")
    runs = []
    for network, build in NETWORKS.items():
        true = build(num_rows)
        for labels, problem in {"true": true, "random": with_random_labels(true)}.items():
            for method in (
                Direct(target=1e-12),
                PerturbedDescent(target=1e-9, max_steps=PGD_STEPS),
                AdamRecipe(epochs=epochs),
            ):
                runs.append(measure(network, labels, problem, method))
                print(runs[-1], flush=True)
    return record | {"losses": LOSSES, "runs": runs}


if __name__ == "__main__":
    run(*map(int, sys.argv[1:]))
