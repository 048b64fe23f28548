"""The real network beside its pseudo network along a training run."""

import json

import pytest
import torch

from widenet.base.errors import InputError
from widenet.data import load
from widenet.networks.fully_connected import ThreeLayers, TwoLayers
from widenet.networks.network import network_outputs, with_ones
from widenet.networks.pseudo import Linearised, Pseudo
from widenet.networks.resnet import GeneralResNet, ResNet
from widenet.training.nearness import follow
from widenet.training.settings import TrainingSettings
from widenet.training.sweeps import train

SETTINGS = TrainingSettings(rate=0.05, batch=20, epochs=12, seed=3)


@pytest.fixture(scope="module")
def dataset():
    return load("resnet-cube:n=60,d=8")


@pytest.mark.parametrize("kind", [TwoLayers, ThreeLayers, ResNet])
def test_the_end_is_that_of_the_trained_network(kind, dataset):
    """Training again, by the function that trains, and measuring at the end with plain formulas."""
    network = kind(30, "all")
    seen = follow(network, dataset, SETTINGS, records=4)
    assert seen.epochs == (0, 3, 6, 9, 12)
    run = train(network, dataset, SETTINGS, dtype=torch.float64)
    assert seen.train_error[-1] == pytest.approx(run.train_error[-1], rel=1e-9)
    assert {name: values[-1] for name, values in seen.sign_changes.items()} == pytest.approx(run.sign_changes)
    assert {name: values[-1] for name, values in seen.moved.items()} == pytest.approx(
        {name: moved.distance for name, moved in run.moved.items()}
    )
    first = train(network, dataset, TrainingSettings(rate=0.0, epochs=1, seed=3), dtype=torch.float64)
    start, X = first.weights, dataset.X
    out = network_outputs(network, run.weights, X)
    for name, model in (("pseudo", Pseudo(network, start)), ("linearised", Linearised(network, start))):
        gap = out - network_outputs(model, run.weights, X)
        assert getattr(seen, name)[-1] == pytest.approx(float(gap.square().sum(-1).mean().sqrt()), rel=1e-9)
    gone = out - network_outputs(network, start, X)
    assert seen.travelled[-1] == pytest.approx(float(gone.square().sum(-1).mean().sqrt()), rel=1e-9)


@pytest.mark.parametrize("kind", [TwoLayers, ThreeLayers, ResNet])
def test_at_the_start_all_three_are_one(kind, dataset):
    seen = follow(kind(30, "hidden"), dataset, SETTINGS, records=2)
    assert max(seen.pseudo[0], seen.linearised[0], seen.travelled[0]) < 1e-13
    assert all(values[0] == 0 for values in (*seen.sign_changes.values(), *seen.moved.values()))
    assert set(seen.moved) == {"W"} if kind is TwoLayers else {"W", "V"}
    assert json.loads(json.dumps(seen.to_dict()))["network"] == seen.network


def test_wider_networks_stay_nearer(dataset):
    """The wider one has changed fewer signs and is nearer to its pseudo network, for how far it has gone."""
    found = []
    for width in (20, 2000):
        network = TwoLayers(width, "hidden")
        found.append(follow(network, dataset, SETTINGS, records=1))
    narrow, wide = found
    assert wide.sign_changes["first"][-1] < narrow.sign_changes["first"][-1]
    assert wide.pseudo[-1] / wide.travelled[-1] < narrow.pseudo[-1] / narrow.travelled[-1]


def test_a_two_layer_pseudo_network_is_linear_in_the_hidden_layer(dataset):
    seen = follow(TwoLayers(30, "hidden"), dataset, SETTINGS, records=3)
    assert seen.pseudo == pytest.approx(seen.linearised)


def test_divergence_is_told(dataset):
    seen = follow(ResNet(30, "all"), dataset, TrainingSettings(rate=1e6, epochs=5), records=5)
    assert seen.diverged
    assert seen.epochs[0] == 0
    assert len(seen.epochs) == len(seen.pseudo) < 6


def test_only_networks_that_have_one(dataset):
    with pytest.raises(InputError, match="no pseudo network"):
        follow(GeneralResNet(8), dataset, SETTINGS)


def test_signs_are_counted_one_by_one(dataset):
    network = TwoLayers(30, "all")
    seen = follow(network, dataset, SETTINGS, records=1)
    weights = [
        train(network, dataset, settings, dtype=torch.float64).weights["W"]
        for settings in (TrainingSettings(rate=0.0, epochs=1, seed=3), SETTINGS)
    ]
    before, after = (with_ones(dataset.X) @ W[0].T > 0 for W in weights)
    assert seen.sign_changes["first"][-1] == pytest.approx(float((before != after).double().mean()))
