"""Steps of SGD and Adam on all copies at once."""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from widenet.networks.network import SECOND, Parameters, laid_out
from widenet.training.settings import TrainingSettings

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # Adam's usual constants [Kingma & Ba 2015]


class Optimiser(Protocol):
    """A rule that turns gradients into steps.

    Attributes:
        sums: Where the backward pass adds its gradient to `keep` times what is there.
        keep: That factor.
    """

    sums: Parameters
    keep: float

    def step(self, moved: Parameters, factor: float) -> None:
        """Move the parameters, with rates scaled by `factor`."""
        ...

    def select(self, copies: Tensor) -> None:
        """Go on with these copies alone."""
        ...


class Sgd:
    """v ← μv + ∇ + decay·w, w ← w − ηv; the backward pass itself adds ∇ to μv."""

    def __init__(self, moved: Parameters, settings: Sequence[TrainingSettings]) -> None:
        self.sums = zeros_of(moved)
        self.keep = settings[0].momentum
        self.rates, self.decays = rates(moved, settings), decays(moved, settings)

    def step(self, moved: Parameters, factor: float) -> None:
        for name, part in moved.items():
            if self.decays is not None:
                self.sums[name].addcmul_(part, self.decays)
            part.addcmul_(self.sums[name], self.rates[name], value=-factor)

    def select(self, copies: Tensor) -> None:
        self.sums, self.rates = chosen(self.sums, copies), chosen(self.rates, copies)
        self.decays = None if self.decays is None else self.decays[copies]


class Adam:
    """w ← w − η m̂ / (√v̂ + ε) with running means m̂, v̂ of ∇ + decay·w and of its square, unbiased."""

    keep = 0.0

    def __init__(self, moved: Parameters, settings: Sequence[TrainingSettings]) -> None:
        self.sums, self.means, self.squares = zeros_of(moved), zeros_of(moved), zeros_of(moved)
        self.rates, self.decays = rates(moved, settings), decays(moved, settings)
        self.num_steps = 0

    def step(self, moved: Parameters, factor: float) -> None:
        self.num_steps += 1
        bias1, bias2 = 1 - BETA1**self.num_steps, 1 - BETA2**self.num_steps
        for name, part in moved.items():
            gradient, mean, square = self.sums[name], self.means[name], self.squares[name]
            if self.decays is not None:
                gradient.addcmul_(part, self.decays)
            mean.lerp_(gradient, 1 - BETA1)
            square.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
            direction = torch.div(square, bias2, out=gradient).sqrt_().add_(EPSILON).reciprocal_().mul_(mean)
            part.addcmul_(direction, self.rates[name], value=-factor / bias1)

    def select(self, copies: Tensor) -> None:
        self.sums, self.means = chosen(self.sums, copies), chosen(self.means, copies)
        self.squares, self.rates = chosen(self.squares, copies), chosen(self.rates, copies)
        self.decays = None if self.decays is None else self.decays[copies]


OPTIMISERS: dict[str, type[Sgd] | type[Adam]] = {"sgd": Sgd, "adam": Adam}


def zeros_of(moved: Parameters) -> Parameters:
    """Zeros that lie in memory as the parameters do."""
    return {name: laid_out(torch.zeros_like(part)) for name, part in moved.items()}


def chosen(parts: Parameters, copies: Tensor) -> Parameters:
    """These copies of every tensor, lying in memory as before."""
    return {name: laid_out(part[copies]) for name, part in parts.items()}


def rates(moved: Parameters, settings: Sequence[TrainingSettings]) -> Parameters:
    """η of every copy and parameter, shapes (s, 1, 1)."""
    columns = {}
    for name, part in moved.items():
        own = [each.rate_v if name in SECOND and each.rate_v is not None else each.rate for each in settings]
        columns[name] = part.new_tensor(own)[:, None, None]
    return columns


def decays(moved: Parameters, settings: Sequence[TrainingSettings]) -> Tensor | None:
    """Weight decay of every copy, shape (s, 1, 1); None where there is none."""
    if all(setting.decay == 0 for setting in settings):
        return None
    part = next(iter(moved.values()))
    return part.new_tensor([setting.decay for setting in settings])[:, None, None]
