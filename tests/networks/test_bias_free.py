"""The net of [resnet-beyond-kernels, section 8.2], and the nets of footnote 16 that solve its problem."""

import math
from dataclasses import replace

import pytest
import torch

from widenet.base.errors import InputError
from widenet.data.paper_concepts import parity6
from widenet.networks.bias_free import BiasFreeTwoLayers, padded, parity_error, sign_points
from widenet.networks.initialise import Initialisation, draw_parameters
from widenet.networks.names import network_by_name
from widenet.networks.network import network_outputs
from widenet.training.rows import as_rows
from widenet.training.settings import TrainingSettings
from widenet.training.together import train_together

SIGNED = Initialisation("signed")


def small_net(generator, width=20, d=6, sigma_w=3.0):
    law = Initialisation("signed", sigma_w=sigma_w)
    network = BiasFreeTwoLayers(width, "hidden")
    return draw_parameters(network, d, 1, law, generator=generator, dtype=torch.float64)


def outputs(params, X):
    """aᵀσ(Wx), from the formula."""
    return torch.relu(X @ params["W"][0].T) @ params["A"][0, 0]


def test_the_network_has_a_name_and_no_bias():
    network = network_by_name("2layer-biasfree-hidden", 10)
    assert network == BiasFreeTwoLayers(10, "hidden")
    assert network.moved == ("W",)
    assert network.shapes(d=7, k=1) == {"W": (10, 7), "A": (1, 10)}


def test_weight_decay_is_allowed_as_no_bias_must_stay():
    rows = as_rows(sign_points(3, 3), sign_points(3, 3)[:, :1], torch.float64)
    shrinking = TrainingSettings(
        rate=0.1, decay=0.5, momentum=0.0, batch=None, epochs=30, initialisation=SIGNED
    )
    grid = [shrinking, replace(shrinking, decay=0.0)]
    run, free = train_together(BiasFreeTwoLayers(10, "hidden"), rows, grid)
    assert run.moved["W"].frobenius < 0.7 * free.moved["W"].frobenius


def test_the_two_four_penalty_takes_every_column():
    """Its gradient 4λ‖w_i‖² w_i, of all d columns: here there are no targets, and one step."""
    rows = as_rows(sign_points(3, 3), torch.zeros(8, 1), torch.float64)
    step = TrainingSettings(
        rate=1.0, decay_two_four=0.01, momentum=0.0, batch=None, epochs=1, drops=(), initialisation=SIGNED
    )
    network = BiasFreeTwoLayers(10, "hidden")
    grid = [step, replace(step, decay_two_four=0.0)]
    with_it, without = train_together(network, rows, grid, keep_weights=True)
    start = draw_parameters(
        network, 3, 1, SIGNED, generator=torch.Generator().manual_seed(0), dtype=torch.float64
    )
    W = start["W"][0]
    expected = 0.04 * W.norm(dim=1, keepdim=True) ** 2 * W
    torch.testing.assert_close(without.weights["W"][0] - with_it.weights["W"][0], expected)


@pytest.mark.parametrize(("width", "d"), [(20, 6), (60, 6), (20, 40), (100, 25), (26, 7), (50, 100)])
def test_padded_nets_are_the_same_function(width, d, generator):
    """Of the first six signs, whatever the others are."""
    params = small_net(generator)
    wide = padded(params, width, d)
    assert wide["W"].shape == (1, width, d)
    torch.testing.assert_close(wide["A"].abs(), torch.full((1, 1, width), width**-0.5, dtype=torch.float64))
    assert int((wide["A"] > 0).sum()) == width // 2
    signs = torch.cat([sign_points(6, 1), torch.randn(64, d - 6, generator=generator).sign()], dim=1)
    expected = outputs(params, signs[:, :6] / math.sqrt(6))
    torch.testing.assert_close(outputs(wide, signs / math.sqrt(d)), expected, rtol=1e-12, atol=1e-12)
    before = float(params["W"].norm()) / math.sqrt(6)
    after = float(wide["W"].norm()) / math.sqrt(d)
    if width % 20 == 0:
        assert after == pytest.approx(before, rel=1e-12)
    else:  # the square is a mean of (m/m₀)/c_i over the neurons, c_i next to m/m₀
        ratio = width / 20
        assert ratio / math.ceil(ratio) < (after / before) ** 2 < ratio / math.floor(ratio)


def test_long_neurons_get_the_copies_that_are_left_over(generator):
    params = small_net(generator)
    wide, evenly = padded(params, 30, 6), padded(params, 40, 6)
    assert float(wide["W"].norm()) < 1.05 * float(evenly["W"].norm())
    lengths = params["W"][0].norm(dim=1)
    positive = params["A"][0, 0] > 0
    longest = params["W"][0, positive][lengths[positive].argmax()]
    directions = torch.nn.functional.normalize(wide["W"][0], dim=1) @ (longest / longest.norm())
    assert int((directions > 1 - 1e-12).sum()) == 2


def test_nets_that_cannot_be_widened_are_refused(generator):
    params = small_net(generator)
    for width, d in ((18, 6), (41, 6), (40, 5)):
        with pytest.raises(InputError, match="even width from 20 on and at least 6"):
            padded(params, width, d)
    with pytest.raises(InputError, match="as many"):
        padded({**params, "A": params["A"].abs()}, 40, 6)
    with pytest.raises(InputError, match="must be even, not 9"):
        small_net(generator, width=9)


def test_the_exact_error_is_that_of_many_samples(generator):
    wide = padded(small_net(generator), 40, 12)
    X, Y = parity6(12).sample(40_000, generator=generator)
    errors = (outputs(wide, X) - Y[:, 0]).square()
    assert abs(float(errors.mean()) - parity_error(wide)) < 4 * float(errors.std()) / 200
    with pytest.raises(InputError, match="more than six"):
        parity_error(small_net(generator, d=8))


def test_training_finds_the_first_net_of_the_text():
    """‖W*‖_F ≈ 9.7√d with an error of at most .12 at m = 200, d = 6; here a tenth of the epochs."""
    X = sign_points(6, 6)
    rows = as_rows(X, X.sign().prod(dim=1, keepdim=True), torch.float32)
    settings = TrainingSettings(rate=2.0, decay=4e-4, batch=8, epochs=400, initialisation=SIGNED)
    run = train_together(BiasFreeTwoLayers(200, "hidden"), rows, [settings], keep_weights=True)[0]
    wide = padded(run.weights, 1000, 40)
    assert parity_error(wide) == pytest.approx(run.train_error[-1], rel=1e-4)
    assert parity_error(wide) < 0.2
    assert float(wide["W"].norm()) < 9.7 * math.sqrt(40)


def test_outputs_are_those_of_the_formula(generator):
    params = small_net(generator)
    X = torch.randn(5, 6, generator=generator, dtype=torch.float64)
    found = network_outputs(BiasFreeTwoLayers(20, "hidden"), params, X)[0, :, 0]
    torch.testing.assert_close(found, outputs(params, X), rtol=1e-13, atol=1e-13)
