"""What every method promises: an advance depends on the problem and the state alone, also through a file."""

import pytest
import torch
from safetensors.torch import load_file, save_file

from widenet.memorise.methods import direct
from widenet.memorise.methods.adam import AdamRecipe
from widenet.memorise.methods.direct import Direct
from widenet.memorise.methods.method import Clock, begun, copied, generator_at, last_loss
from widenet.memorise.methods.pgd import PerturbedDescent, TheoremDescent
from widenet.report.memorise.sentences import method_notes

METHODS = {
    "pgd": PerturbedDescent(),
    "theorem": TheoremDescent(sigma=0.1),
    "adam": AdamRecipe(batch=16),
    "direct": Direct(),
}


@pytest.fixture(params=[*METHODS, "iterative"])
def method(request, monkeypatch):
    """Every method, and the direct one as it works on many rows."""
    if request.param == "iterative":
        monkeypatch.setattr(direct, "DENSE", 0)
        monkeypatch.setattr(direct, "ITERATIONS", 7)  # so that an advance ends within a sweep
        return Direct()
    return METHODS[request.param]


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name in one.keys() - {"seconds", "history"}:
        assert one[name].dtype == other[name].dtype, name
        assert torch.equal(one[name], other[name]), name
    assert torch.equal(one["history"][:, [0, 2]], other["history"][:, [0, 2]])


def test_an_advance_depends_on_the_state_alone(method, small):
    state = method.advance(small, method.start(small))
    kept = copied(state)
    first, second = method.advance(small, state), method.advance(small, copied(state))
    assert_same(first, second)
    assert_same(state, kept)
    assert torch.equal(method.weights(small, first), method.weights(small, second))


def test_a_state_goes_through_a_file(method, small, tmp_path):
    state = method.advance(small, method.start(small))
    save_file(state, tmp_path / "state.safetensors")
    loaded = load_file(tmp_path / "state.safetensors")
    assert_same(state, loaded)
    assert_same(method.advance(small, state), method.advance(small, loaded))


def test_the_history_has_the_loss_of_the_weights(method, small):
    state = method.start(small)
    for _ in range(2):
        state = method.advance(small, state)
    W = method.weights(small, state)
    a = torch.ones(small.r, dtype=torch.float64)
    a[small.r // 2 :] = -1
    f = float((((small.Z @ W) ** 2 @ a - small.y) ** 2).sum()) / (4 * small.n)
    assert W.dtype == torch.float64
    assert W.shape == (10, small.r)
    assert last_loss(state) == pytest.approx(f, rel=1e-3, abs=1e-20)
    assert state["history"][-1, 0] == method.steps(state) > 0
    assert (state["history"][1:, 1] >= state["history"][:-1, 1]).all()


def test_plans_are_told_in_sentences(method, small):
    plan = method.plan(small)
    assert plan.method == method.name
    notes = method_notes(plan)
    assert notes
    assert all(note.endswith(".") for note in notes)


def test_randomness_differs_between_seeds_and_steps():
    draws = {
        float(torch.rand((), generator=generator_at(seed, step))) for seed in range(10) for step in range(10)
    }
    assert len(draws) == 100


def test_seconds_go_on_where_they_were():
    state = begun(1.0, step=0) | {"seconds": torch.tensor(5.0, dtype=torch.float64)}
    clock = Clock(state)
    clock.record(1, 0.5)
    later = clock.stop()
    assert later["history"].shape == (2, 3)
    assert 5 <= later["history"][1, 1] <= later["seconds"] < 6


def test_copies_lie_row_by_row():
    """As they do after a file, so that a run that goes on rounds as one that was never stopped."""
    turned = torch.arange(6.0).reshape(2, 3).T
    copy = copied({"W": turned})["W"]
    assert copy.is_contiguous()
    assert torch.equal(copy, turned)
