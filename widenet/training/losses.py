"""Losses and their derivatives, for outputs of many copies at once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from widenet.base.errors import InputError

LossName = Literal["squared", "cross-entropy", "l1", "huber"]

DIVERGED = 1e3  # times the initial loss: a run beyond it is stopped


@dataclass(frozen=True)
class Loss:
    """A loss of outputs (s, b, k) and targets (b, k).

    Attributes:
        values: Loss of each row, shape (s, b).
        slopes_: Derivative of each row's loss with respect to its outputs, written over the outputs.
    """

    values: Callable[[Tensor, Tensor], Tensor]
    slopes_: Callable[[Tensor, Tensor], Tensor]


def _huber(distance: Tensor) -> Tensor:
    return torch.where(distance < 1, distance.square() / 2, distance - 0.5)


LOSSES: dict[LossName, Loss] = {
    "squared": Loss(  # ½‖y − out‖²
        lambda out, Y: (out - Y).square().sum(-1) / 2, lambda out, Y: out.sub_(Y)
    ),
    "l1": Loss(  # ‖y − out‖₁, 1-Lipschitz in every output
        lambda out, Y: (out - Y).abs().sum(-1), lambda out, Y: out.sub_(Y).sign_()
    ),
    "huber": Loss(  # ½z² up to |z| = 1, then |z| − ½, summed over the outputs
        lambda out, Y: _huber((out - Y).abs()).sum(-1),
        lambda out, Y: out.sub_(Y).clamp_(-1, 1),
    ),
    "cross-entropy": Loss(  # rows of Y are distributions
        lambda out, Y: out.logsumexp(-1) - (out * Y).sum(-1),
        lambda out, Y: torch.softmax(out, -1, out=out).sub_(Y),
    ),
}


def check_targets(loss: LossName, Y: Tensor) -> None:
    """Refuse targets (n, k) for which the loss means nothing."""
    if loss != "cross-entropy":
        return
    if Y.shape[1] < 2 or bool((Y < 0).any()) or float((Y.sum(1) - 1).abs().max()) > 1e-5:
        raise InputError(
            "Cross-entropy needs a column for each class whose entries are shares that sum to 1; two classes "
            "in one column of ±1, and numbers, go with the squared loss."
        )
