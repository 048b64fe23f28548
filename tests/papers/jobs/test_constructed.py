"""Constructed nets against the same by hand: trained, widened, and measured on every input."""

import itertools
import math

import pytest
import torch

from widenet.networks.bias_free import BiasFreeTwoLayers, padded
from widenet.networks.initialise import Initialisation
from widenet.papers.jobs.constructed import CONSTRUCTED, RATE, constructed_trial
from widenet.papers.jobs.job import Desk
from widenet.study.speed import Speed
from widenet.training.rows import as_rows
from widenet.training.settings import TrainingSettings
from widenet.training.together import train_together

D = 8


def test_errors_are_means_over_the_whole_cube():
    trials = [constructed_trial(400, D, decay, epochs=60, seed=1) for decay in (1e-3, 1e-4)]
    found = [result.record for result in CONSTRUCTED.work(trials, Desk())]
    signs = torch.tensor(list(itertools.product((-1.0, 1.0), repeat=6)), dtype=torch.float64)
    rows = as_rows(signs / math.sqrt(6), signs.prod(dim=1, keepdim=True), torch.float32)
    grid = [
        TrainingSettings(
            rate=RATE,
            decay=decay,
            batch=8,
            epochs=60,
            seed=1,
            initialisation=Initialisation("signed"),
        )
        for decay in (1e-3, 1e-4)
    ]
    cube = torch.tensor(list(itertools.product((-1.0, 1.0), repeat=D)), dtype=torch.float64)
    for record, run in zip(
        found, train_together(BiasFreeTwoLayers(200, "hidden"), rows, grid, keep_weights=True), strict=True
    ):
        wide = {name: part[0].double() for name, part in padded(run.weights, 400, D).items()}
        out = torch.relu(cube / math.sqrt(D) @ wide["W"].T) @ wide["A"][0]
        error = float((out - cube[:, :6].prod(dim=1)).square().mean())
        assert record["error"] == pytest.approx(error, rel=1e-6)
        assert record["norm"] == pytest.approx(float(run.weights["W"].norm()) * math.sqrt(D / 6), rel=1e-5)
    assert found[0]["norm"] < found[1]["norm"]


def test_a_net_that_diverges_has_no_numbers(monkeypatch):
    monkeypatch.setattr("widenet.papers.jobs.constructed.RATE", 1e6)
    (result,) = CONSTRUCTED.work([constructed_trial(200, D, 0.0, epochs=5, seed=0)], Desk())
    assert result.record == {"error": math.inf, "norm": math.inf}


def test_the_cost_grows_with_epochs():
    speed = Speed(single=1e11, double=5e10, bytes=1e10)
    short, long = (
        CONSTRUCTED.seconds([constructed_trial(200, D, 0.0, epochs, 0)], speed) for epochs in (10, 20)
    )
    assert long == pytest.approx(2 * short)
