"""Lemma C.1, item by item: as the network has it, as brute force has it, and as it falls with the width."""

import itertools
import math

import pytest
import torch

from widenet.networks.constructed import log_slope
from widenet.networks.network import network_outputs
from widenet.networks.resnet import ResNet
from widenet.theory.numbers import mpf
from widenet.theory.resnet_beyond_kernels.coupling import (
    ITEMS,
    Taus,
    coupling_bounds,
    coupling_sizes,
    draw_coupled,
    flipping_step,
    lemma_c_1,
    measured_coupling,
    pushing_gains,
    raising_step,
    random_step,
)


@pytest.fixture(name="net")
def small_net(generator):
    return draw_coupled(4, 3, 60, 0.2, 0.7, generator=generator)


def stated_sizes(net, W, V) -> dict[str, float]:
    """The left sides as the lemma prints them, neuron by neuron."""
    x1 = [*net.x.tolist(), 1.0]
    k, m = net.A.shape

    def times(matrix, vector):
        return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix.tolist()]

    def norm(vector):
        return math.sqrt(sum(value**2 for value in vector))

    def through(signs, values):
        return [sum(net.A[r, j].item() * signs[j] * values[j] for j in range(m)) for r in range(k)]

    D0, D = ([value >= 0 for value in times(matrix, x1)] for matrix in (net.W0, net.W0 + W))
    out1 = through(D, times(net.W0 + W, x1))
    z = [*out1, 1.0]
    E0, E = ([value >= 0 for value in times(matrix, z)] for matrix in (net.V0, net.V0 + V))
    b = [p - q for p, q in zip(through(D, times(W, x1)), out1, strict=True)]
    whole = through(E, times(net.V0 + V, z))
    e = [p - q for p, q in zip(through(E, times(V, z)), whole, strict=True)]
    AEV = net.A @ torch.diag(torch.tensor(E, dtype=torch.float64)) @ net.V0
    return {
        "a": sum(p != q for p, q in zip(D0, D, strict=True)),
        "b": norm(b),
        "c": norm(out1),
        "d": sum(p != q for p, q in zip(E0, E, strict=True)),
        "e": norm(e),
        "f": float(torch.linalg.svdvals(AEV)[0]),
        "g": norm(whole),
    }


def test_sizes_are_those_that_the_lemma_prints(net, generator):
    W, V = (random_step(start, 1.5, generator=generator) for start in (net.W0, net.V0))
    found = coupling_sizes(net, W, V)
    assert found.keys() == ITEMS.keys()
    for item, size in stated_sizes(net, W, V).items():
        assert found[item] == pytest.approx(size, rel=1e-9), item
    params = {"W": (net.W0 + W)[None], "V": (net.V0 + V)[None], "A": net.A[None]}
    out1 = network_outputs(ResNet(60, "hidden"), {**params, "V": 0 * params["V"]}, net.x[None])[0, 0]
    out = network_outputs(ResNet(60, "hidden"), params, net.x[None])[0, 0]
    assert found["c"] == pytest.approx(float(out1.norm()))
    assert found["g"] == pytest.approx(float((out - out1).norm()))


def test_steps_have_their_norm(net, generator):
    inputs = torch.cat([net.x, net.x.new_ones(1)])
    gains = pushing_gains(net.A, net.W0 @ inputs)
    steps = (
        random_step(net.W0, 0.6, generator=generator),
        raising_step(net.A, inputs, 0.6),
        flipping_step(net.W0, inputs, 0.6),
        flipping_step(net.W0, inputs, 0.6, gains),
    )
    norms = [float(torch.linalg.matrix_norm(step, 2)) for step in steps]
    assert norms[:2] == pytest.approx([0.6, 0.6])
    assert all(0.3 < norm <= 0.6 * (1 + 1e-12) for norm in norms[2:])


def test_no_step_changes_more_signs(generator):
    """All sets of neurons are tried: one can be changed if its values fit into the norm."""
    net = draw_coupled(3, 2, 12, 0.5, 1.0, generator=generator)
    inputs = torch.cat([net.x, net.x.new_ones(1)])
    values, tau = (net.W0 @ inputs).tolist(), 0.5
    budget = tau**2 * float(inputs.square().sum())
    most = max(
        len(chosen)
        for size in range(13)
        for chosen in itertools.combinations(values, size)
        if sum(value**2 for value in chosen) < budget
    )
    step = flipping_step(net.W0, inputs, tau)
    assert coupling_sizes(net, step, 0 * net.V0)["a"] == most
    assert 0 < most < 12


def test_pushing_is_worth_what_it_says(net):
    """A change of sign of neuron j adds −A_j|value_j| to A σ(values)."""
    values = net.W0 @ torch.cat([net.x, net.x.new_ones(1)])
    start = net.A @ values.clamp(min=0)
    for j, gain in enumerate(pushing_gains(net.A, values).tolist()):
        signs = values >= 0
        signs[j] = ~signs[j]
        after = net.A @ (signs * values)
        assert float((after - start) @ start / start.norm()) == pytest.approx(gain, abs=1e-12)


def test_bounds_fall_and_grow_with_the_width_as_measured(generator):
    """At fixed τ and σ: (a) m^{2/3}, (b) m^{−1/6}, (d) m, the others level; bounds and networks alike."""
    widths, rates = (4000, 16000, 64000), {"a": 2 / 3, "b": -1 / 6, "c": 0, "d": 1, "f": 0}
    taus = Taus(mpf(0.1), mpf(0.5), mpf(1), mpf(0.1))
    found = []
    for m in widths:
        net = draw_coupled(5, 2, m, 0.1, 0.5, generator=generator)
        by_step = measured_coupling(net, 1.0, 0.1, generator=generator)
        found.append({item: max(sizes[item] for sizes in by_step.values()) for item in ITEMS})
    for item, rate in rates.items():
        bounds = [float(coupling_bounds(m, taus, 0.5)[item]) for m in widths]
        assert log_slope(widths, bounds) == pytest.approx(rate, abs=1e-9), item
        assert log_slope(widths, [each[item] for each in found]) == pytest.approx(rate, abs=0.1), item
    for each, m in zip(found, widths, strict=True):
        bounds = coupling_bounds(m, taus, each["c"])
        assert all(each[item] < 2 * bounds[item] for item in ITEMS)
        assert all(each[item] > 0.2 * bounds[item] for item in "abcdef")  # none is an empty statement


@pytest.mark.parametrize("m", [1000, 30000])
def test_inside_its_range_a_small_constant_is_enough(m):
    found = lemma_c_1(m, 3, 8, seed=2)
    assert found.applies
    assert 0.5 < found.value < 2
    shares = [
        found.terms[f"({item}) measured"] / found.terms[f"({item}) bound on {ITEMS[item]}"] for item in ITEMS
    ]
    assert found.value == pytest.approx(max(shares))
    for item in "ad":
        limit = found.terms[f"({item}) for many neurons, the most"]
        assert found.terms[f"({item}) measured"] == pytest.approx(limit, rel=3 / math.sqrt(m))
    assert lemma_c_1(m, 3, 8, seed=2, C=2.0).value == pytest.approx(found.value / 2)


def test_steps_below_1_and_wide_starts_are_outside():
    assert lemma_c_1(200, 2, 4, tau_w=0.9).why[0].startswith("τ_w = 0.9 ≥ 1: does not hold")
    assert lemma_c_1(200, 2, 4, sigma_w=2.0).applies is False
    assert lemma_c_1(200, 2, 4, tau_v=2.0, sigma_v=1.0).applies is False
