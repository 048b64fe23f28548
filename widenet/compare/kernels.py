"""Kernel methods: ridge regression under a kernel, its options and ridge chosen by leave-one-out."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from widenet.base.memory import require_memory
from widenet.compare.tuning import Choice, Family, Model, RowForms, Training, Unseen, best_score, scores
from widenet.kernels.classical import RandomFeatures
from widenet.kernels.kernel import Kernel
from widenet.kernels.matrix import cross_matrix, gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.training.linear import factorise, ridge_coefficients, ridge_leave_one_out

RELATIVE_RIDGES = torch.logspace(-8, 2, 21, dtype=torch.float64)  # over the mean of the kernel's diagonal
NUM_RANDOM_FEATURES = 1024
FOURIER_H = (0.2, 0.8, 3.2)
OPTION_GRIDS: dict[str, tuple[str, tuple[float, ...]]] = {
    "gaussian": ("h", (0.05, 0.2, 0.8, 3.2)),
    "laplacian": ("h", (0.25, 1.0, 4.0)),
    "recursive": ("depth", (1, 3)),
    "polynomial": ("degree", (2, 3, 4)),
}
HELD_MATRICES = 7  # of n² numbers at the peak: the Gram matrix, its eigenvectors, and room to find them
KERNEL_PILOT_ROWS = 512
NUM_PILOTS = 2  # of which the quicker one counts, since other programs can only slow one down
WARM_ROWS = 8  # fitted before anything is timed

Candidates = Callable[[int, torch.Generator], list[tuple[Choice, Kernel]]]


@dataclass(frozen=True)
class KernelMethod:
    """Ridge regression under one of several candidate kernels, without an intercept but on centred targets.

    Attributes:
        name: Name of the method.
        candidates: From the number of columns and a generator to settings and their kernels.
        family: Kernels by default; linear regression is a baseline.
        rows: Which form of the rows the kernel sees: of norm 1 by default, because classical kernels have
            their scale in h.
    """

    name: str
    candidates: Candidates
    family: Family = "kernel"
    rows: Callable[[RowForms], Tensor] = lambda inputs: normalize(inputs.X, dim=1)

    def fit(self, training: Training, *, seed: int) -> Model:
        _require_memory(training)
        X = self.rows(training.inputs)
        fits = [
            _fit_kernel(kernel, setting, X, training, self.rows)
            for setting, kernel in self.candidates(X.shape[1], torch.Generator().manual_seed(seed))
        ]
        return fits[best_score([model.score for model in fits])]

    def forecast(self, training: Training) -> float:
        """A fit to a few rows for each candidate, of which half grows as the square and half as the cube.

        What would not fit in memory is refused here, before any method is fitted.
        """
        _require_memory(training)
        part = training[torch.arange(min(training.n, KERNEL_PILOT_ROWS))]
        X = self.rows(part.inputs)
        candidates = self.candidates(X.shape[1], torch.Generator().manual_seed(0))
        setting, kernel = candidates[0]
        few = torch.arange(min(WARM_ROWS, part.n))
        _fit_kernel(kernel, setting, X[few], part[few], self.rows)
        seconds = []
        for _ in range(NUM_PILOTS):
            start = time.perf_counter()
            _fit_kernel(kernel, setting, X, part, self.rows)
            seconds.append(time.perf_counter() - start)
        growth = training.n / part.n
        return len(candidates) * min(seconds) * (growth**2 + growth**3) / 2


def _require_memory(training: Training) -> None:
    """For one kernel in each thread: one where fits run side by side, all of them before that."""
    size = HELD_MATRICES * 8 * training.n**2
    require_memory(torch.get_num_threads() * size, f"A kernel of {training.n:,} rows in each thread")


def _fit_kernel(
    kernel: Kernel, setting: Choice, X: Tensor, training: Training, rows: Callable[[RowForms], Tensor]
) -> Model:
    """Fit at the ridge whose leave-one-out score is best."""
    K = gram_matrix(kernel, X)
    ridges = RELATIVE_RIDGES * float(K.diagonal().mean())
    factors = factorise(K)
    del K
    centre = training.Y.mean(0)
    targets = training.Y - centre
    left_out = centre + ridge_leave_one_out(factors, targets, ridges)
    judged = scores(left_out, training)
    best = best_score(judged)
    alpha = ridge_coefficients(factors, targets, ridges[best : best + 1])[0]
    return Model(
        predict=lambda inputs: centre + cross_matrix(kernel, rows(inputs), X) @ alpha,
        setting=setting | {"ridge": float(f"{RELATIVE_RIDGES[best]:.3g}")},
        score=judged[best],
        unseen=Unseen(left_out[best], torch.arange(training.n)),
    )


def of_network(name: str) -> KernelMethod:
    """The method of the kernel of a compared network, which sees the rows as the network does.

    Factors of the kernel do not matter, since ridges follow its scale.
    """
    kernel = kernel_by_name(name)
    return KernelMethod(name, lambda d, generator: [({}, kernel)], rows=lambda inputs: inputs.X)


def classical(name: str) -> KernelMethod:
    """The method of a classical kernel, with the option that `OPTION_GRIDS` has for it to choose."""
    if name in OPTION_GRIDS:
        return with_option(name, *OPTION_GRIDS[name])
    return KernelMethod(name, lambda d, generator: [({}, kernel_by_name(name))])


def with_option(name: str, option: str, values: tuple[float, ...]) -> KernelMethod:
    """The method of a kernel with one option to choose."""
    return KernelMethod(
        name, lambda d, generator: [({option: v}, kernel_by_name(f"{name}:{option}={v:g}")) for v in values]
    )


def random_features() -> KernelMethod:
    """Linear regression on random features: ReLU features, or cosines whose limit is a Gaussian kernel."""
    return KernelMethod("random-features", _feature_candidates)


def _feature_candidates(d: int, generator: torch.Generator) -> list[tuple[Choice, Kernel]]:
    normal = torch.randn(NUM_RANDOM_FEATURES, d + 1, generator=generator, dtype=torch.float64)
    phases = 2 * math.pi * torch.rand(NUM_RANDOM_FEATURES, 1, generator=generator, dtype=torch.float64)
    found: list[tuple[Choice, Kernel]] = [({"features": "relu"}, RandomFeatures(relu_features, normal))]
    for h in FOURIER_H:
        weights = torch.cat([normal[:, :d] * math.sqrt(2 / h), phases], dim=1)
        found.append(({"features": "cosine", "h": h}, RandomFeatures(cosine_features, weights)))
    return found


def relu_features(X: Tensor, weights: Tensor) -> Tensor:
    """σ(⟨w, (x, 1)⟩), shape (n, p), for weights (p, d + 1)."""
    return (X @ weights[:, :-1].T + weights[:, -1]).clamp(min=0)


def cosine_features(X: Tensor, weights: Tensor) -> Tensor:
    """√2 cos(⟨w, x⟩ + b) [rahimi2007random], shape (n, p): E over w ~ N(0, 2/h) is exp(−‖x − z‖²/h)."""
    return math.sqrt(2) * (X @ weights[:, :-1].T + weights[:, -1]).cos()
