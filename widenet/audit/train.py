"""A real network beside its prediction: `audit --train`."""

from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.audit.result import TrainedCurve
from widenet.data.dataset import Dataset
from widenet.errors import WidenetError
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.networks.two_layer import initialise
from widenet.predict.curve import descent_distance, descent_loss
from widenet.spectrum.gram import DenseGram
from widenet.spectrum.lanczos import SpectralMeasure, gauss_measure, lanczos
from widenet.training.descent import DescentRun, descend

KERNEL = "relu2-hidden"  # the kernel of the network that is trained
MAX_ROWS = 1000  # trained on; more rows take time without making the comparison sharper
NUM_LANCZOS = 200


@dataclass(frozen=True)
class TrainSettings:
    """The network of [fine-grained, Section 3.1] that is trained.

    Attributes:
        width: Neurons m.
        kappa: Scale κ of the initial weights. They are drawn in antisymmetric pairs, so that the outputs
            begin at zero and a large κ, which keeps the network close to its linearisation, costs nothing.
        num_steps: Steps of gradient descent, at η = 1/λ_max of the rows that are trained on.
    """

    width: int = 4096
    kappa: float = 1.0
    num_steps: int = 200


def train_beside(dataset: Dataset, settings: TrainSettings, *, generator: torch.Generator) -> TrainedCurve:
    """Train on at most MAX_ROWS rows, a network for each target column, and predict the same descent."""
    rows = torch.randperm(dataset.n, generator=generator)[:MAX_ROWS].sort().values
    X, Y = dataset.X[rows], dataset.Y[rows]
    measure = _measure(X, Y)
    eta = 1 / float(measure.nodes[-1])
    runs = [_descent(X, y, eta, settings, generator) for y in Y.T]
    steps = torch.arange(settings.num_steps + 1, dtype=torch.float64)
    loss = torch.stack([run.residual_norms for run in runs]).square().sum(0) / 2
    distance = torch.stack([run.distances for run in runs]).square().sum(0).sqrt()
    return TrainedCurve(
        width=settings.width,
        kappa=settings.kappa,
        rows=len(rows),
        eta=eta,
        steps=tuple(range(settings.num_steps + 1)),
        loss=tuple(loss.tolist()),
        predicted=tuple(descent_loss(measure, eta, steps).tolist()),
        distance=float(distance[-1]),
        predicted_distance=float(descent_distance(measure, eta, steps[-1:])),
    )


def _measure(X: Tensor, Y: Tensor) -> SpectralMeasure:
    gram = DenseGram(gram_matrix(kernel_by_name(KERNEL), X))
    return gauss_measure(lanczos(gram, Y, num_steps=NUM_LANCZOS))


def _descent(
    X: Tensor, y: Tensor, eta: float, settings: TrainSettings, generator: torch.Generator
) -> DescentRun:
    params = initialise(
        settings.width,
        X.shape[1],
        settings.kappa,
        generator=generator,
        antisymmetric=True,
        dtype=torch.float32,
    )
    run = descend(params, X, y, eta=eta, num_steps=settings.num_steps)
    if run.diverged:
        raise WidenetError(
            f"A network of width {settings.width} diverged at η = {eta:.2g}, where a wider one does not: "
            "raise --width."
        )
    return run
