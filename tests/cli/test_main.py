"""The group of commands, and what they all share."""

import errno
import json
import os
from importlib import import_module
from pathlib import Path

import pytest

from widenet.cli.common import UNEXPECTED


def test_help_shows_whole_lines_in_80_columns(widenet, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = widenet("--help")
    assert code == 0
    assert not [line for line in out.splitlines() if line.endswith("...") and "Usage" not in line]
    assert max(map(len, out.splitlines())) <= 80
    for command in ("audit", "compare", "memorise", "verify", "theory", "data", "doctor"):
        assert f"\n  {command} " in out


@pytest.mark.parametrize("command", ["audit", "compare", "memorise", "verify", "data", "doctor"])
def test_every_command_has_help(widenet, command):
    code, out, _ = widenet(command, "--help")
    assert code == 0
    assert "--debug" in out


@pytest.mark.parametrize("arguments", [["audot"], ["audit", "--kernle", "x"], ["compare", "--folds", "many"]])
def test_wrong_usage_is_told_without_a_traceback(widenet, arguments):
    code, out, err = widenet(*arguments)
    assert (code, out) == (2, "")
    assert "Traceback" not in err


@pytest.mark.parametrize(("given", "used"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_waiting_threads_leave_the_cores_to_others(widenet, monkeypatch, given, used):
    monkeypatch.setenv("OMP_WAIT_POLICY", given or "")
    if given is None:
        monkeypatch.delenv("OMP_WAIT_POLICY")
    widenet("--help")
    assert os.environ["OMP_WAIT_POLICY"] == used


def test_a_forecast_beyond_an_hour_is_refused_with_the_flag_that_allows_it(widenet, monkeypatch):
    from widenet.audit.findings import GramPlan, Held
    from widenet.study.forecast import Forecast

    monkeypatch.setattr(
        "widenet.audit.run.forecast_audit", lambda *_, **__: (Forecast(9000.0, 1), GramPlan(Held.DENSE, 0))
    )
    code, out, err = widenet("audit", "resnet-cube:n=40", "-q")
    assert (code, out) == (2, "")
    assert (
        err
        == "widenet: This would take about 2.5 hours: audit a sample with --rows, or allow it with --yes.\n"
    )
    assert widenet("audit", "resnet-cube:n=40", "-q", "--yes", "--json")[0] == 0


def test_an_audit_of_some_rows(widenet):
    code, out, _ = widenet("audit", "resnet-cube:n=40", "-q", "--rows", "25", "--json")
    data = json.loads(out)["data"]
    assert (code, data["n"], data["drawn_from"]) == (0, 25, 40)
    _, out, _ = widenet("audit", "resnet-cube:n=40", "-q", "--rows", "25", "--out", "some")
    assert out.splitlines()[1].strip().startswith("25 of 40 rows were drawn at random")


def test_an_audit_of_all_rows_by_landmarks(widenet):
    arguments = ("audit", "resnet-cube:n=60", "-q", "--rows", "30", "--landmarks", "12")
    code, out, _ = widenet(*arguments, "--json")
    found = json.loads(out)
    assert (code, found["data"]["n"], found["data"]["drawn_from"]) == (0, 60, None)
    assert {name: found["whole"][name] for name in ("n", "num_sampled", "num_landmarks")} == {
        "n": 60,
        "num_sampled": 30,
        "num_landmarks": 12,
    }
    assert found["whole"]["low"] < found["whole"]["loo"]["error"] < found["whole"]["high"]
    _, out, _ = widenet(*arguments, "--out", "all")
    assert out.splitlines()[1].strip().startswith("Targets and errors are of all 60 rows")
    assert len(Path("all", "labels.csv").read_text().splitlines()) == 61


@pytest.mark.slow
def test_every_json_has_its_sentences_under_verdict(widenet):
    calls = {
        "audit": ["audit", "resnet-cube:n=40"],
        "compare": ["compare", "digits", "--rows", "120", "--methods", "ridge,gaussian", "--folds", "2"],
        "memorise": ["memorise", "digits", "--out", "memorised"],
        "verify": ["verify", "memorised"],
        "inside": ["theory", "inside", "--data", "resnet-cube:n=40", "--width", "64"],
        "theory": ["theory", "kernel-lower-bound", "num_samples=3", "d1=6", "k=2", "alpha=0.5"],
        "separation": ["theory", "separation", "--d1", "5", "--k", "2", "--sizes", "4,8", "--members", "1"],
    }
    calls["separation"] += ["--tuning", "1", "--width", "10", "--epochs", "5"]
    for name, arguments in calls.items():
        code, out, err = widenet(*arguments, "--json")
        assert code == 0, (name, err)
        record = json.loads(out)
        assert record["schema"].startswith("widenet/"), name
        assert record["verdict"], name
        assert all(isinstance(sentence, str) for sentence in record["verdict"]), name


def test_a_study_is_one_line_in_the_registry():
    assert list(import_module("widenet.cli.main").STUDIES) == ["audit", "compare", "memorise"]


def test_a_folder_that_the_system_refuses_is_wrong_input(widenet, monkeypatch):
    monkeypatch.setattr("widenet.study.progress.Console", None)  # before anything is begun
    for out in ("a" * 300, f"{'a' * 300}/b", "a" * 220):  # while it is written, it has a longer name
        code, printed, err = widenet("audit", "resnet-cube:n=40", "-q", "--out", out)
        assert (code, printed) == (2, "")
        assert err == f"widenet: {out} cannot be written (File name too long); choose another --out.\n"


def test_a_folder_that_cannot_be_read_is_not_replaced(widenet, monkeypatch):
    Path("result").mkdir()
    refuse(monkeypatch, "iterdir", str(Path("result").resolve()))
    code, _, err = widenet("audit", "resnet-cube:n=40", "-q", "--out", "result", "--force")
    assert (code, err) == (
        2,
        "widenet: result cannot be written (Permission denied); choose another --out.\n",
    )


@pytest.mark.parametrize(
    ("method", "path"), [("iterdir", "cats"), ("is_file", "cats/1.png"), ("is_dir", "dogs")]
)
def test_images_that_must_not_be_seen_are_wrong_input(widenet, monkeypatch, method, path):
    for each in ("cats", "dogs"):
        Path("images", each).mkdir(parents=True)
        Path("images", each, "1.png").touch()
    refuse(monkeypatch, method, f"images/{path}")
    code, _, err = widenet("audit", "images/", "-q")
    assert code == 2
    assert err == f"widenet: 'images/{path}' cannot be read (Permission denied): check who may read it.\n"


def test_a_file_that_fails_is_no_failure_of_stdout(widenet, monkeypatch):
    def fail(*_, **__):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr("widenet.cli.study.run_study", fail)
    code, _, err = widenet("audit", "resnet-cube:n=40")
    assert (code, "Output failed" in err) == (UNEXPECTED, False)


def refuse(monkeypatch, method: str, path: str) -> None:
    """Let the system deny what it is asked about a path, which it never does to root."""
    allowed = getattr(Path, method)

    def refused(self: Path):
        if str(self) == path:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return allowed(self)

    monkeypatch.setattr(Path, method, refused)
