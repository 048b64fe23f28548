"""The second-order descent direction of Lemma 6.7 on drawn networks."""

import math

import pytest
import torch

from widenet.networks.constructed import Term
from widenet.networks.constructed_pair import ProductTerm, Ridge, pair_step
from widenet.networks.coupling_sizes import cross_terms, spread_step
from widenet.networks.descent_direction import Objective, measure_descent, smooth_loss
from widenet.networks.two_widths import (
    draw_two_widths,
    outputs_with_signs,
    random_signs,
    real_outputs,
    sign_pattern,
)
from widenet.testing import unit_rows
from widenet.theory.beyond_two_layers.hermite import gated_hermite
from widenet.theory.beyond_two_layers.relu_features import relu_hermite

D, SCALE = 4, 0.1
AXES = torch.eye(D, dtype=torch.float64)
ONE = torch.ones(1, dtype=torch.float64)


def target(X: torch.Tensor) -> torch.Tensor:
    return 1.5 * (1 + X[:, :1]) * (1 + X[:, 1:2])


def problem(m1: int, m2: int, generator: torch.Generator, **more: float):
    """L' of a network at its initialisation, λ = 0.1, and the construction for the target over λ."""
    rows = unit_rows(12, D - 1, generator=generator) * math.sqrt(3) / 2
    X = torch.cat([rows, torch.full((12, 1), 0.5, dtype=torch.float64)], dim=1)
    second = (Term(gated_hermite((0.5, 0.5), "least"), AXES[1], 2 * AXES[-1], ONE),)
    product = ProductTerm(
        (1.0, 1.0), ((1.0, Ridge(relu_hermite((0.0, 1.0)), AXES[0])),), second, 3 * ONE / SCALE
    )
    start = draw_two_widths(D, 1, m1, m2, generator=generator)
    direction = pair_step(start, [product], generator=generator, scale=m1**0.4)
    sigmas = {"sigma_w": 0.1 / math.sqrt(m1), "sigma_v": 0.1 / math.sqrt(m2)}
    step = {name: torch.zeros_like(part) for name, part in direction.items()}
    return Objective(start, X, target(X), **sigmas, **more), step, direction


@pytest.mark.parametrize("moved", [0.0, 1.0])
def test_the_step_lowers_the_objective_as_the_lemma_says(moved, generator):
    """At initialisation, and at other weights near it."""
    objective, _, direction = problem(512, 768, generator)
    step = spread_step(objective.start, moved * 512**-0.7, moved * 0.3, generator=generator)
    eta = 0.01
    found = measure_descent(
        objective, step, direction, scale=SCALE, eta=eta, num_draws=8, generator=generator
    )
    assert found.stepped + 4 * found.step_error < found.promised < found.now
    assert found.promised == pytest.approx((1 - eta / 16) * found.now)
    assert found.stepped < found.decayed - 4 * found.step_error  # at λ = 0.1 there is little left to forget
    # It is L(λ(F + √ηG' + ηG*)), as the proof has it: G' the cross term, G* the pseudo network.
    there = {**objective.start, **{name: objective.start[name] + part for name, part in step.items()}}
    out, Y, X = real_outputs(there, objective.X), objective.Y, objective.X
    star = outputs_with_signs(sign_pattern(there, X), {**direction, "A": there["A"]}, X, "bias-free")
    sigma = random_signs(40, 512, generator=generator)
    cross = cross_terms(there, direction, torch.cat([sigma, -sigma]), X)
    moved_out = out + eta**0.5 * cross + eta * star
    change = float((smooth_loss(SCALE * moved_out, Y) - smooth_loss(SCALE * out, Y)).mean())
    assert found.stepped - found.now == pytest.approx(change, rel=0.25)


def test_without_the_construction_there_is_no_such_step(generator):
    """A direction with its rows in another order has the same norms, and no correlation with the target."""
    objective, step, direction = problem(256, 256, generator)
    shuffled = {name: part[:, torch.randperm(256, generator=generator)] for name, part in direction.items()}
    right, wrong = (
        measure_descent(objective, step, each, scale=SCALE, eta=0.01, num_draws=12, generator=generator)
        for each in (direction, shuffled)
    )
    assert right.stepped - right.now < 3 * (wrong.stepped - wrong.now)
    assert right.stepped < right.promised


def test_where_the_output_is_far_off_decay_lowers_it(generator):
    """With λ = 30 the network's own output rules the loss, which falls with λ."""
    objective, step, direction = problem(64, 64, generator)
    found = measure_descent(
        objective, step, direction, scale=30.0, eta=0.01, num_draws=4, generator=generator
    )
    assert found.decayed < found.promised


def test_the_objective_is_its_formula(generator):
    objective, _, direction = problem(10, 14, generator, lambda_w=0.3, lambda_v=0.7)
    start = objective.start
    there = {"W": start["W"] + direction["W"], "V": start["V"] + direction["V"], "A": start["A"]}
    losses = (1 + (2 * real_outputs(there, objective.X)[0] - objective.Y).square().sum(1)).sqrt() - 1
    regulariser = 0.7 * 2 * direction["V"].square().sum()
    regulariser += 0.3 * sum(float((2**0.5 * row).norm()) ** 4 for row in direction["W"][0])
    assert float(objective.value(start, direction, 2.0)) == pytest.approx(float(losses.mean() + regulariser))


def test_the_loss_is_convex_lipschitz_and_smooth():
    gap = torch.linspace(-20, 20, 4001, dtype=torch.float64)[:, None]
    values = smooth_loss(gap, torch.zeros_like(gap))
    slopes = values.diff() / 0.01
    assert float(values.min()) == 0
    assert float(slopes.abs().max()) < 1
    assert float(slopes.diff().min()) >= 0
    assert float(slopes.diff().max()) / 0.01 < 1 + 1e-6
