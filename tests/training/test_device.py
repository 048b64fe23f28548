"""Networks are trained where they are told to, and end as on the CPU."""

from dataclasses import asdict, replace

import pytest
import torch

from tests.toy_device import ToyTensor, numbers
from widenet.base.errors import InputError
from widenet.data import load
from widenet.networks.names import network_by_name, network_names
from widenet.networks.two_layer import draw_fine_grained
from widenet.training import TrainingSettings, sweep, train
from widenet.training.descent import UnseenRows, descend

SETTINGS = TrainingSettings(rate=0.05, epochs=3, batch=16, momentum=0.9, decay=1e-3)


@pytest.fixture
def cube():
    return load("resnet-cube:n=40,d=8")


def found(run):
    """All that depends on no clock; without norms, which torch finds another way of wrapped tensors."""
    return numbers(run) | {"seconds": None, "moved": None}


@pytest.mark.parametrize("name", network_names())
def test_every_network_trains_there(name, cube, toy):
    here, there = (
        train(network_by_name(name, 12), cube, SETTINGS, test=cube, device=device)
        for device in ("cpu", "toy")
    )
    assert all(isinstance(part, ToyTensor) for part in there.weights.values())
    assert found(here) == found(there)
    assert here.moved.keys() == there.moved.keys()
    for name, moved in here.moved.items():
        assert asdict(there.moved[name]) == pytest.approx(asdict(moved))
    assert numbers(here.outputs(cube.X)) == numbers(there.outputs(cube.X))


@pytest.mark.parametrize(
    "changes", [{"optimiser": "adam"}, {"sampling": "replacement"}, {"batch": None, "decay_two_four": 1e-3}]
)
def test_every_way_to_train_does(changes, cube, toy):
    network, settings = network_by_name("3layer-hidden", 12), replace(SETTINGS, **changes)
    assert found(train(network, cube, settings)) == found(train(network, cube, settings, device="toy"))


def test_a_sweep_goes_on_there_without_those_that_diverge(cube, toy):
    network, grid = (
        network_by_name("2layer-all", 12),
        [replace(SETTINGS, rate=rate) for rate in (0.01, 1e9, 0.1)],
    )
    here, there = (sweep(network, cube, grid, keep_weights=True, device=device) for device in ("cpu", "toy"))
    assert [run.diverged for run in there] == [False, True, False]
    assert [found(here[place]) for place in (0, 2)] == [found(there[place]) for place in (0, 2)]
    assert there[0].weights["A"].device.type == "cpu"


def test_devices_that_cannot_be_trained_on_are_refused(cube, toy):
    with pytest.raises(InputError, match="There is no device 'gpu' here"):
        train(network_by_name("2layer-all", 4), cube, SETTINGS, device="gpu")
    with pytest.raises(InputError, match="leave `device` or `cluster` out"):
        sweep(network_by_name("2layer-all", 4), cube, [SETTINGS], device="toy", cluster="tcp://127.0.0.1:1")


def test_descent_runs_where_rows_and_weights_are(cube, toy):
    def run(device):
        params = draw_fine_grained(
            16, 8, 1.0, generator=torch.Generator().manual_seed(0), dtype=torch.float32, device=device
        )
        X, y = cube.X.to(device), cube.Y[:, 0].to(device)
        return descend(params, X, y, eta=0.1, num_steps=5, num_records=2, unseen=UnseenRows(X, y))

    assert numbers(run("cpu")) == numbers(run(toy))
