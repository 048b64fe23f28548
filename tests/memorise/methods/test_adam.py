"""The recipe against torch's own optimiser and autograd."""

from dataclasses import replace

import pytest
import torch

from widenet.memorise.methods.adam import AdamRecipe
from widenet.memorise.methods.method import generator_at, last_loss
from widenet.report.memorise.sentences import method_notes


def torch_epochs(problem, method, num_epochs):
    """The same epochs with torch.optim.Adam, in float32; weights, and the loss of every batch."""
    state = method.start(problem)
    W = state["W"].T.clone().requires_grad_()
    a = torch.ones(problem.r)
    a[problem.r // 2 :] = -1
    optimiser = torch.optim.Adam([W], lr=method.rate)
    schedule = torch.optim.lr_scheduler.StepLR(optimiser, method.decay_every, method.decay)
    Z, y = problem.Z.float(), problem.y.float()
    losses = []
    for epoch in range(num_epochs):
        order = torch.randperm(problem.n, generator=generator_at(problem.seed, epoch + 1))
        for rows in order.split(method.batch):
            optimiser.zero_grad()
            delta = (Z[rows] @ W).square() @ a - y[rows]
            loss = delta.square().sum() / (4 * len(rows))
            loss.backward()
            losses.append(loss.item())
            optimiser.step()
        schedule.step()
    return W.detach(), losses


def test_epochs_are_those_of_torch(small):
    """Five epochs, the last batch of each smaller, the rate falling twice, the state handed on each time."""
    problem = replace(small, Z=small.Z / small.Z.norm(dim=1, keepdim=True))
    method = AdamRecipe(batch=16, decay_every=2)
    state = method.start(problem)
    for _ in range(5):
        state = method.advance(problem, state)
    expected, losses = torch_epochs(problem, method, 5)
    torch.testing.assert_close(method.weights(problem, state), expected.double(), rtol=1e-4, atol=1e-5)
    assert method.steps(state) == 15
    assert state["recorded"].dtype == torch.float64
    assert state["recorded"].tolist() == pytest.approx(losses[4::5], rel=1e-4)


def test_it_does_not_start_at_the_saddle(paper):
    W = AdamRecipe().start(paper)["W"]
    assert W.dtype == torch.float32
    assert float(W.std()) == pytest.approx(1 / 300**0.5, rel=0.03)
    assert "0.058" in method_notes(AdamRecipe().plan(paper))[0]


def test_it_memorises_the_papers_small_example(paper):
    method = AdamRecipe(epochs=80, batch=32)
    state = method.start(paper)
    while not method.done(state):
        state = method.advance(paper, state)
    assert int(state["epoch"]) == 80
    assert last_loss(state) < 1e-5
