"""Sizes of the coupling lemmas on drawn networks of two widths."""

import itertools

import pytest
import torch
from torch.testing import assert_close

from widenet.networks.coupling_sizes import (
    coupling_error,
    cross_terms,
    most_changes,
    most_sign_changes,
    noisy_weights,
    sign_changes_at,
    smoothed_gap,
    spread_step,
)
from widenet.networks.fully_connected import ThreeLayers
from widenet.networks.pseudo import cross_term
from widenet.networks.two_widths import draw_two_widths, layer_inputs, random_signs, real_outputs
from widenet.testing import unit_rows
from widenet.theory.beyond_two_layers.coupling import lemma_6_5, lemma_6_9, lemma_6_11

D = 6
SIZES = [(256, 256), (1024, 512), (512, 1024)]


def sizes_at(m1: int, m2: int) -> dict[str, float]:
    """Inside the ranges of Lemmas 6.5 and 6.11."""
    return {"tau_w": m1**-0.7, "tau_v": 0.1, "sigma_w": m1**-0.95, "sigma_v": 0.1 * m2**-0.5}


def test_the_most_changes_by_trying_all(generator):
    values = torch.randn(8, generator=generator, dtype=torch.float64)
    for power, budget in ((2, 0.7), (4, 0.9)):
        best = max(
            len(subset)
            for size in range(9)
            for subset in itertools.combinations(range(8), size)
            if float(values[list(subset)].abs().pow(power).sum()) <= budget**power
        )
        assert most_sign_changes(values, budget, power) == best > 0


@pytest.mark.parametrize(("m1", "m2"), SIZES)
def test_the_most_changes_are_attained_and_of_the_size_of_lemma_6_5(m1, m2, generator):
    start, x = draw_two_widths(D, 1, m1, m2, generator=generator), unit_rows(1, D, generator=generator)[0]
    sizes = sizes_at(m1, m2)
    first, second = most_changes(start, x, sizes["tau_w"], sizes["tau_v"])
    bound = lemma_6_5(m1, m2, **sizes)
    assert bound.applies
    # (5·(density at 0)⁴)^{1/5} of N(0, 2/m1): 0.873 in the limit
    assert 0.5 < first / bound.terms["sign changes of the first layer"] < 1.4
    assert 0.2 * bound.terms["sign changes of the second layer"] < second
    assert second < bound.terms["sign changes of the second layer"]
    values = layer_inputs(start, x[None])[0][0, 0]
    worst = values.abs().argsort()[:first]
    step = torch.zeros_like(start["W"])
    step[0, worst, :-1] = -values[worst, None] * (1 + 1e-9) * x
    changed, _ = sign_changes_at(start, {**start, "W": start["W"] + step}, x[None])
    assert int(changed) == first
    assert float(step[0].norm(dim=1).pow(4).sum() ** 0.25) <= sizes["tau_w"] * (1 + 1e-6)


def test_of_one_width_the_cross_term_is_that_of_the_trained_network(generator):
    start, X = draw_two_widths(D, 2, 20, 20, generator=generator), unit_rows(4, D, generator=generator)
    step, sigma = spread_step(start, 0.1, 0.3, generator=generator), random_signs(3, 20, generator=generator)
    network = ThreeLayers(20, "hidden")
    assert_close(cross_terms(start, step, sigma, X), cross_term(network, start, start, step, sigma, X))
    assert float(step["W"][0].norm(dim=1).pow(4).sum() ** 0.25) == pytest.approx(0.1)
    assert float(step["V"].norm()) == pytest.approx(0.3)


def test_the_cross_term_has_mean_0_over_all_signs(generator):
    start, X = draw_two_widths(D, 1, 8, 12, generator=generator), unit_rows(3, D, generator=generator)
    every = torch.tensor(list(itertools.product((1.0, -1.0), repeat=8)), dtype=torch.float64)
    found = cross_terms(start, spread_step(start, 0.3, 0.5, generator=generator), every, X)
    assert float(found.mean(0).abs().max()) < 1e-14 < float(found.abs().max())


@pytest.mark.parametrize(("m1", "m2"), SIZES)
def test_cross_terms_and_errors_are_below_their_bounds(m1, m2, generator):
    start, X = draw_two_widths(D, 1, m1, m2, generator=generator), unit_rows(6, D, generator=generator)
    sizes = sizes_at(m1, m2)
    tau = {name: sizes[name] for name in ("tau_w", "tau_v")}
    noise = {name: sizes[name] for name in ("sigma_w", "sigma_v")}
    step = spread_step(start, **tau, generator=generator)
    here = noisy_weights(start, **noise, generator=generator)
    sigma = random_signs(30, m1, generator=generator)
    assert float(cross_terms(here, step, sigma, X).abs().max()) < lemma_6_5(m1, m2, **sizes).value
    assert lemma_6_11(m1, m2, **tau).applies
    assert float(coupling_error(start, step, sigma, X).abs().max()) < lemma_6_11(m1, m2, **tau).value


def test_the_coupling_error_vanishes_where_no_sign_changes_but_for_terms_of_first_order(generator):
    """Averaged over Σ and −Σ these cancel, and what is left is 0 while signs stay."""
    start, X = draw_two_widths(D, 1, 40, 30, generator=generator), unit_rows(3, D, generator=generator)
    step = spread_step(start, 1e-7, 1e-7, generator=generator)
    sigma = random_signs(1, 40, generator=generator)
    both = coupling_error(start, step, torch.cat([sigma, -sigma]), X)
    assert float(both.abs().max()) > 1e-9
    assert float(both.mean(0).abs().max()) < 1e-15


def test_the_smoothed_gap_is_of_second_order_and_below_its_bound(generator):
    """E|P − P'| falls with the square of the step: a sign changes with probability η, by an amount η."""
    m1, m2 = 512, 256
    start, X = draw_two_widths(D, 1, m1, m2, generator=generator), unit_rows(8, D, generator=generator)
    step = spread_step(start, m1**-0.5, 0.3, generator=generator)
    noise = {"sigma_w": 0.02, "sigma_v": 0.02}
    gaps = [
        smoothed_gap(start, step, X, eta=eta, **noise, num_draws=30, generator=generator)
        for eta in (0.05, 0.2)
    ]
    assert 0.5 < gaps[0] / gaps[1] < 2
    largest = (float(step[name][0].norm(dim=1).max()) for name in ("W", "V"))
    assert max(gaps) < lemma_6_9(m1, m2, *largest, **noise).value


def test_noise_leaves_biases_and_outputs_alone(generator):
    start = draw_two_widths(D, 1, 50, 60, generator=generator)
    noisy = noisy_weights(start, 0.1, 0.2, generator=generator)
    for name, deviation in (("W", 0.1), ("V", 0.2)):
        noise = noisy[name] - start[name]
        assert not noise[..., -1].any()
        assert float(noise[..., :-1].std()) == pytest.approx(deviation, rel=0.15)
    assert noisy["A"] is start["A"]
    assert real_outputs(noisy, unit_rows(2, D, generator=generator)).shape == (1, 2, 1)
