"""Terminals that cannot print are neither verified nor refuted, and nothing that was computed is lost."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from widenet.cli import common

UNPRINTED = 74


@pytest.fixture(scope="module")
def memorised(tmp_path_factory) -> Path:
    """A folder whose certificate is true."""
    import widenet

    place = tmp_path_factory.mktemp("memorised")
    rng = np.random.default_rng(0)
    np.savez(place / "rows.npz", X=rng.normal(size=(10, 5)), y=np.array(list("ab"))[np.arange(10) % 2])
    widenet.memorise(str(place / "rows.npz")).save(place / "folder")
    return place / "folder"


def full():
    return open("/dev/full", "w")


def left():
    """A pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    return os.fdopen(writer, "w")


@pytest.fixture
def printing(monkeypatch, tmp_path):
    """Run the command line with another stdout or stderr; returns the exit code."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, **streams) -> int:
        from widenet import cli

        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["widenet", *arguments])
            for name, stream in streams.items():
                patch.setattr(sys, name, stream)
            with pytest.raises(SystemExit) as stop:
                cli.main()
        for stream in streams.values():
            if stream is not None:
                stream.close()
        return int(stop.value.code or 0)

    return run


@pytest.mark.parametrize("stream", [full, left])
@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_a_verdict_that_cannot_be_printed_has_a_code_of_its_own(printing, memorised, capsys, stream, as_json):
    assert printing("verify", str(memorised), "-q", *as_json, stdout=stream()) == UNPRINTED
    err = capsys.readouterr().err
    assert "Traceback" not in err
    if stream is full:
        assert f"{os.strerror(errno.ENOSPC)}); this exit code says nothing of the result" in err


@pytest.mark.parametrize("stream", [full, left, lambda: None])
@pytest.mark.parametrize(("changed", "code"), [(False, 0), (True, 1)])
def test_news_that_cannot_be_printed_change_no_verdict(
    printing, memorised, tmp_path, capsys, stream, changed, code
):
    import shutil

    folder = shutil.copytree(memorised, tmp_path / "folder")
    if changed:
        (folder / "report.html").write_text("other")
    assert printing("verify", str(folder), stderr=stream()) == code
    assert ("Refuted" if changed else "Verified") in capsys.readouterr().out


def test_no_stdout_at_all_leaves_the_verdict_in_the_code(printing, memorised):
    assert printing("verify", str(memorised), "-q", stdout=None) == 0


@pytest.mark.parametrize("stream", [full, left])
def test_a_study_is_written_before_it_is_printed(printing, memorised, stream):
    data = str(memorised.parent / "rows.npz")
    assert printing("memorise", data, "--out", "o", "-q", stdout=stream()) == UNPRINTED
    assert printing("verify", "o", data, "-q") == 0


@pytest.mark.parametrize("arguments", [("theory",), ("theory", "--json"), ("data",)])
@pytest.mark.parametrize("stream", [full, left])
def test_other_commands_end_without_a_traceback(printing, capsys, arguments, stream):
    assert printing(*arguments, stdout=stream()) == UNPRINTED
    assert "Traceback" not in capsys.readouterr().err


def test_help_that_cannot_be_printed(printing, capsys):
    assert printing("audit", "--help", stdout=full()) == UNPRINTED
    assert "Output failed" in capsys.readouterr().err


def test_ascii_and_twenty_columns_are_printed_legibly(printing, memorised, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "20")
    for encoding, least in (("utf-8", "σ_min is"), ("ascii", "sigma_min is"), ("latin-1", "sigma_min is")):
        with (tmp_path / "told.txt").open("w", encoding=encoding) as told:
            assert printing("verify", str(memorised), "-q", stdout=told) == 0
        text = (tmp_path / "told.txt").read_text(encoding)
        assert least in text
        assert "Verified: 9 checks passed" in " ".join(text.split())
        assert "?" not in text
        assert encoding != "utf-8" or max(map(len, text.splitlines())) <= 20


@pytest.mark.parametrize("columns", ["0", "1", "-5", "many"])
def test_columns_beyond_reason(printing, memorised, monkeypatch, capsys, columns):
    monkeypatch.setenv("COLUMNS", columns)
    assert printing("verify", str(memorised), "-q") == 0
    assert "Verified" in capsys.readouterr().out.replace("\n", "")


def test_a_fault_of_ours_is_no_refutation(printing, memorised, monkeypatch, capsys):
    monkeypatch.setattr("widenet.memorise.checker.verify.parse_claim", lambda content: 1 / 0)
    assert printing("verify", str(memorised), "-q") == common.UNEXPECTED
    assert "Unexpected ZeroDivisionError" in capsys.readouterr().err


def test_a_whole_process_ends_with_that_code(tmp_path):
    """Python itself flushes its streams at the end, and would end with 120."""
    command = [sys.executable, "-m", "widenet"]
    with full() as stdout:
        done = subprocess.run([*command, "--version"], stdout=stdout, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (UNPRINTED, 1)
    with left() as stdout:
        done = subprocess.run([*command, "data"], stdout=stdout, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (UNPRINTED, "")
