"""How near a network under training stays to its pseudo network and to its linearisation.

The papers' proofs compare the real network with one whose neurons keep the signs of initialisation, since
there are few sign changes while the weights are near where they began [beyond-two-layers, sections 6.2 and
6.3; resnet-beyond-kernels, section 6.1]. Here this is measured on the way.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.data.dataset import Dataset
from widenet.networks.fully_connected import ThreeLayers, TwoLayers
from widenet.networks.network import network_outputs
from widenet.networks.pseudo import Real, distances
from widenet.networks.resnet import ResNet
from widenet.training.rows import Rows, as_rows, measure_errors
from widenet.training.run import sign_changes
from widenet.training.settings import TrainingSettings
from widenet.training.together import Group

RECORDS = 20  # times that it is measured, besides the start


@dataclass(frozen=True)
class Nearness:
    """A training run beside its pseudo network and its linearisation, all at the same weights.

    Every list has an entry for each of `epochs`. Distances are between outputs on the training rows, root
    mean square over rows.

    Attributes:
        network: Name of the real network.
        width: Its width.
        settings: How it was trained.
        epochs: Epochs after which it was measured, the first is 0; short where the run diverged.
        train_error: Mean ‖y − out‖².
        travelled: Distance of the outputs from those at initialisation.
        pseudo: Distance from the pseudo network, in which the signs are those of initialisation.
        linearised: Distance from the first-order Taylor expansion at initialisation.
        sign_changes: By hidden layer, the share of signs that differ from those at initialisation.
        moved: By trained parameter, ‖W − W⁽⁰⁾‖_F.
        diverged: Whether training was stopped because the weights were no longer finite.
    """

    network: str
    width: int
    settings: TrainingSettings
    epochs: tuple[int, ...]
    train_error: tuple[float, ...]
    travelled: tuple[float, ...]
    pseudo: tuple[float, ...]
    linearised: tuple[float, ...]
    sign_changes: dict[str, tuple[float, ...]]
    moved: dict[str, tuple[float, ...]]
    diverged: bool

    def to_dict(self) -> dict[str, Any]:
        """The run as JSON values."""
        return asdict(self)


def follow(
    network: Real,
    dataset: Dataset,
    settings: TrainingSettings,
    *,
    records: int = RECORDS,
    dtype: torch.dtype = torch.float64,
    progress: Callable[[int], None] = lambda done: None,
) -> Nearness:
    """Train a network and measure on the way how near it stays to its pseudo network.

    Args:
        network: Two layers, three layers or the ResNet, with any choice of trained layers.
        dataset: Rows to train on, on which distances are measured too.
        settings: How to train.
        records: Times to measure, besides the start.
        dtype: Precision; distances start at 0, which float32 would hide at 10⁻⁶ of the outputs.
        progress: Called with the number of epochs done, after each.
    """
    if not isinstance(network, TwoLayers | ThreeLayers | ResNet):
        raise InputError(f"There is no pseudo network for {network.name}.")
    rows = as_rows(dataset.X, dataset.Y, dtype)
    group = Group(network, rows, [settings])
    X = dataset.X.to(dtype)
    seen = [_look(network, group, rows, X)]
    epochs, diverged = [0], False
    due = {round(settings.epochs * record / records) for record in range(1, records + 1)}
    for epoch in range(1, settings.epochs + 1):
        group.epoch(epoch - 1)
        diverged = not bool(group.is_finite().all())
        if diverged:
            break
        if epoch in due:
            seen.append(_look(network, group, rows, X))
            epochs.append(epoch)
        progress(epoch)
    numbers, changes, moved = (_columns(records) for records in zip(*seen, strict=True))
    return Nearness(
        network=network.name,
        width=network.width,
        settings=settings,
        epochs=tuple(epochs),
        **numbers,
        sign_changes=changes,
        moved=moved,
        diverged=diverged,
    )


def _look(network: Real, group: Group, rows: Rows, X: Tensor) -> tuple[dict[str, float], ...]:
    """All numbers of one moment: of the outputs, of the signs by layer, and of the weights by parameter."""
    now, start = group.params, group.start
    gap = network_outputs(network, now, X) - network_outputs(network, start, X)
    numbers = {
        "train_error": float(measure_errors(network, now, rows, group.loss).error),
        "travelled": float(gap.square().sum(-1).mean().sqrt()),
        **{name: float(distance) for name, distance in distances(network, start, now, X).items()},
    }
    moved = {name: float((now[name] - start[name]).norm()) for name in network.moved}
    return numbers, sign_changes(network, now, start, rows), moved


def _columns(records: Sequence[dict[str, float]]) -> dict[str, Any]:
    """The numbers of all moments, by name."""
    return {name: tuple(each[name] for each in records) for name in records[0]}
