import math
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from widenet.base import memory
from widenet.base.errors import InputError
from widenet.kernels.kernel import Kernel
from widenet.kernels.layers import Dense, Relu
from widenet.kernels.names import kernel_by_name
from widenet.kernels.networks import Serial
from widenet.networks import tangent
from widenet.networks.fully_connected import ThreeLayers, TwoLayers
from widenet.networks.initialise import Initialisation, draw_parameters
from widenet.networks.names import network_by_name, network_names
from widenet.networks.network import Layered, Network, OuterProduct, Parameters, output_slopes, with_ones
from widenet.networks.pseudo import Linearised, Pseudo
from widenet.networks.tangent import jacobian, tangent_gram
from widenet.testing import unit_rows

D, K = 4, 3
NETWORKS: list[Network] = [network_by_name(name, 8) for name in network_names()]
NETWORKS += [TwoLayers(8, "all", fixed_biases=True), ThreeLayers(8, "hidden", fixed_biases=True)]
NAMES = [f"{each.name}{'-fixed' if getattr(each, 'fixed_biases', False) else ''}" for each in NETWORKS]
every_network = pytest.mark.parametrize("network", NETWORKS, ids=NAMES)
MODES = ["all", "hidden", "last"]


def autograd_jacobian(network: Network, formula, params: Parameters, X: Tensor) -> Tensor:
    """∂f/∂θ by automatic differentiation of the plain formula, shape (n, k, P); fixed biases get 0."""
    parts = []
    for name in network.moved:
        part = torch.autograd.functional.jacobian(
            lambda moved, name=name: formula({**params, name: moved}, X)[0], params[name]
        )[:, :, 0]
        if getattr(network, "fixed_biases", False) and name in ("W", "V"):
            part[..., -1] = 0
        parts.append(part.flatten(2))
    return torch.cat(parts, dim=2)


@every_network
def test_the_jacobian_is_that_of_autograd(network, draw, formula, generator) -> None:
    params, X = draw(network, D, K, 1), unit_rows(5, D, generator=generator)
    expected = autograd_jacobian(network, formula(network), params, X)
    assert_close(jacobian(network, params, X), expected, rtol=1e-10, atol=1e-10)


@every_network
@pytest.mark.parametrize("piece_entries", [1, 100, 2**22])
def test_the_gram_matrix_is_the_product_of_jacobians(
    network, piece_entries, draw, formula, generator, monkeypatch
) -> None:
    monkeypatch.setattr(tangent, "PIECE_ENTRIES", piece_entries)
    params = draw(network, D, K, 1)
    X, Z = unit_rows(5, D, generator=generator), unit_rows(7, D, generator=generator)
    J_X, J_Z = (autograd_jacobian(network, formula(network), params, rows).flatten(0, 1) for rows in (X, Z))
    assert_close(tangent_gram(network, params, X, Z), J_X @ J_Z.T, rtol=1e-10, atol=1e-10)
    assert_close(tangent_gram(network, params, X), J_X @ J_X.T, rtol=1e-10, atol=1e-10)


def drawn_grams(name: str, width: int, X: Tensor, num_draws: int, law: Initialisation) -> Tensor:
    """Tangent kernels with one output of independent draws of the weights, shape (num_draws, n, n)."""
    network, generator = network_by_name(name, width), torch.Generator().manual_seed(3)
    draws = (
        draw_parameters(network, X.shape[1], 1, law, generator=generator, dtype=torch.float64)
        for _ in range(num_draws)
    )
    return torch.stack([tangent_gram(network, params, X) for params in draws])


def relu2(mode: str, X: Tensor) -> Tensor:
    return kernel_by_name(f"relu2-{mode}").tile(with_ones(X), with_ones(X))


def resnet_limit(mode: str, X: Tensor) -> Tensor:
    norms = with_ones(X).norm(dim=1)
    hidden = relu2("hidden", X) + 0.5
    last = relu2("last", X) + (norms[:, None] + norms) / (2 * math.pi) + 0.5
    return {"hidden": hidden, "last": last, "all": hidden + last}[mode]


def three_layers_limit(mode: str, X: Tensor) -> Tensor:
    kernel: Kernel = Serial(Dense(bias_var=1.0), Relu(), Dense(bias_var=1.0), Relu(), Dense(), trained=mode)
    return kernel.tile(X, X)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("architecture", "limit"), [("2layer", relu2), ("3layer", three_layers_limit), ("3resnet", resnet_limit)]
)
def test_wide_networks_have_the_kernels_of_infinite_width(architecture, limit, mode, generator) -> None:
    """What a draw is off by is of order m^{-1/2}: four times less at sixteen times the width."""
    X = unit_rows(6, 5, generator=generator)
    narrow, wide = (
        drawn_grams(f"{architecture}-{mode}", width, X, 25, Initialisation()) - limit(mode, X)
        for width in (75, 1200)
    )
    errors = [float(off.square().mean().sqrt()) for off in (narrow, wide)]
    assert errors[1] < 6 / math.sqrt(1200)
    assert 2.5 < errors[0] / errors[1] < 6
    assert float(wide.mean(0).square().mean().sqrt()) < 0.5 * errors[1]


def test_other_variances_scale_the_share_of_their_layer(generator) -> None:
    """With A ~ N(0, ε²) instead of N(0, 1/m) the share of W is mε² times as large, that of A as it was."""
    X = unit_rows(6, 5, generator=generator)
    width, epsilon_a = 20_000, 0.02
    expected = width * epsilon_a**2 * relu2("hidden", X) + relu2("last", X)
    gram = drawn_grams("2layer-all", width, X, 4, Initialisation("layers", epsilon_a=epsilon_a)).mean(0)
    assert_close(gram, expected, rtol=0, atol=0.2)
    assert float((gram - relu2("all", X)).abs().max()) > 1


def test_last_of_the_resnet_is_that_of_resnet3(generator) -> None:
    """In the limit of `ResNet3`: W, A and V have variances 1, 1/m and 1/k, and the biases of V have 1."""
    m, k, X = 1500, 300, unit_rows(3, 3, generator=generator)
    network = network_by_name("3resnet-last", m)
    total = torch.zeros(3, 3, dtype=torch.float64)
    for _ in range(10):
        params = {
            name: torch.randn(1, *shape, generator=generator, dtype=torch.float64)
            for name, shape in network.shapes(3, k).items()
        }
        params["A"] /= m**0.5
        params["V"][..., :-1] /= k**0.5
        gram = tangent_gram(network, params, X).view(3, k, 3, k)
        total += gram.diagonal(dim1=1, dim2=3).mean(-1) / (10 * m)
    assert_close(total, kernel_by_name("resnet3-last").tile(X, X), rtol=0.03, atol=0)


def test_too_much_memory_is_refused_before_it_is_taken(draw, generator, monkeypatch) -> None:
    network = network_by_name("3layer-all", 8)
    params, X = draw(network, D, K, 1), unit_rows(5, D, generator=generator)
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    with pytest.raises(InputError, match="The Jacobian of this network needs about"):
        jacobian(network, params, X)
    with pytest.raises(InputError, match="The tangent kernel of this network needs about"):
        tangent_gram(network, params, X)


def test_several_copies_are_refused(draw, generator) -> None:
    network = network_by_name("3layer-all", 8)
    params, X = draw(network, D, K, 2), unit_rows(5, D, generator=generator)
    for function in (jacobian, tangent_gram):
        with pytest.raises(InputError, match="these are 2 copies"):
            function(network, params, X)


def test_the_linearised_network_keeps_the_kernel_of_its_start(draw, generator) -> None:
    network = network_by_name("3resnet-all", 8)
    start, moved, X = draw(network, D, K, 1), draw(network, D, K, 1), unit_rows(5, D, generator=generator)
    linearised = Linearised(network, start)
    assert_close(tangent_gram(linearised, moved, X), tangent_gram(network, start, X), rtol=0, atol=0)
    J = jacobian(linearised, moved, X).flatten(0, 1)
    assert_close(tangent_gram(linearised, moved, X), J @ J.T, rtol=1e-10, atol=1e-10)
    with pytest.raises(InputError, match=r"frozen signs.*take its Jacobian"):
        tangent_gram(Pseudo(network, start), moved, X)


@dataclass(frozen=True)
class Linear(Layered):
    """f = A W(x, 1): a network from outside."""

    architecture = "linear"
    inner = ("W",)
    hidden = ("first",)

    def shapes(self, d: int, k: int) -> dict[str, tuple[int, int]]:
        return {"W": (self.width, d + 1), "A": (k, self.width)}

    def tape(self, params: Parameters, b: int) -> Parameters:
        return {}

    def forward(self, params: Parameters, X: Tensor, tape: Parameters) -> Tensor:
        tape["first"] = X @ params["W"].mT
        return tape["first"] @ params["A"].mT

    def gradient_factors(self, params: Parameters, X: Tensor) -> dict[str, tuple[OuterProduct, ...]]:
        A, rows = params["A"], with_ones(X)
        of_A = OuterProduct(output_slopes(A[0], len(X)), (rows @ params["W"].mT)[0])
        return {"W": (OuterProduct(A.expand(len(X), -1, -1), rows),), "A": (of_A,)}


def test_a_network_from_outside_has_a_tangent_kernel(draw, generator) -> None:
    network = Linear(8)
    params, X = draw(network, D, K, 1), unit_rows(5, D, generator=generator)
    J = autograd_jacobian(network, lambda p, X: with_ones(X) @ p["W"].mT @ p["A"].mT, params, X).flatten(0, 1)
    assert_close(tangent_gram(network, params, X), J @ J.T, rtol=1e-10, atol=1e-10)
