"""What the three-layer ResNet learns and the kernels tried do not [resnet-beyond-kernels, section 8.1].

Errors are means of ‖y − out‖² over 10,000 fresh rows of the experiment's class, α = .3, k = 15. Not to have
learned αG(F) costs kα² = 1.35. Networks show the best of a small grid of rates and decays at the best epoch,
kernels their best ridge, both chosen on the test rows: what they could do at best.
"""

import json
import time

import torch

from widenet.data import held_out, load
from widenet.kernels.matrix import cross_matrix, gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.networks.names import network_by_name
from widenet.training.linear import factorise, ridge_predictions
from widenet.training.settings import TrainingSettings
from widenet.training.sweeps import sweep

KERNELS = (
    *(f"{net}-{mode}" for net in ("relu2", "relu3", "resnet3") for mode in ("all", "hidden", "last")),
    *(f"gaussian:h={h:g}" for h in (0.5, 2, 10)),
    *(f"laplacian:h={h:g}" for h in (0.5, 2)),
    *(f"polynomial:degree={degree}" for degree in (2, 4, 8)),
    "arcsin",
    "recursive",
)
RIDGES = torch.logspace(-9, 2, 23, dtype=torch.float64)  # over the mean of the diagonal
RATES, DECAYS = (0.02, 0.05, 0.1, 0.2), (0.001, 0.002, 0.005, 0.01)
NUM_TEST = 10_000


def network_error(name: str, width: int, n: int) -> dict[str, float]:
    """The best test error of a grid, and the settings that reached it."""
    dataset = load(f"resnet-cube:n={n}", prepare="raw")
    grid = [TrainingSettings(rate=rate, decay=decay) for rate in RATES for decay in DECAYS]
    test = held_out("resnet-cube", dataset, n=NUM_TEST)
    start = time.perf_counter()
    runs = sweep(network_by_name(name, width), dataset, grid, test=test)
    best = min(runs, key=lambda run: run.best_test_error)
    return {
        "error": best.best_test_error,
        "rate": best.settings.rate,
        "decay": best.settings.decay,
        "seconds": time.perf_counter() - start,
    }


def kernel_errors(n: int) -> dict[str, float]:
    """The test error of each kernel at its best ridge, on rows of norm 1."""
    dataset = load(f"resnet-cube:n={n}", prepare="unit")
    test = held_out("resnet-cube", dataset, n=NUM_TEST)
    errors = {}
    for name in KERNELS:
        kernel = kernel_by_name(name)
        K = gram_matrix(kernel, dataset.X)
        factors, ridges = factorise(K), RIDGES * K.diagonal().mean()
        cross = cross_matrix(kernel, test.X, dataset.X)
        predictions = ridge_predictions(factors, cross, dataset.Y, ridges)
        errors[name] = float((predictions - test.Y).square().sum(-1).mean(1).min())
        print(f"  N={n} {name}: {errors[name]:.3f}", flush=True)
    return errors


def run() -> dict[str, dict[str, float]]:
    """The figures of the documentation."""
    return {
        "3resnet-all, m=100, N=500": network_error("3resnet-all", 100, 500),
        "3resnet-hidden, m=200, N=1000": network_error("3resnet-hidden", 200, 1000),
        "2layer-all, m=100, N=500": network_error("2layer-all", 100, 500),
        "3layer-all, m=100, N=500": network_error("3layer-all", 100, 500),
        "kernels, N=500": kernel_errors(500),
        "kernels, N=5000": kernel_errors(5000),
    }


if __name__ == "__main__":
    print(json.dumps(run(), indent=2))
