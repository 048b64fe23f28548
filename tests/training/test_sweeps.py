"""Sweeps: order, threads, stores, and runs as JSON."""

import json
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from importlib import import_module
from multiprocessing import get_context

import pytest
import torch

from widenet.base.errors import InputError, WidenetError
from widenet.data import load
from widenet.networks.names import ARCHITECTURES, network_by_name
from widenet.runs import Store, code, code_version
from widenet.runs.records import pack_json, unpack_json
from widenet.training import sweeps as module
from widenet.training.run import TrainingRun
from widenet.training.settings import TrainingSettings
from widenet.training.sweeps import sweep, train

BASE = TrainingSettings(batch=20, epochs=3)
GRID = [
    replace(BASE, rate=rate, decay=decay, seed=seed)
    for seed in (0, 1)
    for rate in (0.01, 0.1, 1e6)
    for decay in (0.0, 0.01)
]


@pytest.fixture(scope="module")
def dataset():
    return load("resnet-cube:n=80,d=8")


def table(runs):
    """All that runs say, but the time they took."""
    return [{**run.to_dict(), "seconds": 0} for run in runs]


def test_runs_come_in_the_order_of_the_grid(dataset):
    network = network_by_name("3resnet-all", 20)
    threads = torch.get_num_threads()
    runs = sweep(network, dataset, GRID, test=dataset)
    assert [run.settings for run in runs] == GRID
    assert [run.diverged for run in runs] == [settings.rate > 1 for settings in GRID]
    assert torch.get_num_threads() == threads
    alone = train(network, dataset, GRID[1], test=dataset)
    assert alone.train_loss == pytest.approx(runs[1].train_loss, rel=1e-6)
    torch.testing.assert_close(alone.outputs(dataset.X)[0], alone.outputs(dataset.X[:1])[0])


def test_finished_runs_are_not_trained_again(dataset, tmp_path, monkeypatch):
    network = network_by_name("3resnet-hidden", 10)
    with Store(tmp_path / "runs.sqlite") as store:
        first = sweep(network, dataset, GRID[:3], store=store, keep_weights=True)
        calls = []
        original = module.train_together
        monkeypatch.setattr(
            module, "train_together", lambda *args, **kw: calls.append(args[2]) or original(*args, **kw)
        )
        again = sweep(network, dataset, GRID[:4], store=store, keep_weights=True)
    assert [settings for group in calls for settings in group] == [GRID[3]]
    assert [run.to_dict() for run in again[:3]] == [run.to_dict() for run in first]
    assert torch.equal(again[0].weights["W"], first[0].weights["W"])
    undisturbed = sweep(network, dataset, GRID[:4])
    assert table(undisturbed) == table(again)


def test_other_data_widths_and_settings_are_other_runs(dataset, tmp_path):
    seen = []
    with Store(tmp_path / "runs.sqlite") as store:
        for network, rows in (
            (network_by_name("2layer-all", 10), dataset),
            (network_by_name("2layer-all", 11), dataset),
            (network_by_name("2layer-hidden", 10), dataset),
            (network_by_name("2layer-all", 10), load("resnet-cube:n=80,d=8,seed=1")),
        ):
            seen.append(sweep(network, rows, [BASE], store=store)[0].train_loss)
    assert len(set(seen)) == 4


def test_a_process_gives_the_same_runs(dataset):
    network = network_by_name("2layer-all", 10)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        there = sweep(network, dataset, GRID[:2], executor=pool)
    assert table(there) == table(sweep(network, dataset, GRID[:2]))


FORKING = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import torch

from widenet.data import load
from widenet.networks.names import network_by_name
from widenet.training.settings import TrainingSettings
from widenet.training.sweeps import sweep

torch.set_num_threads(2)
torch.ones(1 << 20).exp()  # the threads that this starts are missing in a forked process
network, dataset = network_by_name("2layer-all", 10), load("resnet-cube:n=80,d=8")
grid = [TrainingSettings(batch=20, epochs=3)]
with ProcessPoolExecutor(1, get_context("fork")) as pool:
    (there,) = sweep(network, dataset, grid, executor=pool)
(here,) = sweep(network, dataset, grid)
assert {**there.to_dict(), "seconds": 0} == {**here.to_dict(), "seconds": 0}
"""


@pytest.mark.slow
def test_a_forked_process_gives_the_same_runs():
    """From a process of its own: what other tests left running in this one must not be forked along."""
    subprocess.run([sys.executable, "-W", "error", "-c", FORKING], check=True, timeout=120)


def test_runs_survive_json(dataset):
    run = sweep(network_by_name("2layer-all", 10), dataset, [replace(BASE, rate=1e6)], test=dataset)[0]
    assert run.diverged
    assert repr(TrainingRun.from_dict(unpack_json(pack_json(run.to_dict())))) == repr(run)  # nan is not nan
    assert json.loads(pack_json(run.to_dict()))["network"] == "2layer-all"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rate": -1}, "rate must be finite"),
        ({"rate": float("nan")}, "rate must be finite"),
        ({"decay": -0.1}, "decay must be finite"),
        ({"momentum": 1}, "momentum must be"),
        ({"batch": 0}, "batch must be positive"),
        ({"epochs": 0}, "epochs must be positive"),
        ({"drops": (1.5,)}, "drops are shares"),
        ({"loss": "hinge"}, "loss must be one of"),
        ({"optimiser": "lion"}, "optimiser must be one of"),
        ({"sampling": "never"}, "sampling must be one of"),
    ],
)
def test_impossible_settings_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        TrainingSettings(**wrong)


def test_an_empty_grid_and_an_endless_width_are_refused(dataset):
    with pytest.raises(InputError, match="at least one setting"):
        sweep(network_by_name("2layer-all", 10), dataset, [])
    with pytest.raises(InputError, match="needs about"):
        sweep(network_by_name("3layer-all", 10**7), dataset, [BASE])


def test_a_test_set_of_another_shape_is_refused(dataset):
    with pytest.raises(InputError, match="prepared alike"):
        sweep(network_by_name("2layer-all", 10), dataset, [BASE], test=load("resnet-cube:n=80,d=12"))


def test_failed_runs_are_told(dataset, monkeypatch):
    def fail(*args, **kwargs):
        raise ValueError("broken")

    monkeypatch.setattr(module, "train_together", fail)
    with pytest.raises(WidenetError, match=r"2 of 2 runs failed.*broken"):
        sweep(network_by_name("2layer-all", 10), dataset, [BASE, replace(BASE, rate=0.2)])


def test_two_processes_share_the_groups_of_a_store(dataset, tmp_path):
    """No more groups are claimed at a time than there are threads to run them."""
    grid = [replace(BASE, seed=seed) for seed in range(12)]
    claimed = []
    with pytest.MonkeyPatch.context() as patch:
        original = Store.claim
        patch.setattr(Store, "claim", lambda self, trials: claimed.append(1) or original(self, trials))
        counts = []
        with Store(tmp_path / "runs.sqlite") as store:
            sweep(
                network_by_name("2layer-all", 10),
                dataset,
                grid,
                store=store,
                progress=lambda stage, done, total: counts.append((done, len(claimed))),
            )
    assert max(ahead - done for done, ahead in counts) <= torch.get_num_threads()


OUTSIDE = """
from dataclasses import dataclass

from widenet.networks.fully_connected import TwoLayers


@dataclass(frozen=True)
class MyNet(TwoLayers):
    architecture = "mynet"
"""


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """A folder where modules can be put, all of which are forgotten at the end."""
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("mynet", None)
    code._path.cache_clear()
    code_version.cache_clear()


def test_a_network_from_outside_takes_one_file_and_one_line(dataset, outside, monkeypatch):
    (outside / "mynet.py").write_text(OUTSIDE)
    mynet = import_module("mynet")
    with pytest.raises(InputError, match="a network that has a name, not mynet-all: add its class"):
        sweep(mynet.MyNet(10), dataset, [BASE])
    monkeypatch.setitem(ARCHITECTURES, "mynet", mynet.MyNet)
    network = network_by_name("mynet-all", 10)
    with Store(outside / "runs.sqlite") as store:
        run = sweep(network, dataset, [BASE], store=store, keep_weights=True)[0]
        again = sweep(network, dataset, [BASE], store=store, keep_weights=True)[0]
    assert run.to_dict() == again.to_dict()
    assert run.train_loss == sweep(network_by_name("2layer-all", 10), dataset, [BASE])[0].train_loss
    assert run.outputs(dataset.X).shape == dataset.Y.shape


def test_a_change_of_the_file_of_a_network_is_another_version(outside):
    versions = {module._code(network_by_name("2layer-all", 10))}
    for comment in ("", "# changed"):
        (outside / "mynet.py").write_text(OUTSIDE + comment)
        code_version.cache_clear()
        versions.add(module._code(import_module("mynet").MyNet(10)))
    assert len(versions) == 3


def test_a_network_without_a_source_file_is_not_stored(dataset, outside, monkeypatch):
    (outside / "mynet.py").write_text(OUTSIDE)
    typed = type("MyNet", (import_module("mynet").MyNet,), {"__module__": "prompt"})
    monkeypatch.setitem(ARCHITECTURES, "mynet", typed)
    assert not sweep(typed(10), dataset, [BASE])[0].diverged
    with Store(outside / "runs.sqlite") as store, pytest.raises(InputError, match="MyNet has no source file"):
        sweep(typed(10), dataset, [BASE], store=store)
