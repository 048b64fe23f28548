"""A state on disk: whole or not there, and only for the run that it belongs to."""

import errno
import os
from pathlib import Path

import pytest
import torch

from widenet.base.errors import InputError, WidenetError
from widenet.memorise import checkpoint as checkpoint_module
from widenet.runs.checkpoint import Checkpoint, checkpoint_path


@pytest.fixture
def state() -> dict[str, torch.Tensor]:
    W = torch.randn(3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    return {
        "W": W,
        "before": W,
        "t": torch.tensor(7),
        "finished": torch.tensor(False),
        "strip": W[:, 1],
        "turned": W.T,
    }


def test_what_is_saved_comes_back_bit_for_bit(state, tmp_path):
    Checkpoint(tmp_path / "deep" / "a", "me").save(state, {"seconds": "1.5"})
    saved = Checkpoint(tmp_path / "deep" / "a", "me").load()
    assert saved.notes == {"seconds": "1.5"}
    assert set(saved.state) == set(state)
    for name, tensor in state.items():
        assert saved.state[name].dtype == tensor.dtype
        assert torch.equal(saved.state[name], tensor)
        assert saved.state[name].data_ptr() % 64 == 0
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["a"]


def test_an_empty_state_keeps_its_notes(tmp_path):
    Checkpoint(tmp_path / "a", "me").save({}, {"conditions": "{}"})
    saved = Checkpoint(tmp_path / "a", "me").load()
    assert (saved.state, saved.notes) == ({}, {"conditions": "{}"})


def test_nothing_there(tmp_path):
    assert Checkpoint(tmp_path / "a", "me").load() is None


def test_another_run_is_refused_or_restarted(state, tmp_path):
    Checkpoint(tmp_path / "a", "me").save(state, {})
    other = Checkpoint(tmp_path / "a", "you")
    with pytest.raises(InputError, match=r"other data or settings.*--force"):
        other.load()
    assert other.load(restart=True) is None
    assert Checkpoint(tmp_path / "a", "me").load() is not None


@pytest.mark.parametrize("content", [b"", b"\x00" * 7, b"not a checkpoint at all", None])
def test_damage(state, tmp_path, content):
    path = tmp_path / "a"
    mine = Checkpoint(path, "me")
    mine.save(state, {})
    path.write_bytes(path.read_bytes()[:-5] if content is None else content)
    with pytest.raises(InputError, match=r"damaged.*--force"):
        mine.load()
    assert mine.load(restart=True) is None


def test_it_is_written_now_and_then(state, tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(checkpoint_module.time, "monotonic", lambda: now[0])
    mine = Checkpoint(tmp_path / "a", "me")
    mine.save_if_due(state, {})
    assert not mine.path.exists()
    now[0] += checkpoint_module.EVERY
    mine.save_if_due(state, {})
    assert mine.path.exists()
    mine.remove()
    mine.save_if_due(state, {})
    assert not mine.path.exists()


def test_a_full_disk_is_told_with_its_path_and_loses_nothing(state, tmp_path, monkeypatch):
    mine = Checkpoint(tmp_path / "a", "me")
    mine.save(state, {"number": "1"})

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(checkpoint_module.os, "fsync", full)
    with pytest.raises(WidenetError, match=r"a \(No space left on device\)"):
        mine.save(state, {"number": "2"})
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert mine.load().notes == {"number": "1"}


def test_it_lies_beside_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert checkpoint_path(Path("result")) == tmp_path.resolve() / "result.checkpoint.safetensors"
    assert checkpoint_path(Path("x/..")).parent == tmp_path.resolve().parent


def test_removing_twice(state, tmp_path):
    mine = Checkpoint(tmp_path / "a", "me")
    mine.save(state, {})
    mine.remove()
    mine.remove()
    assert not mine.path.exists()


def test_it_knows_whether_the_file_is_this_runs(state, tmp_path):
    mine, other = Checkpoint(tmp_path / "a", "me"), Checkpoint(tmp_path / "a", "other")
    assert not mine.kept
    mine.save(state, {})
    assert mine.kept
    again = Checkpoint(tmp_path / "a", "me")
    again.load()
    other.load(restart=True)
    assert (again.kept, other.kept) == (True, False)
