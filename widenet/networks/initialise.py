"""Initialisations of the papers, by name."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.networks.network import Network, Parameters


@dataclass(frozen=True)
class Initialisation:
    """Where the weights are drawn from: Gaussians, unless it says otherwise.

    Names:
        experiment: every weight and bias N(0, 1/m) [resnet-beyond-kernels, section 8.1].
        resnet: A ~ N(0, 1/m), W ~ N(0, σ_w²), V ~ N(0, σ_v²/m) [resnet-beyond-kernels, section 6].
        layers: A ~ N(0, ε_a²), the rest N(0, 1/m) [beyond-two-layers, sections 3, 4 and 7].
        signed: entries of A are ±1/√m, half of each sign in every row, in random order; W ~ N(0, σ_w²/m), the
            rest N(0, 1/m). The paper says only "random initialization" [resnet-beyond-kernels, section 8.2];
            σ_w = 1 is that of its section 8.1.
    """

    name: str = "experiment"
    sigma_w: float = 1.0
    sigma_v: float = 1.0
    epsilon_a: float = 1.0

    def __post_init__(self) -> None:
        if self.name not in SCALES:
            raise InputError(f"There is no initialisation {self.name!r}; there are {', '.join(SCALES)}.")
        if not all(0 <= value < math.inf for value in (self.sigma_w, self.sigma_v, self.epsilon_a)):
            raise InputError("Scales of an initialisation must be finite and not negative.")

    def scale(self, parameter: str, width: int) -> float:
        """Standard deviation of the entries of a parameter."""
        return SCALES[self.name](self, width).get(parameter, width**-0.5)


SCALES: dict[str, Callable[[Initialisation, int], dict[str, float]]] = {  # where they are not m^{-1/2}
    "experiment": lambda init, width: {},
    "resnet": lambda init, width: {"W": init.sigma_w, "V": init.sigma_v * width**-0.5},
    "layers": lambda init, width: {"A": init.epsilon_a},
    "signed": lambda init, width: {"W": init.sigma_w * width**-0.5},
}


def draw_parameters(
    network: Network,
    d: int,
    k: int,
    initialisation: Initialisation,
    *,
    generator: torch.Generator,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> Parameters:
    """Draw one copy of the parameters, shapes (1, …).

    The draw is made in float64 on the CPU, then rounded and moved, so that one seed gives one network in
    every dtype and on every device.
    """
    drawn = {}
    for name, shape in network.shapes(d, k).items():
        scale = initialisation.scale(name, network.width)
        noise = torch.randn(1, *shape, generator=generator, dtype=torch.float64)
        values = _balanced_signs(noise) if (initialisation.name, name) == ("signed", "A") else noise
        drawn[name] = (scale * values).to(device, dtype)
    return drawn


def _balanced_signs(noise: Tensor) -> Tensor:
    """Signs ±1 in the shape of `noise` (1, k, m): in every row half of each, in an order that it decides."""
    m = noise.shape[-1]
    if m % 2:
        raise InputError(f"'signed' draws as many a > 0 as a < 0, so the width m must be even, not {m}.")
    return torch.where(noise.argsort(dim=-1) < m // 2, 1.0, -1.0).to(noise)
