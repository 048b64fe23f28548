"""The Gram matrix of a depth-3 ReLU NTK: ours, neural-tangents', and the bare product XXᵀ, in one run.

`python -m benchmarks.gram`; neural-tangents runs in the environment that `make bench-peers` makes.
"""

import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name

PEER_PYTHON = Path(".bench/neural-tangents/bin/python")
PEER_SCRIPT = Path(__file__).parent / "peers" / "neural_tangents_gram.py"
NUM_REPEATS = 5


def unit_rows(n: int, d: int, *, dtype: torch.dtype, generator: torch.Generator) -> Tensor:
    """Rows uniform on the sphere, shape (n, d)."""
    rows = torch.randn(n, d, dtype=torch.float64, generator=generator)
    return (rows / rows.norm(dim=1, keepdim=True)).to(dtype)


def best_seconds(call: Callable[[], object], num_repeats: int = NUM_REPEATS) -> float:
    """The shortest of several runs, after one that is not counted."""
    call()
    seconds = []
    for _ in range(num_repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def peer_result(X: Tensor, python: Path) -> dict[str, list[float]]:
    """What the peer's script prints for these rows."""
    with tempfile.TemporaryDirectory() as folder:
        rows_file = Path(folder) / "rows.npy"
        np.save(rows_file, X.numpy())
        command = [str(python), str(PEER_SCRIPT), str(rows_file), str(NUM_REPEATS)]
        done = subprocess.run(
            command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
    result: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return result


def run(*, n: int = 5000, d: int = 784, peer_python: Path = PEER_PYTHON) -> dict[str, float]:
    """Seconds and ratios; those of the peer are left out where its environment is absent."""
    X = unit_rows(n, d, dtype=torch.float32, generator=torch.Generator().manual_seed(0))
    kernel = kernel_by_name("relu3-all")
    product = torch.empty(n, n)
    ours = best_seconds(lambda: gram_matrix(kernel, X))
    bare = best_seconds(lambda: torch.mm(X, X.T, out=product))
    figures = {
        "n": n,
        "d": d,
        "ours_seconds": ours,
        "product_seconds": bare,
        "ours_over_product": ours / bare,
    }
    if peer_python.exists():
        peer = peer_result(X, peer_python)
        seconds = min(peer["seconds"])
        difference = (gram_matrix(kernel, X[:9])[0, 1:] - torch.tensor(peer["first_row"])).abs().max()
        figures |= {
            "peer_seconds": seconds,
            "peer_over_ours": seconds / ours,
            "difference": float(difference),
        }
    return figures


def main() -> dict[str, float]:
    """Print the figures, one a line, and return them."""
    figures = run()
    for name, value in figures.items():
        print(f"{name:>20} {value:.4g}")
    if "peer_seconds" not in figures:
        print(f"neural-tangents skipped: {PEER_PYTHON} is absent; `make bench` makes it.")
    return figures


if __name__ == "__main__":
    main()
