import math

import pytest
import torch
from torch.testing import assert_close

from widenet.base.errors import InputError
from widenet.networks.initialise import SCALES, Initialisation, draw_parameters
from widenet.networks.names import network_by_name

D, K, M = 40, 20, 300
INITIALISATIONS = [
    Initialisation("experiment"),
    Initialisation("resnet", sigma_w=0.3, sigma_v=5.0),
    Initialisation("layers", epsilon_a=0.7),
    Initialisation("signed", sigma_w=2.0),
]
# Variances as the papers and the docstring state them.
STATED = {
    ("experiment", "3layer"): {"W": 1 / M, "V": 1 / M, "A": 1 / M},
    ("experiment", "3resnet"): {"W": 1 / M, "V": 1 / M, "A": 1 / M},
    ("resnet", "3resnet"): {"W": 0.3**2, "V": 5.0**2 / M, "A": 1 / M},
    ("layers", "2layer"): {"W": 1 / M, "A": 0.7**2},
    ("layers", "3layer"): {"W": 1 / M, "V": 1 / M, "A": 0.7**2},
}


@pytest.mark.parametrize(("name", "architecture"), STATED)
def test_weights_are_gaussians_of_the_stated_variance(name, architecture, generator) -> None:
    network = network_by_name(f"{architecture}-all", M)
    (initialisation,) = (each for each in INITIALISATIONS if each.name == name)
    drawn = draw_parameters(network, D, K, initialisation, generator=generator, dtype=torch.float64)
    assert set(drawn) == set(STATED[name, architecture])
    for parameter, variance in STATED[name, architecture].items():
        entries = drawn[parameter].flatten()
        assert drawn[parameter].shape == (1, *network.shapes(D, K)[parameter])
        scaled = entries / math.sqrt(variance)
        size = len(scaled)
        assert abs(float(scaled.mean())) < 5 / math.sqrt(size)
        assert abs(float(scaled.square().mean()) - 1) < 5 * math.sqrt(2 / size)
        assert abs(float(scaled.pow(4).mean()) - 3) < 5 * math.sqrt(96 / size)
        biases = drawn[parameter][0, :, -1] / math.sqrt(variance)  # of A they are weights like the others
        assert abs(float(biases.square().mean()) - 1) < 5 * math.sqrt(2 / len(biases))


def test_signed_weights_are_half_of_each_sign_in_random_order(generator) -> None:
    network, signed = network_by_name("2layer-biasfree-hidden", M), INITIALISATIONS[-1]
    drawn = draw_parameters(network, D, K, signed, generator=generator, dtype=torch.float64)
    A, W = drawn["A"][0], drawn["W"][0]
    assert_close(A.abs(), torch.full((K, M), M**-0.5, dtype=torch.float64))
    assert ((A > 0).sum(1) == M // 2).all()
    overlaps = (A @ A.T)[~torch.eye(K, dtype=torch.bool)]  # of mean −0 and variance about 1/m
    assert float(overlaps.abs().max()) < 5 / math.sqrt(M)
    assert abs(float(W.square().mean()) * M / 2.0**2 - 1) < 5 * math.sqrt(2 / W.numel())
    with pytest.raises(InputError, match="m must be even, not 7"):
        draw_parameters(network_by_name("2layer-all", 7), D, K, signed, generator=generator)


def test_every_name_is_tested() -> None:
    assert {each.name for each in INITIALISATIONS} == set(SCALES)


def test_one_seed_is_one_network_in_every_dtype() -> None:
    network = network_by_name("3resnet-all", 8)
    double, single = (
        draw_parameters(
            network, 4, 2, Initialisation(), generator=torch.Generator().manual_seed(1), dtype=dtype
        )
        for dtype in (torch.float64, torch.float32)
    )
    for name, part in double.items():
        assert single[name].dtype == torch.float32
        assert torch.equal(part.float(), single[name])


def test_what_is_trained_does_not_change_the_draw() -> None:
    networks = [network_by_name(f"3layer-{trained}", 6) for trained in ("all", "hidden", "last")]
    drawn = [
        draw_parameters(network, 4, 2, Initialisation(), generator=torch.Generator().manual_seed(2))
        for network in networks
    ]
    for other in drawn[1:]:
        assert all(torch.equal(part, other[name]) for name, part in drawn[0].items())


def test_unknown_names_and_wrong_scales_are_refused() -> None:
    with pytest.raises(InputError, match="no initialisation 'xavier'; there are experiment, resnet"):
        Initialisation("xavier")
    for wrong in ({"sigma_w": -1.0}, {"sigma_v": math.inf}, {"epsilon_a": math.nan}):
        with pytest.raises(InputError, match="finite and not negative"):
            Initialisation("resnet", **wrong)
