import pytest

from widenet.base.errors import InputError
from widenet.base.limits import Places
from widenet.base.memory import available_bytes, require_memory


def test_this_machine_has_some_memory():
    available = available_bytes()
    assert available is None or 2**20 < available < 2**50


def test_what_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr("widenet.base.memory.available_bytes", lambda: 2 * 2**30)
    require_memory(2**31, "A matrix")
    with pytest.raises(InputError, match=r"A matrix needs about 3\.0 GiB .* 2\.0 GiB"):
        require_memory(3 * 2**30, "A matrix")


def test_unknown_memory_refuses_nothing(monkeypatch):
    monkeypatch.setattr("widenet.base.memory.available_bytes", lambda: None)
    assert require_memory(2**60, "A matrix") is None


def test_limit_of_the_container(tmp_path, monkeypatch):
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "cgroup").write_text("0::/\n")
    monkeypatch.setattr("widenet.base.memory.PLACES", Places(tmp_path, tmp_path))
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("2000\n")
    assert available_bytes() == 3000
    (tmp_path / "memory.max").write_text("max\n")
    assert available_bytes() != 3000
