"""The second-order tangent kernel against the mixed derivatives that it is made of."""

import pytest
import torch
from torch.testing import assert_close

from widenet.base.errors import InputError
from widenet.networks.fully_connected import ThreeLayers, TwoLayers
from widenet.networks.network import network_outputs
from widenet.networks.pseudo import Pseudo
from widenet.networks.resnet import ResNet
from widenet.networks.second_order import second_order_gram
from widenet.testing import unit_rows

D, K, M = 3, 2, 5


def mixed_derivatives(network, start, X):
    """∂²g/∂V_{ic}∂W_{jl} of the pseudo network at every row and output, by autograd, shape (n·k, all)."""
    model = Pseudo(network, start)

    def g(V, W):
        return network_outputs(model, {**start, "V": V, "W": W}, X).flatten()

    by_v = torch.func.jacrev(g, argnums=0)
    return torch.func.jacrev(by_v, argnums=1)(start["V"], start["W"]).flatten(1)


@pytest.mark.parametrize(
    "network", [ThreeLayers(M, "hidden"), ResNet(M, "hidden")], ids=["3layer", "3resnet"]
)
def test_gram_matrix_is_that_of_the_mixed_derivatives(network, draw, generator):
    start = draw(network, D, K, 1)
    X, Z = unit_rows(6, D, generator=generator), unit_rows(4, D, generator=generator)
    of_x, of_z = mixed_derivatives(network, start, X), mixed_derivatives(network, start, Z)
    assert_close(second_order_gram(network, start, X), of_x @ of_x.T)
    assert_close(second_order_gram(network, start, X, Z), of_x @ of_z.T)


def test_fixed_biases_have_no_features(draw, generator):
    network = ThreeLayers(M, "hidden", fixed_biases=True)
    start, X = draw(network, D, K, 1), unit_rows(6, D, generator=generator)
    derivatives = mixed_derivatives(network, start, X).unflatten(1, (-1, M, D + 1))[..., :-1].flatten(1)
    assert_close(second_order_gram(network, start, X), derivatives @ derivatives.T)


def test_two_layers_have_no_second_order(draw, generator):
    network = TwoLayers(M)
    with pytest.raises(InputError, match="no second order"):
        second_order_gram(network, draw(network, D, K, 1), unit_rows(2, D, generator=generator))
