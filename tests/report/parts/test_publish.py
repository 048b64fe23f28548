"""A folder is filled by the doors of a room, whole or not at all."""

import json
from types import SimpleNamespace

import pytest

from widenet.base.errors import InputError
from widenet.report.parts.publish import all_files, publish


def room(**doors):
    told = {"page": lambda result: "<p>", "record": lambda result: {"a": result.value}, "FILES": ("x.csv",)}
    return SimpleNamespace(**told | {"files": lambda result: {"x.csv": "1"}} | doors)


def result(value=1):
    return SimpleNamespace(value=value, placed=lambda out: result(value=str(out.name)))


def test_every_door_is_used_and_the_result_knows_its_place(tmp_path):
    written = publish(room(), result(), tmp_path / "out", {"seed": 3}, force=False)
    assert written.value == "out"
    assert {path.name for path in (tmp_path / "out").iterdir()} == {*all_files(room())}
    assert json.loads((tmp_path / "out/result.json").read_text()) == {"a": "out"}
    assert json.loads((tmp_path / "out/config.json").read_text()) == {"seed": 3}


def test_an_earlier_result_with_more_files_is_replaced(tmp_path):
    publish(room(), result(), tmp_path / "out", {}, force=False)
    fewer = room(files=lambda result: {})
    with pytest.raises(InputError, match="already exists"):
        publish(fewer, result(), tmp_path / "out", {}, force=False)
    publish(fewer, result(), tmp_path / "out", {}, force=True)
    assert not (tmp_path / "out/x.csv").exists()


def test_a_door_that_fails_leaves_nothing(tmp_path):
    def fail(result):
        raise RuntimeError

    with pytest.raises(RuntimeError):
        publish(room(page=fail), result(), tmp_path / "out", {}, force=False)
    assert not list(tmp_path.iterdir())
