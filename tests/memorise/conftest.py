"""True certificates, made once, and copies of them to spoil."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzz.forgery import Forgery
from widenet.data import load
from widenet.memorise.checker.verify import Check, VerifyResult, verify
from widenet.memorise.run import run_memorise
from widenet.memorise.settings import MemoriseSettings


class Found:
    """What verifying found, check by check."""

    def __init__(self, verification: VerifyResult) -> None:
        self.verified, self.checks = verification.verified, verification.checks

    def status(self, name: str) -> str:
        return self._check(name).status.value

    def sentence(self, name: str) -> str:
        return self._check(name).sentence

    def _check(self, name: str) -> Check:
        return next(check for check in self.checks if check.name == name)


class Folder(Forgery):
    """A folder with a certificate and its weights, to lie about."""

    @classmethod
    def memorised(cls, path: Path, source: str, **settings: Any) -> "Folder":
        """What memorising leaves."""
        dataset = load(source)
        # Without the hash of the file, so that other files with other rows are told by these.
        dataset = replace(dataset, origin=replace(dataset.origin, file_sha256=None))
        run_memorise(dataset, MemoriseSettings(**settings)).save(path)
        return cls(path)

    def verify(self, data: str | None = None) -> Found:
        return Found(verify(self.path, data))


def write_rows(path: Path, n: int, d: int, *, numbers: bool = False) -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=n) if numbers else np.array(list("abc"))[np.arange(n) % 3]
    np.savez(path, X=rng.normal(size=(n, d)), y=y)


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Path:
    """Data, and folders of true certificates: two layers, three with noise, and numbers."""
    place = tmp_path_factory.mktemp("made")
    write_rows(place / "rows.npz", 14, 6)
    write_rows(place / "more.npz", 60, 5)
    write_rows(place / "numbers.npz", 20, 8, numbers=True)
    Folder.memorised(place / "two", str(place / "rows.npz"), layers=2)
    Folder.memorised(place / "three", str(place / "more.npz"), layers=3, perturb=0.01, seed=7)
    Folder.memorised(place / "numbers", str(place / "numbers.npz"))
    return place


@pytest.fixture
def copy_of(made, tmp_path):
    """Copies of the folders by their names, to spoil."""
    return lambda name: Folder(shutil.copytree(made / name, tmp_path / name))


@pytest.fixture
def folder(copy_of) -> Folder:
    """A copy of the two-layer folder."""
    return copy_of("two")


@pytest.fixture
def memorised(tmp_path):
    """Memorise a source into a folder of its own."""
    return lambda source, **settings: Folder.memorised(tmp_path / "memorised", source, **settings)
