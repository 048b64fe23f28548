"""Steps of SGD and Adam on all copies at once."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

from widenet.networks.network import FIRST, SECOND, Parameters, laid_out
from widenet.training.settings import TrainingSettings

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # Adam's usual constants [Kingma & Ba 2015]


class Optimiser(ABC):
    """A rule that turns gradients into steps.

    Attributes:
        sums: Where the backward pass adds its gradient to `keep` times what is there.
        keep: That factor.
        averages: What else is remembered of every entry.
        d: Inputs of the network: columns of its first layer that are no biases.
    """

    keep = 0.0
    num_averages = 0

    def __init__(self, moved: Parameters, settings: Sequence[TrainingSettings], d: int) -> None:
        self.sums, *self.averages = (zeros_of(moved) for _ in range(1 + self.num_averages))
        self.d, self.rates = d, rates(moved, settings)
        self.decays = per_copy(moved, [setting.decay for setting in settings])
        self.decays_two_four = per_copy(moved, [setting.decay_two_four for setting in settings])

    @abstractmethod
    def step(self, moved: Parameters, factor: float) -> None:
        """Move the parameters, with rates scaled by `factor`."""

    def select(self, copies: Tensor) -> None:
        """Go on with these copies alone."""
        self.sums, self.rates = chosen(self.sums, copies), chosen(self.rates, copies)
        self.averages = [chosen(each, copies) for each in self.averages]
        self.decays = None if self.decays is None else self.decays[copies]
        self.decays_two_four = None if self.decays_two_four is None else self.decays_two_four[copies]

    def add_penalties(self, name: str, part: Tensor) -> None:
        """Add the gradients of the penalties on this parameter to its sums."""
        if self.decays is not None:
            self.sums[name].addcmul_(part, self.decays)
        if self.decays_two_four is not None and name == FIRST:
            weights = part[..., : self.d]
            slopes = weights.square().sum(-1, keepdim=True).mul_(4 * self.decays_two_four)
            self.sums[name][..., : self.d].addcmul_(weights, slopes)


class Sgd(Optimiser):
    """v ← μv + ∇ + decay·w + …, w ← w − ηv; the backward pass itself adds ∇ to μv."""

    def __init__(self, moved: Parameters, settings: Sequence[TrainingSettings], d: int) -> None:
        super().__init__(moved, settings, d)
        self.keep = settings[0].momentum

    def step(self, moved: Parameters, factor: float) -> None:
        for name, part in moved.items():
            self.add_penalties(name, part)
            part.addcmul_(self.sums[name], self.rates[name], value=-factor)


class Adam(Optimiser):
    """w ← w − η m̂ / (√v̂ + ε) with running means m̂, v̂ of ∇ + decay·w and of its square, unbiased."""

    num_averages = 2
    num_steps = 0

    def step(self, moved: Parameters, factor: float) -> None:
        self.num_steps += 1
        bias1, bias2 = 1 - BETA1**self.num_steps, 1 - BETA2**self.num_steps
        for name, part in moved.items():
            self.add_penalties(name, part)
            gradient, mean, square = (each[name] for each in (self.sums, *self.averages))
            mean.lerp_(gradient, 1 - BETA1)
            square.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
            direction = torch.div(square, bias2, out=gradient).sqrt_().add_(EPSILON).reciprocal_().mul_(mean)
            part.addcmul_(direction, self.rates[name], value=-factor / bias1)


OPTIMISERS: dict[str, type[Optimiser]] = {"sgd": Sgd, "adam": Adam}


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


def per_copy(moved: Parameters, decays: Sequence[float]) -> Tensor | None:
    """A decay of every copy, shape (s, 1, 1); None where all are 0, so that they cost nothing."""
    if not any(decays):
        return None
    return next(iter(moved.values())).new_tensor(decays)[:, None, None]
