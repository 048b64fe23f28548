"""Networks written again as plain formulas, for autograd to differentiate."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from widenet.networks.bias_free import BiasFreeTwoLayers
from widenet.networks.fully_connected import ThreeLayers, TwoLayers
from widenet.networks.network import Network, Parameters, with_ones
from widenet.networks.resnet import GeneralResNet, ResNet

Formula = Callable[[Parameters, Tensor], Tensor]


def two_layers(p: Parameters, X: Tensor) -> Tensor:
    return torch.relu(with_ones(X) @ p["W"].mT) @ p["A"].mT


def bias_free(p: Parameters, X: Tensor) -> Tensor:
    return torch.relu(X @ p["W"].mT) @ p["A"].mT


def three_layers(p: Parameters, X: Tensor) -> Tensor:
    first = torch.relu(with_ones(X) @ p["W"].mT)
    return torch.relu(with_ones(first) @ p["V"].mT) @ p["A"].mT


def resnet(p: Parameters, X: Tensor) -> Tensor:
    out1 = torch.relu(with_ones(X) @ p["W"].mT) @ p["A"].mT
    return out1 + torch.relu(with_ones(out1) @ p["V"].mT) @ p["A"].mT


def general_resnet(p: Parameters, X: Tensor) -> Tensor:
    first = torch.relu(with_ones(X) @ p["W"].mT)
    return (first + torch.relu(with_ones(first) @ p["U"].mT)) @ p["A"].mT


FORMULAS: dict[type, Formula] = {
    TwoLayers: two_layers,
    BiasFreeTwoLayers: bias_free,
    ThreeLayers: three_layers,
    ResNet: resnet,
    GeneralResNet: general_resnet,
}


@pytest.fixture
def formula() -> Callable[[Network], Formula]:
    """The formula of a network: outputs (s, n, k) of parameters (s, …) and inputs (n, d) or (s, n, d)."""
    return lambda network: FORMULAS[type(network)]


@pytest.fixture
def draw(generator: torch.Generator) -> Callable[..., Parameters]:
    """Draw s independent copies of standard normal parameters, scaled so that outputs are of size 1."""

    def draw(network: Network, d: int, k: int, s: int, dtype: torch.dtype = torch.float64) -> Parameters:
        return {
            name: torch.randn(s, *shape, generator=generator, dtype=dtype) / shape[1] ** 0.5
            for name, shape in network.shapes(d, k).items()
        }

    return draw
