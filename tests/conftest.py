"""What several test folders share."""

import os
from pathlib import Path

import pytest
import torch

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


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
