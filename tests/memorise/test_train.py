"""Training in pieces, killed between any two of them."""

import pytest
import torch

from widenet.memorise.experiments import synthetic_problem
from widenet.memorise.methods import plain
from widenet.memorise.methods.adam import AdamRecipe
from widenet.memorise.methods.plain import PlainDescent
from widenet.memorise.train import train_method
from widenet.runs import Store, Trial, kept
from widenet.runs.kept import KeptState

TRIAL = Trial({"seed": 0}, code="1", data="d")
SHOWN_ALONE = ("seconds", "history")


class KilledError(Exception):
    """Stands for the end of a process."""


@pytest.mark.parametrize("method", [AdamRecipe(epochs=6, batch=16), PlainDescent(eta=3.0, max_steps=36)])
@pytest.mark.parametrize("advances", [0, 1, 4])
def test_a_killed_training_ends_as_one_that_was_not(tmp_path, monkeypatch, method, advances):
    """Records of the loss included; 50 rows make 4 steps an epoch, so records and epochs are out of step."""
    monkeypatch.setattr(kept, "EVERY", 0.0)
    monkeypatch.setattr(plain, "PIECE", 7)
    problem = synthetic_problem(50, 12, 30, seed=0)
    whole = train_method(problem, method, KeptState(None, TRIAL))
    advance, made = type(method).advance, []

    def dying(self, problem, state):
        if len(made) == advances:
            raise KilledError
        made.append(1)
        return advance(self, problem, state)

    with Store(tmp_path / "runs.store") as store:
        with monkeypatch.context() as patch:
            patch.setattr(type(method), "advance", dying)
            with pytest.raises(KilledError):
                train_method(problem, method, KeptState(store, TRIAL))
        assert (store.load_state(TRIAL) is None) == (advances == 0)
        state = train_method(problem, method, KeptState(store, TRIAL))
    assert set(state) == set(whole)
    for name in set(whole) - set(SHOWN_ALONE):
        assert torch.equal(state[name], whole[name]), name
    assert torch.equal(state["history"][:, [0, 2]], whole["history"][:, [0, 2]])
    assert len(state["recorded"]) == int(state["step"]) // 5
