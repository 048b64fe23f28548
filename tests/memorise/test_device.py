"""Networks that memorise are trained on a device, with the weights of the CPU, and certified on the CPU."""

import json

import pytest
import torch

from tests.toy_device import numbers
from widenet.memorise.methods import direct
from widenet.memorise.methods.adam import AdamRecipe
from widenet.memorise.methods.direct import Direct
from widenet.memorise.methods.pgd import PerturbedDescent, TheoremDescent
from widenet.memorise.methods.plain import PlainDescent
from widenet.memorise.problem import SquaresProblem
from widenet.memorise.run import run_memorise
from widenet.memorise.settings import MemoriseSettings
from widenet.memorise.train import state_arrays, train_method
from widenet.runs.kept import KeptState
from widenet.runs.store import Store
from widenet.runs.trial import Trial

METHODS = {
    "direct": Direct(),
    "pgd": PerturbedDescent(max_steps=60),
    "theorem": TheoremDescent(sigma=0.1, max_steps=40),
    "adam": AdamRecipe(epochs=3, batch=16),
    "gd": PlainDescent(eta=0.1, max_steps=60),
}


@pytest.fixture
def problem(generator):
    Z = torch.randn(40, 9, generator=generator, dtype=torch.float64)
    return SquaresProblem(Z / 3, Z[:, 0].sign(), 20, 2, None, 0.0, 0)


def trained(problem, method, kept):
    return method.weights(problem, train_method(problem, method, kept))


def unkept():
    return KeptState(None, Trial({}, "", ""))


@pytest.mark.parametrize("dense_rows", [4096, 0])
@pytest.mark.parametrize("name", METHODS)
def test_every_method_trains_there(name, dense_rows, problem, toy, monkeypatch):
    monkeypatch.setattr(direct, "DENSE", dense_rows)
    here, there = (trained(each, METHODS[name], unkept()) for each in (problem, problem.to(toy)))
    assert there.device == toy
    assert numbers(here) == numbers(there)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_what_was_interrupted_goes_on_there(name, problem, toy, tmp_path, monkeypatch):
    monkeypatch.setattr(direct, "DENSE", 0)
    monkeypatch.setattr("widenet.memorise.methods.plain.PIECE", 20)
    there, method, trial = problem.to(toy), METHODS[name], Trial({}, "", "")
    with Store(tmp_path / "memorise.store") as store:
        first = method.advance(there, method.start(there))
        KeptState(store, trial).save(state_arrays(first), {})
        assert numbers(trained(there, method, KeptState(store, trial))) == numbers(
            trained(there, method, unkept())
        )


def test_the_certificate_is_that_of_the_cpu(binary, toy):
    here, there = (run_memorise(binary, MemoriseSettings(device=name)) for name in ("cpu", "toy"))
    assert there.weights == here.weights
    assert there.certificate == here.certificate is not None


def test_the_command_trains_there(toy, widenet, tmp_path):
    lines = ["a,b,c,y", *(f"{i % 7},{i * i % 11},{i % 5},{'up' if i % 7 > 2 else 'down'}" for i in range(30))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    code, _, _ = widenet("memorise", "t.csv", "--device", "toy", "--out", "there")
    assert code == 0
    assert json.loads((tmp_path / "there" / "config.json").read_text())["device"] == "toy"
    assert widenet("verify", "there", "t.csv")[0] == 0
    code, _, error = widenet("memorise", "t.csv", "--device", "gpu")
    assert code == 2
    assert "There is no device 'gpu' here" in error
