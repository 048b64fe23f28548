"""Plain descent against autograd, and on the paper's small example."""

import pytest
import torch

from widenet.memorise.methods import plain
from widenet.memorise.methods.method import last_loss
from widenet.memorise.methods.plain import PlainDescent


def train(method, problem):
    state = method.start(problem)
    while not method.done(state):
        state = method.advance(problem, state)
    return state


def test_steps_are_those_of_autograd(small, monkeypatch):
    monkeypatch.setattr(plain, "PIECE", 7)
    method = PlainDescent(eta=0.05, max_steps=23)
    W = method.start(small)["W"].clone().requires_grad_()
    signs = torch.tensor([1.0] * (small.r // 2) + [-1.0] * (small.r // 2), dtype=torch.float64)
    losses = []
    for _ in range(23):
        f = ((small.Z @ W).square() @ signs - small.y).square().sum() / (4 * small.n)
        losses.append(f.item())
        (slope,) = torch.autograd.grad(f, W)
        W = (W - 0.05 * slope).detach().requires_grad_()
    state = train(method, small)
    torch.testing.assert_close(method.weights(small, state), W.detach())
    assert state["recorded"].tolist() == pytest.approx(losses[4::5])
    assert state["history"][:, 0].tolist() == [0, 7, 14, 21, 23]
    assert float(state["history"][0, 2]) == pytest.approx(losses[0])


def test_it_memorises_the_papers_small_example(paper):
    state = train(PlainDescent(eta=30.0), paper)
    assert last_loss(state) < 1e-20
    assert method_steps(state) == plain.PIECE
    assert (state["recorded"][20:] < 1e-6).all()


def method_steps(state) -> int:
    return PlainDescent(eta=1.0).steps(state)


def test_steps_that_are_too_long_end_it(paper):
    state = train(PlainDescent(eta=300.0), paper)
    assert not last_loss(state) < float("inf")
    assert method_steps(state) == plain.PIECE


def test_the_plan_tells_the_start(paper):
    numbers = PlainDescent(eta=30.0).plan(paper).numbers
    assert (numbers["eta"], numbers["initial_std"]) == (30.0, pytest.approx(300**-0.5))
