"""Complexity and training curve from one Lanczos run, against numpy's eigendecomposition."""

import math
import time

import numpy as np
import torch

from widenet.data import load, subset
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.predict.curve import descent_loss
from widenet.spectrum.brackets import inverse_bracket
from widenet.spectrum.floor import eigenvalue_floor
from widenet.spectrum.gram import DenseGram
from widenet.spectrum.lanczos import gauss_measure, lanczos

STEPS = torch.tensor([0.0, 1, 10, 100, 1000, 10_000], dtype=torch.float64)
WIDTH = 4e-6  # of the bracket of yᵀH⁻¹y at which the run stops: its middle is right to 1e-6 after the root


def measure(n: int, name: str = "mnist-2") -> dict[str, float]:
    """Seconds of both ways to the same numbers, on the first n rows; the Gram matrix is made beforehand.

    The certified floor under the spectrum turns the run's numbers into two-sided bounds, which the
    eigendecomposition does not offer; it is timed apart.
    """
    dataset = subset(load(name), torch.arange(n))
    kernel = kernel_by_name("relu2-hidden")
    H = gram_matrix(kernel, dataset.X)
    start = time.perf_counter()
    floor = eigenvalue_floor(kernel, dataset.X)
    floor_seconds = time.perf_counter() - start
    start = time.perf_counter()
    krylov = lanczos(
        DenseGram(H),
        dataset.Y,
        num_steps=400,
        stop=lambda run: inverse_bracket(run, floor).width() <= WIDTH,
        check_every=4,
    )
    bounds, gauss = inverse_bracket(krylov, floor), gauss_measure(krylov)
    assert bounds.upper is not None
    ours = math.sqrt(float(bounds.lower + bounds.upper) / n)
    eta = 1 / float(gauss.nodes[-1])
    curve = descent_loss(gauss, eta, STEPS)
    ours_seconds = time.perf_counter() - start

    start = time.perf_counter()
    eigenvalues, vectors = np.linalg.eigh(H.numpy())
    projections = (vectors.T @ dataset.Y.numpy()[:, 0]) ** 2
    theirs = math.sqrt(2 * (projections / eigenvalues).sum() / n)
    decay = np.abs(1 - eta * eigenvalues)[None, :] ** (2 * STEPS.numpy()[:, None])
    exact = (decay * projections).sum(1) / 2
    theirs_seconds = time.perf_counter() - start
    return {
        "n": n,
        "seconds": ours_seconds,
        "certified floor seconds": floor_seconds,
        "numpy eigh seconds": theirs_seconds,
        "ratio": theirs_seconds / ours_seconds,
        "ratio with the floor": theirs_seconds / (ours_seconds + floor_seconds),
        "products": krylov.num_steps,
        "complexity deviation": abs(ours / theirs - 1),
        "curve deviation": float(np.max(np.abs(curve.numpy() - exact) / exact[0])),
    }


def run() -> dict[str, dict[str, float]]:
    """Both sizes that the documentation shows."""
    return {f"n={n}": measure(n) for n in (4000, 10_000)}


if __name__ == "__main__":
    for title, record in run().items():
        print(title, *(f"{key}: {value:.4g}" for key, value in record.items()), sep="\n  ")
