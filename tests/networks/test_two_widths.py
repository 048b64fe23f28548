import pytest
from torch.testing import assert_close

from widenet.networks.fully_connected import ThreeLayers
from widenet.networks.network import network_outputs
from widenet.networks.pseudo import Pseudo, frozen_signs
from widenet.networks.two_widths import (
    draw_two_widths,
    layer_inputs,
    outputs_with_signs,
    real_outputs,
    sign_pattern,
)
from widenet.testing import unit_rows

D, K = 5, 3


def test_sizes_and_scales(generator):
    drawn = draw_two_widths(D, K, 400, 900, generator=generator, epsilon_a=0.5)
    assert {name: tuple(part.shape) for name, part in drawn.items()} == {
        "W": (1, 400, D + 1),
        "V": (1, 900, 401),
        "A": (1, K, 900),
    }
    for name, scale in (("W", 1 / 20), ("V", 1 / 30), ("A", 0.5)):
        assert float(drawn[name].std()) == pytest.approx(scale, rel=0.05)


@pytest.mark.parametrize("biases", ["biased", "semi-biased", "bias-free"])
def test_of_one_width_it_is_the_network_that_is_trained(biases, generator):
    network, X = ThreeLayers(30, "hidden"), unit_rows(7, D, generator=generator)
    start, there = (draw_two_widths(D, K, 30, 30, generator=generator) for _ in range(2))
    assert_close(real_outputs(there, X), network_outputs(network, there, X))
    signs, frozen = sign_pattern(start, X), frozen_signs(network, start, X)
    assert_close(signs.first, frozen["first"])
    assert_close(signs.second, frozen["second"])
    assert_close(
        outputs_with_signs(signs, there, X, biases), network_outputs(Pseudo(network, start, biases), there, X)
    )


def test_of_two_widths_it_is_the_formula_neuron_by_neuron(generator):
    params, x = draw_two_widths(D, 1, 4, 3, generator=generator), unit_rows(1, D, generator=generator)[0]
    W, V, A = (params[name][0] for name in ("W", "V", "A"))
    first = [max(0.0, float(w[:-1] @ x + w[-1])) for w in W]
    second = [sum(float(v[j]) * first[j] for j in range(4)) + float(v[-1]) for v in V]
    out = sum(float(A[0, i]) * max(0.0, n) for i, n in enumerate(second))
    assert float(real_outputs(params, x[None])) == pytest.approx(out)
    assert layer_inputs(params, x[None])[1][0, 0].tolist() == pytest.approx(second)
    # At its own weights the pseudo network is the real one.
    assert_close(
        outputs_with_signs(sign_pattern(params, x[None]), params, x[None]), real_outputs(params, x[None])
    )
