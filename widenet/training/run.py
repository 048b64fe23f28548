"""What one training run did."""

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from widenet.networks.names import network_by_name
from widenet.networks.network import SECOND, Network, Parameters, hidden_values, network_outputs
from widenet.training.rows import MEASURED_ENTRIES, Rows
from widenet.training.settings import TrainingSettings


@dataclass(frozen=True)
class Moved:
    """How far training has taken one parameter.

    Attributes:
        frobenius: ‖W‖_F.
        two_four: ‖W‖_{2,4}, the fourth root of Σ_i ‖w_i‖⁴ over the rows, which are neurons.
        spectral: ‖W‖₂.
        distance, distance_two_four, distance_spectral: The same norms of W − W⁽⁰⁾.
    """

    frobenius: float
    two_four: float
    spectral: float
    distance: float
    distance_two_four: float
    distance_spectral: float


@dataclass(frozen=True)
class TrainingRun:
    """One network trained under one setting.

    Attributes:
        network: Its name, as `network_by_name` takes it.
        width: Neurons of each hidden layer.
        settings: What it was trained with.
        epochs: Epochs after which it was measured, the first is 0.
        train_loss: Mean loss over the training rows at these epochs.
        train_error: Mean ‖y − out‖² over the training rows at these epochs.
        test_error: The same over the test rows; None without any.
        test_misclassified: Share of misclassified test rows; None without any.
        validation_error: The error over a second set of rows held out, by which a setting can be chosen
            without a look at the test rows; None without any.
        sign_changes: Share of the signs of each hidden layer's neurons on the training rows that differ from
            those at initialisation, and `second, W moved` of those that V alone has changed; empty where the
            run diverged.
        moved: Norms of each trained parameter; empty where the run diverged.
        diverged: Whether it was stopped because the loss or the weights grew beyond bounds.
        seconds: Wall time, shared evenly by the settings that were trained together.
        weights: Parameters at the end, shapes (1, …), where they were kept; None otherwise.
    """

    network: str
    width: int
    settings: TrainingSettings
    epochs: tuple[int, ...]
    train_loss: tuple[float, ...]
    train_error: tuple[float, ...]
    test_error: tuple[float, ...] | None
    test_misclassified: tuple[float, ...] | None
    sign_changes: dict[str, float]
    moved: dict[str, Moved]
    diverged: bool
    seconds: float
    weights: Parameters | None = None
    validation_error: tuple[float, ...] | None = None

    @property
    def best_test_error(self) -> float:
        """The smallest test error on the way, as the papers' figures show it; infinite if it diverged."""
        return float("inf") if self.diverged or self.test_error is None else min(self.test_error)

    def outputs(self, X: Tensor) -> Tensor:
        """Outputs for inputs X (n, d), shape (n, k), on the device of the weights, where these were kept."""
        if self.weights is None:
            raise ValueError("This run kept no weights: train with keep_weights=True.")
        network = network_by_name(self.network, self.width)
        return network_outputs(network, self.weights, X.to(self.weights["A"]))[0]

    def to_dict(self) -> dict[str, Any]:
        """All but the weights as JSON values."""
        values = {name: value for name, value in self.__dict__.items() if name not in ("weights", "moved")}
        return {
            **values,
            "settings": self.settings.to_dict(),
            "moved": {name: asdict(moved) for name, moved in self.moved.items()},
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any], weights: Parameters | None = None) -> "TrainingRun":
        """The inverse of `to_dict`."""
        lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        settings = TrainingSettings.from_dict(values["settings"])
        moved = {name: Moved(**norms) for name, norms in values["moved"].items()}
        return cls(**{**values, **lists, "settings": settings, "moved": moved, "weights": weights})


def norms_of(now: Tensor, start: Tensor) -> Moved:
    """Norms of one parameter (m, p) and of its way from the start."""
    values = []
    for matrix in (now.double(), (now - start).double()):
        row_norms = matrix.norm(dim=1)
        values += [row_norms.norm(), row_norms.norm(p=4), torch.linalg.matrix_norm(matrix, ord=2)]
    return Moved(*(float(value) for value in values))


def sign_changes(network: Network, now: Parameters, start: Parameters, rows: Rows) -> dict[str, float]:
    """Share of the neurons of each hidden layer, over the rows, whose activity has changed.

    Both are single copies, shapes (1, …). Averaged over rows and divided by m, these are
    ‖D_W − D_W⁽⁰⁾‖₀, ‖D_V,W − D_V⁽⁰⁾,W⁽⁰⁾‖₀ [beyond-two-layers, lemma 6.5], and, as `second, W moved`,
    ‖D_V,W − D_V⁽⁰⁾,W‖₀ [resnet-beyond-kernels, section 6.1].
    """
    piece = max(1, MEASURED_ENTRIES // network.width)
    totals: dict[str, float] = {}
    for first in range(0, rows.n, piece):
        X = rows.X[first : first + piece]
        active, before = (active_neurons(network, params, X) for params in (now, start))
        changed = {name: active[name] != before[name] for name in network.hidden}
        second = [name for name in now if name in SECOND]
        if second:
            behind = active_neurons(network, {**now, second[0]: start[second[0]]}, X)
            changed["second, W moved"] = active["second"] != behind["second"]
        for name, where in changed.items():
            totals[name] = totals.get(name, 0.0) + float(where.sum())
    return {name: total / (rows.n * network.width) for name, total in totals.items()}


def active_neurons(network: Network, params: Parameters, X: Tensor) -> dict[str, Tensor]:
    """Which neurons of each hidden layer are active for rows (x, 1) of X, shapes (s, b, m)."""
    return {name: values > 0 for name, values in hidden_values(network, params, X).items()}
