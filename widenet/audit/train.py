"""A real network beside its prediction [fine-grained, Section 3.1]."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from widenet.audit.findings import TrainedCurve
from widenet.audit.settings import DEFAULT_KERNEL
from widenet.base.errors import WidenetError
from widenet.base.progress import Progress
from widenet.data.dataset import Dataset
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.networks.two_layer import draw_fine_grained
from widenet.predict.curve import descent_distance, descent_loss
from widenet.spectrum.gram import DenseGram
from widenet.spectrum.lanczos import SpectralMeasure, gauss_measure, lanczos
from widenet.study.speed import Speed
from widenet.training.descent import DescentRun, descend

# Weights are drawn in antisymmetric pairs: outputs begin at zero, and a large scale κ of the initial weights,
# which keeps the network close to its linearisation, costs nothing.
KAPPA = 1.0
NUM_STEPS = 200  # of gradient descent, at η = 1/λ_max of the rows that are trained on
MAX_ROWS = 1000  # trained on; more rows take time without making the comparison sharper
NUM_LANCZOS = 200
SLOW = 2.0  # times the time of large matrix products, which those of a step are not


def training_seconds(n: int, d: int, num_columns: int, width: int, speed: Speed) -> float:
    """Two products with all weights for every row, step and target column; see `train_beside`."""
    return SLOW * 4 * min(n, MAX_ROWS) * d * width * NUM_STEPS * num_columns / speed.single


def train_beside(
    dataset: Dataset, width: int, *, generator: torch.Generator, device: torch.device, progress: Progress
) -> TrainedCurve:
    """Train on at most MAX_ROWS rows, a network for each target column, and predict the same descent."""
    rows = torch.randperm(dataset.n, generator=generator)[:MAX_ROWS].sort().values
    X, Y = dataset.X[rows].to(device), dataset.Y[rows].to(device)
    measure = _measure(X, Y)
    eta = 1 / float(measure.nodes[-1])
    stage, total = f"training a network of width {width:,}", NUM_STEPS * Y.shape[1]
    runs = []
    for done, y in zip(range(0, total, NUM_STEPS), Y.T, strict=True):
        step_done = partial(_tell, progress, stage, total, done)
        runs.append(_descent(X, y, eta, width, generator, step_done))
    steps = torch.arange(NUM_STEPS + 1, dtype=torch.float64)
    loss = torch.stack([run.residual_norms for run in runs]).square().sum(0) / 2
    distance = torch.stack([run.distances for run in runs]).square().sum(0).sqrt()
    return TrainedCurve(
        width=width,
        kappa=KAPPA,
        rows=len(rows),
        eta=eta,
        steps=tuple(range(NUM_STEPS + 1)),
        loss=tuple(loss.tolist()),
        predicted=tuple(descent_loss(measure, eta, steps).tolist()),
        distance=float(distance[-1]),
        predicted_distance=float(descent_distance(measure, eta, steps[-1:])),
    )


def _tell(progress: Progress, stage: str, total: int, before: int, step: int) -> None:
    progress(stage, before + step, total)


def _measure(X: Tensor, Y: Tensor) -> SpectralMeasure:
    gram = DenseGram(gram_matrix(kernel_by_name(DEFAULT_KERNEL), X))
    return gauss_measure(lanczos(gram, Y, num_steps=NUM_LANCZOS))


def _descent(
    X: Tensor,
    y: Tensor,
    eta: float,
    width: int,
    generator: torch.Generator,
    progress: Callable[[int], None],
) -> DescentRun:
    params = draw_fine_grained(
        width,
        X.shape[1],
        KAPPA,
        generator=generator,
        antisymmetric=True,
        dtype=torch.float32,
        device=X.device,
    )
    run = descend(params, X, y, eta=eta, num_steps=NUM_STEPS, progress=progress)
    if run.diverged:
        raise WidenetError(
            f"A network of width {width} diverged at η = {eta:.2g}, where a wider one does not: "
            "raise `width`."
        )
    return run
