"""Perturbed descent against Algorithm 1 written down once more, and on the paper's example."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from widenet.data import load
from widenet.memorise.methods import pgd
from widenet.memorise.methods.method import generator_at, last_loss
from widenet.memorise.methods.pgd import PerturbedDescent, TheoremDescent, ball
from widenet.memorise.problem import problem_of
from widenet.networks.quadratic import quadratic_outputs
from widenet.report.memorise.sentences import method_notes


def finished(method, problem):
    state = method.start(problem)
    while not method.done(state):
        state = method.advance(problem, state)
    return state


def algorithm_1(problem, thresholds, eta, gamma, num_steps):
    """The paper's pseudo-code line by line, gradients by autograd; returns the points and the answer."""
    radius, g_thres, f_thres, t_thres = thresholds
    a = torch.ones(problem.r, dtype=torch.float64)
    a[problem.r // 2 :] = -1

    def value_and_gradient(W):
        W = W.clone().requires_grad_()
        f = (((problem.Z @ W) ** 2 @ a - problem.y) ** 2).sum() / (4 * problem.n) + gamma / 2 * (W**2).sum()
        f.backward()
        return f.item(), W.grad

    x, points, noises = torch.zeros(problem.k, problem.r, dtype=torch.float64), [], []
    t_noise = -t_thres - 1
    for t in range(num_steps):
        if value_and_gradient(x)[1].norm() <= g_thres and t - t_noise > t_thres:
            x_before, t_noise = x, t
            noises.append(t)
            x = x + ball(radius, x.shape, generator=generator_at(problem.seed, t))
        if t - t_noise == t_thres and value_and_gradient(x)[0] - value_and_gradient(x_before)[0] > -f_thres:
            return points, noises, x_before
        x = x - eta * value_and_gradient(x)[1]
        points.append(x)
    return points, noises, None


def test_theorem_mode_is_algorithm_1(paper):
    """Thresholds that make all that can happen happen: noise, escape, noise again, and the end."""
    problem = replace(paper, Z=4 * paper.Z[:15, :6], y=3 * paper.y[:15], r=14)
    thresholds, eta, gamma = (0.1, 0.02, 1e-3, 25.0), 0.2, 1e-3
    points, noises, answer = algorithm_1(problem, thresholds, eta, gamma, 4000)
    assert answer is not None
    assert len(noises) >= 2
    method = TheoremDescent(sigma=1.0)
    state = method.start(problem)
    state["thresholds"] = torch.tensor(thresholds, dtype=torch.float64)
    state["constants"] = torch.tensor([eta, gamma], dtype=torch.float64)
    while not method.done(state):
        state = method.advance(problem, state)
    assert bool(state["finished"])
    assert method.steps(state) == len(points)
    assert int(state["t_noise"]) == noises[-1]
    torch.testing.assert_close(method.weights(problem, state), answer, rtol=1e-7, atol=1e-9)


def test_thresholds_of_the_theorem(paper):
    """Theorem 4 and the first line of Algorithm 1, in the paper's letters."""
    sigma, eps, delta, c = 0.7, 1e-2, 0.1, 0.05
    state = TheoremDescent(sigma=sigma, epsilon=eps, delta=delta, c=c).start(paper)
    n, d, r = 300, 100, 300
    B, Y = float(paper.Z.norm(dim=1).max()), float(paper.y.abs().max())
    f0 = float(paper.y.square().sum()) / (4 * n)
    gamma = math.sqrt(sigma**2 * eps / (n * d))
    ball_size = 2 * (f0 + 1) / gamma
    rho, ell = 6 * B**4 * math.sqrt(ball_size), max(3 * B**4 * ball_size + Y * B**2 + gamma, 1)
    inner = gamma**2 / rho  # √(ρε) = γ, as the proof asks for
    chi = 3 * max(math.log(d * r * ell * (f0 + 1) / (c * inner**2 * delta)), 4)
    expected = [
        math.sqrt(c) * inner / (chi**2 * ell),
        math.sqrt(c) * inner / chi**2,
        c / chi**3 * math.sqrt(inner**3 / rho),
        math.ceil(chi / c**2 * ell / math.sqrt(rho * inner)),
    ]
    np.testing.assert_allclose(state["thresholds"].numpy(), expected, rtol=1e-9)
    np.testing.assert_allclose(state["constants"].numpy(), [c / ell, gamma], rtol=1e-9)
    assert not state["W"].any()


def test_the_history_ends_with_the_last_step(paper, monkeypatch):
    """Also where only some of the steps are kept."""
    monkeypatch.setattr(pgd, "EVERY_STEP", 5)
    method = PerturbedDescent(target=1e-9)
    state = finished(method, paper)
    assert state["history"][-1, 0] == method.steps(state)
    assert len(state["history"]) == 7  # the start, five steps, and the last one
    assert last_loss(state) <= 1e-9


def test_theorem_mode_tells_the_number_of_steps_first(paper):
    first = method_notes(TheoremDescent(sigma=0.7, max_steps=50).plan(paper))[0]
    assert "steps" in first
    assert "10^" in first
    assert "stops after 50" in first


def test_theorem_mode_stops_after_its_steps(paper):
    method = TheoremDescent(sigma=0.7, max_steps=50)
    state = finished(method, paper)
    assert method.steps(state) == 50
    assert state["W"].any()


def test_ball_is_uniform():
    """‖ξ‖/radius to the power of the dimension is uniform on [0, 1], and so are directions on the sphere."""
    generator = torch.Generator().manual_seed(0)
    points = torch.stack([ball(3.0, torch.Size([2, 1]), generator=generator) for _ in range(4000)])[:, :, 0]
    shares = (points.norm(dim=1) / 3).square()
    assert shares.max() <= 1
    assert shares.mean() == pytest.approx(0.5, abs=0.02)
    assert shares.var() == pytest.approx(1 / 12, abs=0.01)
    assert points.mean(0).norm() < 0.1
    assert (points[:, 0].square().mean() / points[:, 1].square().mean()) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("seed", range(20))
def test_it_escapes_from_the_saddle(paper, seed):
    method = PerturbedDescent(target=1e-3)
    state = method.start(replace(paper, seed=seed))
    assert not state["W"].any()
    while not method.done(state):
        state = method.advance(replace(paper, seed=seed), state)
    assert last_loss(state) <= 1e-3 < float(state["history"][0, 2])


def test_the_papers_example(paper):
    method = PerturbedDescent()
    state = finished(method, paper)
    residual = quadratic_outputs(paper.Z, method.weights(paper, state)) - paper.y
    assert float(residual.square().sum()) / 1200 < 1e-10
    assert method.steps(state) < 1000
    assert int(state["t_noise"]) == 0


@pytest.mark.parametrize("labels", ["true", "random"])
def test_digits_with_three_layers(labels, generator):
    problem = problem_of(load("digits"), layers=3)
    assert (problem.n, problem.k, problem.r) == (1797, 86, 174)
    if labels == "random":
        problem = replace(problem, y=torch.randint(10, (problem.n,), generator=generator).to(torch.float64))
    method = PerturbedDescent(target=1e-6)
    state = finished(method, problem)
    residual = quadratic_outputs(problem.Z, method.weights(problem, state)) - problem.y
    assert float(residual.abs().max()) < 0.5


def test_nothing_to_learn_is_done_at_once(paper):
    method = PerturbedDescent()
    assert method.done(method.start(replace(paper, y=torch.zeros_like(paper.y))))


def test_where_no_fit_exists_it_returns_the_point_before_the_noise(paper):
    """One row twice with opposite labels: M is 0 at W = 0, which is the best there is."""
    problem = replace(paper, Z=paper.Z[[0, 0]], y=torch.tensor([1.0, -1.0], dtype=torch.float64))
    method = PerturbedDescent()
    state = finished(method, problem)
    assert bool(state["finished"])
    assert not method.weights(problem, state).any()
    assert last_loss(state) == 0.25
