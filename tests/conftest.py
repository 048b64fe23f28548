"""What several test folders share."""

import gc
import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests import toy_device
from widenet import cli
from widenet.data import Dataset, load

Run = Callable[..., tuple[int, str, str]]
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with those that take longest, so that no core waits for one of them at the end."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_collection_finish() -> None:
    """Leave the thousands of tests themselves out of searches for garbage, which took a second each."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def data_dir(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of the built-in image sets, set as $WIDENET_DATA; skips where there is none."""
    for folder in (os.environ.get("WIDENET_DATA"), BESIDE):
        if folder and Path(folder).is_dir():
            monkeypatch.setenv("WIDENET_DATA", str(folder))
            return Path(folder)
    pytest.skip("needs the image sets: set WIDENET_DATA to a folder that holds them")


@pytest.fixture
def generator() -> torch.Generator:
    """A fresh generator, so that no test depends on another's draws."""
    return torch.Generator().manual_seed(0)


@pytest.fixture(scope="session", autouse=True)
def toy_device_is_known() -> None:
    """Before any test: gradients do not pass through a device that is registered after the first of them."""
    toy_device.register()


@pytest.fixture(scope="session")
def toy() -> torch.device:
    """A device that computes on the CPU and refuses what a graphics card refuses."""
    return toy_device.register()


@pytest.fixture
def arrays(tmp_path: Path) -> Callable[[np.ndarray, np.ndarray], Dataset]:
    """A data set of rows X and targets y, scaled to the unit sphere and nothing else."""

    def make(X: np.ndarray, y: np.ndarray) -> Dataset:
        path = tmp_path / "small.npz"
        np.savez(path, X=X, y=y)
        return load(str(path), prepare="unit")

    return make


@pytest.fixture
def table(tmp_path):
    """A data set of rows X and targets y, from a file."""

    def make(X, y, prepare="unit") -> Dataset:
        path = tmp_path / "table.npz"
        np.savez(path, X=np.asarray(X, dtype=float), y=np.asarray(y))
        return load(str(path), prepare=prepare)

    return make


@pytest.fixture
def binary(arrays) -> Dataset:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    return arrays(X, np.where(X[:, 0] + X[:, 1] > 0, "up", "down"))


@pytest.fixture
def multiclass(arrays) -> Dataset:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 5))
    return arrays(X, np.array(["a", "b", "c"])[X[:, :3].argmax(1)])


@pytest.fixture
def regression(arrays) -> Dataset:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 4))
    return arrays(X, X[:, 0] * 3 + X[:, 1] ** 2)


@pytest.fixture
def widenet(monkeypatch, capsys, tmp_path) -> Run:
    """Run the command line in an empty folder; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["widenet", *arguments])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return run


@pytest.fixture(scope="session")
def make_dask() -> Callable[..., Any]:
    """Makes a cluster of some worker processes of one thread on this machine."""
    from distributed import LocalCluster

    fixed = {"processes": True, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    return lambda num_workers, **options: LocalCluster(
        n_workers=num_workers, silence_logs="CRITICAL", **fixed, **options
    )


@pytest.fixture(scope="session")
def dask(make_dask) -> Iterator[Any]:
    """A cluster of two workers; tests that use it belong to one `xdist_group`."""
    with make_dask(2) as cluster:
        yield cluster


@pytest.fixture
def unused_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]
