"""Steps of descent against autograd and against brute force on the line."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from widenet.memorise.methods.steps import ConstantSteps, LineSearch, quartic_minimum
from widenet.networks.quadratic import choose_gradient


def autograd(problem, W, gamma=0.0):
    W = W.clone().requires_grad_()
    a = torch.ones(problem.r, dtype=torch.float64)
    a[problem.r // 2 :] = -1
    f = (((problem.Z @ W) ** 2 @ a - problem.y) ** 2).sum() / (4 * problem.n)
    g = f + gamma / 2 * (W**2).sum()
    g.backward()
    return g.item(), W.grad


@pytest.mark.parametrize("seed", range(5))
def test_quartic_minimum_is_below_a_fine_grid(seed):
    generator = torch.Generator().manual_seed(seed)
    delta, b, c = torch.randn(3, 20, generator=generator, dtype=torch.float64) * torch.tensor(
        [[1.0], [3.0], [0.5]]
    )
    t = quartic_minimum(delta, b, c)
    grid = torch.linspace(-20, 20, 40001, dtype=torch.float64)[:, None]
    least = (delta + 2 * grid * b + grid**2 * c).square().sum(1).min()
    assert float((delta + 2 * t * b + t**2 * c).square().sum()) <= float(least)


def test_quartic_minimum_next_to_a_saddle():
    """The weights are noise of 1e-9 here, so the step is 1e9 of its length."""
    delta = torch.tensor([-1.0, -2.0], dtype=torch.float64)
    c = 1e-18 * torch.tensor([1.0, 1.0], dtype=torch.float64)
    assert quartic_minimum(delta, c, c) == pytest.approx(np.sqrt(1.5) * 1e9, rel=1e-6)


def test_quartic_minimum_of_constants_and_parabolas():
    delta, b, zero = torch.tensor([[1.0, -2.0], [3.0, 1.0], [0.0, 0.0]], dtype=torch.float64)
    assert quartic_minimum(delta, zero, zero) == 0
    assert quartic_minimum(delta, b, zero) == pytest.approx(-1 / 20)


@pytest.mark.parametrize("n", [3, 40])
def test_constant_steps_follow_the_gradient(small, generator, n):
    """Few rows go through the neurons, many through Q and M."""
    small = replace(small, Z=small.Z[:n], y=small.y[:n])
    assert choose_gradient(n, 10, small.r) == ("neurons" if n == 3 else "form")
    W = torch.randn(10, small.r, generator=generator, dtype=torch.float64)
    steps = ConstantSteps(small.Z, small.y, eta=0.01, gamma=0.3)
    here = steps.at(W)
    value, slope = autograd(small, W, gamma=0.3)
    assert here.value == pytest.approx(value)
    torch.testing.assert_close(here.gradient, slope)
    there, _ = steps.step(here, torch.zeros_like(W))
    torch.testing.assert_close(there.W, W - 0.01 * slope)


def test_line_search_ends_where_the_slope_along_the_line_is_zero(small, generator):
    W = torch.randn(10, small.r, generator=generator, dtype=torch.float64)
    steps = LineSearch(small.Z, small.y)
    here, direction = steps.at(W), torch.zeros_like(W)
    for _ in range(4):
        there, direction_next = steps.step(here, direction)
        value, slope = autograd(small, there.W)
        moved = there.W - here.W
        assert there.value == pytest.approx(value)
        torch.testing.assert_close(there.gradient, slope)
        assert abs(float((slope * moved).sum())) < 1e-10 * float(here.gradient.norm() * moved.norm())
        assert there.value < here.value
        here, direction = there, direction_next


def test_directions_are_conjugate_ones(small, generator):
    """Polak & Ribière's formula, spelled out."""
    W = torch.randn(10, small.r, generator=generator, dtype=torch.float64)
    steps = LineSearch(small.Z, small.y)
    here = steps.at(W)
    there, direction = steps.step(here, -here.gradient)
    old, new = here.gradient.flatten(), there.gradient.flatten()
    beta = max(0.0, float(new @ (new - old) / (old @ old)))
    torch.testing.assert_close(direction, -there.gradient - beta * here.gradient)
