import csv
import io
import json
import math
import os

import pytest

from widenet.base.errors import InputError
from widenet.report.parts import files
from widenet.report.parts.files import check_folder, to_json, write_folder

FILES = {"result.json": "{}\n", "report.html": "<p>λ</p>", "weights.bin": b"\x00\x01"}


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def expected(written=FILES):
    return {name: text if isinstance(text, bytes) else text.encode() for name, text in written.items()}


def refuse_constants(name):
    raise AssertionError(name)


def test_json_is_strict_and_keeps_order_and_precision(task, result_of):
    record = result_of(task).to_dict()
    read = json.loads(to_json(record), parse_constant=refuse_constants)
    assert list(read) == list(record)
    assert read["curve"]["loss"] == list(record["curve"]["loss"])
    odd = {"b": math.nan, "a": [math.inf, 0.1 + 0.2, {"c": -math.inf}], "z": None, "t": True}
    assert json.loads(to_json(odd)) == {"b": None, "a": [None, 0.1 + 0.2, {"c": None}], "z": None, "t": True}


def test_folder_is_written_whole(tmp_path):
    out = tmp_path / "new" / "result"
    write_folder(out, FILES, force=False)
    assert contents(out) == expected()
    assert [path.name for path in out.parent.iterdir()] == ["result"]


def test_existing_folder_needs_force(tmp_path):
    out = tmp_path / "result"
    write_folder(out, FILES, force=False)
    with pytest.raises(InputError, match=r"already exists; .* `force=True`"):
        write_folder(out, FILES | {"result.json": "new"}, force=False)
    assert contents(out) == expected()
    write_folder(out, FILES | {"result.json": "new"}, force=True)
    assert contents(out) == expected(FILES | {"result.json": "new"})
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_empty_folder_is_replaced_with_force(tmp_path):
    out = tmp_path / "result"
    out.mkdir()
    write_folder(out, FILES, force=True)
    assert contents(out) == expected()


def test_force_spares_what_is_not_a_result(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="not an earlier result"):
        write_folder(home, FILES, force=True)
    (home / "result.json").write_text("{}")
    with pytest.raises(InputError, match=r"also holds 'thesis\.tex'"):
        write_folder(home, FILES, force=True)
    assert (home / "thesis.tex").read_text() == "years of work"


def test_working_folder_is_not_replaced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="working in"):
        write_folder(tmp_path, FILES, force=True)


def test_link_to_a_folder_stays_a_link(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    write_folder(link, FILES, force=True)
    assert link.is_symlink()
    assert contents(real) == expected()


def test_file_in_place_of_the_folder(tmp_path):
    (tmp_path / "result").write_text("mine")
    with pytest.raises(InputError, match="is a file"):
        write_folder(tmp_path / "result", FILES, force=True)
    with pytest.raises(InputError, match="is a file"):
        write_folder(tmp_path / "result" / "below", FILES, force=False)
    assert (tmp_path / "result").read_text() == "mine"


def test_unwritable_parent_is_refused_before_anything_is_computed(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write anywhere, so it is pretended
    with pytest.raises(InputError, match="not writable"):
        check_folder(tmp_path / "result", FILES, force=False)


def test_full_disk_is_one_sentence(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left on device"):
        write_folder(tmp_path / "result", FILES, force=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("step", ["_write_file", "_flush_folder", "_take_place"])
@pytest.mark.parametrize("existing", [False, True])
def test_interrupt_leaves_the_old_or_nothing(tmp_path, monkeypatch, step, existing):
    out = tmp_path / "result"
    if existing:
        write_folder(out, FILES, force=False)

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(files, step, interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_folder(out, FILES | {"result.json": "new"}, force=True)
    assert [path.name for path in tmp_path.iterdir()] == (["result"] if existing else [])
    assert not existing or contents(out) == expected()


def test_interrupt_between_the_renames_restores_the_old(tmp_path, monkeypatch):
    out = tmp_path / "result"
    write_folder(out, FILES, force=False)
    rename = type(out).rename

    def interrupted(path, target):
        if path.suffix == ".new":
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(files, "exchange", lambda first, second: False)  # where it takes two steps
    monkeypatch.setattr(type(out), "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_folder(out, FILES | {"result.json": "new"}, force=True)
    assert contents(out) == expected()
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_a_table_as_text_is_read_back_whole():
    rows = [["1", 'says "a, b"'], ["", "two\nlines"]]
    text = files.csv_text(("n", "words"), rows)
    assert list(csv.reader(io.StringIO(text))) == [["n", "words"], *rows]
    assert files.csv_text(("x",), [(0.1 + 0.2,), (None,)]).splitlines() == ["x", "0.30000000000000004", '""']
