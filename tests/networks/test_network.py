"""What holds for every network: outputs and gradients are right, and copies do not mix."""

from typing import get_args

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from widenet.networks.fully_connected import ThreeLayers, TwoLayers
from widenet.networks.names import network_by_name, network_names
from widenet.networks.network import Network, Parameters, Trained, network_outputs, with_ones

D, K = 6, 3
NETWORKS: list[Network] = [network_by_name(name, 9) for name in network_names()]
NETWORKS += [
    kind(9, trained, fixed_biases=True) for kind in (TwoLayers, ThreeLayers) for trained in ("all", "hidden")
]
NAMES = [f"{each.name}{'-fixed' if getattr(each, 'fixed_biases', False) else ''}" for each in NETWORKS]
every_network = pytest.mark.parametrize("network", NETWORKS, ids=NAMES)


def normal(*shape: int, generator: torch.Generator, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=generator, dtype=dtype)


def gradients(
    network: Network, params: Parameters, X: Tensor, slopes: Tensor, sums: Parameters, keep: float
) -> Parameters:
    """What the hand-written passes make of `sums`, for rows (x, 1)."""
    sums = {name: part.clone() for name, part in sums.items()}
    tape = network.tape(params, X.shape[-2])
    network.forward(params, X, tape)
    network.backward(params, X, tape, slopes.clone(), sums, keep)
    return sums


@every_network
@pytest.mark.parametrize("shared", [True, False], ids=["shared rows", "rows of each copy"])
@pytest.mark.parametrize("s", [1, 4])
def test_outputs_are_those_of_the_formula(network, shared, s, draw, formula, generator) -> None:
    params = draw(network, D, K, s)
    X = normal(5, D, generator=generator) if shared else normal(s, 5, D, generator=generator)
    assert_close(network_outputs(network, params, X), formula(network)(params, X), rtol=1e-12, atol=1e-12)


@every_network
@pytest.mark.parametrize("shared", [True, False], ids=["shared rows", "rows of each copy"])
@pytest.mark.parametrize("keep", [0.0, 0.9])
@pytest.mark.parametrize("s", [1, 4])
def test_gradients_are_those_of_autograd(network, shared, keep, s, draw, formula, generator) -> None:
    params = draw(network, D, K, s)
    X = normal(5, D, generator=generator) if shared else normal(s, 5, D, generator=generator)
    slopes = normal(s, 5, K, generator=generator)
    earlier = {name: normal(*params[name].shape, generator=generator) for name in network.moved}
    leaves = {name: part.clone().requires_grad_() for name, part in params.items()}
    total = (formula(network)(leaves, X) * slopes).sum()
    automatic = torch.autograd.grad(total, [leaves[name] for name in network.moved])

    found = gradients(network, params, with_ones(X), slopes, earlier, keep)
    assert set(found) == set(network.moved)
    for name, gradient in zip(network.moved, automatic, strict=True):
        expected = gradient + keep * earlier[name]
        if getattr(network, "fixed_biases", False) and name in ("W", "V"):
            expected[..., -1] = 0
        assert_close(
            found[name], expected, rtol=1e-10, atol=1e-10, msg=lambda text, name=name: f"{name}: {text}"
        )


@every_network
def test_slopes_may_lie_where_the_outputs_did(network, draw, generator) -> None:
    """Training turns outputs into slopes in place, so that the backward pass may find them on its tape."""
    params, X = draw(network, D, K, 3), with_ones(normal(5, D, generator=generator))
    sums = {name: torch.zeros_like(params[name]) for name in network.moved}
    tape = network.tape(params, 5)
    slopes = network.forward(params, X, tape).mul_(0.5)
    apart = gradients(network, params, X, slopes, sums, 0.0)
    network.backward(params, X, tape, slopes, sums, 0.0)
    for name in network.moved:
        assert torch.equal(sums[name], apart[name])


@every_network
def test_a_tape_may_be_used_again(network, draw, generator) -> None:
    params = draw(network, D, K, 2)
    tape = network.tape(params, 5)
    for _ in range(2):
        X = with_ones(normal(5, D, generator=generator))
        sums = {name: torch.zeros_like(params[name]) for name in network.moved}
        out = network.forward(params, X, tape).clone()
        assert torch.equal(out, network.forward(params, X, network.tape(params, 5)))
        network.backward(params, X, tape, out, sums, 0.0)


@every_network
@pytest.mark.parametrize("broken", [float("nan"), float("inf")])
def test_a_broken_copy_leaves_the_others_bit_for_bit(network, broken, draw, generator) -> None:
    params = draw(network, D, K, 5, torch.float32)
    X = with_ones(normal(7, D, generator=generator)).float()
    slopes = normal(5, 7, K, generator=generator).float()
    sums = {name: torch.zeros_like(params[name]) for name in network.moved}
    worse = {name: part.clone() for name, part in params.items()}
    for part in worse.values():
        part[2] = broken
    others = [0, 1, 3, 4]
    tape, worse_tape = network.tape(params, 7), network.tape(worse, 7)
    out, worse_out = network.forward(params, X, tape), network.forward(worse, X, worse_tape)
    assert torch.equal(out[others], worse_out[others])
    assert not worse_out[2].isfinite().all()
    good, bad = (gradients(network, each, X, slopes, sums, 0.9) for each in (params, worse))
    for name in network.moved:
        assert torch.equal(good[name][others], bad[name][others])


@pytest.mark.parametrize("width", [50, 100, 500])
@pytest.mark.parametrize("architecture", ["2layer", "3layer", "3resnet", "3resnet-general"])
def test_a_copy_alone_is_bit_for_bit_what_it_is_among_others(architecture, width, draw, generator) -> None:
    """In the experiment's sizes, d = 30, k = 15 and 50 rows, in groups of several sizes."""
    network = network_by_name(f"{architecture}-all", width)
    sizes = (2, 3, 8) if width == 500 else (2, 3, 8, 40)
    s = max(sizes)
    params = draw(network, 30, 15, s, torch.float32)
    X = with_ones(normal(50, 30, generator=generator)).float()
    slopes = normal(s, 50, 15, generator=generator).float()
    earlier = {name: normal(*params[name].shape, generator=generator).float() for name in network.moved}

    def run(copies: slice) -> tuple[Tensor, Parameters]:
        part = {name: each[copies].clone() for name, each in params.items()}
        out = network.forward(part, X, network.tape(part, 50))
        sums = {name: each[copies] for name, each in earlier.items()}
        return out, gradients(network, part, X, slopes[copies], sums, 0.9)

    for copy in (0, s - 1):
        alone_out, alone = run(slice(copy, copy + 1))
        for size in sizes:
            first = 0 if copy == 0 else s - size
            out, sums = run(slice(first, first + size))
            assert torch.equal(out[copy - first], alone_out[0]), f"outputs among {size}"
            for name in network.moved:
                assert torch.equal(sums[name][copy - first], alone[name][0]), f"{name} among {size}"


def test_rows_end_in_a_one(generator) -> None:
    X = normal(2, 4, D, generator=generator)
    assert with_ones(X).shape == (2, 4, D + 1)
    assert torch.equal(with_ones(X)[..., :-1], X)
    assert (with_ones(X)[..., -1] == 1).all()


@every_network
def test_shapes_and_names_fit(network, draw, generator) -> None:
    assert network.trained in get_args(Trained)
    assert network_by_name(network.name, network.width).name == network.name
    params = draw(network, D, K, 2)
    tape = network.tape(params, 5)
    network.forward(params, with_ones(normal(5, D, generator=generator)), tape)
    for hidden in network.hidden:
        values = tape[hidden][..., : network.width]
        assert values.shape == (2, 5, network.width)
        assert (values >= 0).all()
    assert set(network.moved) <= set(network.shapes(D, K))
