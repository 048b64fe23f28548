"""`widenet theory separation` as users meet it, at a size of seconds."""

import json
import os
from pathlib import Path

import pytest

from widenet.papers.resnet_beyond_kernels.separation import run
from widenet.training import sweeps

SMALL = ("--d1", "5", "--k", "2", "--members", "1", "--width", "8", "--epochs", "2", "--sizes", "4,8")


@pytest.fixture
def separation(widenet):
    return lambda *arguments: widenet("theory", "separation", *arguments)


def test_it_writes_its_folder_and_prints_a_screenful(separation):
    code, out, err = separation(*SMALL, "--out", "picture")
    assert code == 0, err
    assert "report.html" in out
    assert "networks: " in err
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out
    record = json.loads(Path("picture/result.json").read_text())
    assert record["schema"] == "widenet/separation/1"
    assert record["sizes"] == [4, 8]
    code, _, err = separation(*SMALL, "--out", "picture")
    assert code == 2
    assert "--force" in err


def test_a_narrow_terminal(separation, monkeypatch):
    monkeypatch.setitem(os.environ, "COLUMNS", "50")
    code, out, _ = separation(*SMALL, "-q")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 50


def test_json_is_the_result_wherever_the_flag_stands(widenet):
    records = []
    for number, arguments in enumerate((("separation", *SMALL, "--json"), ("--json", "separation", *SMALL))):
        code, out, err = widenet("theory", *arguments, "-q", "--out", f"picture{number}")
        assert (code, err) == (0, "")
        record = json.loads(out)
        assert record == json.loads(Path(f"picture{number}/result.json").read_text())
        records.append({name: value for name, value in record.items() if name not in ("forecast", "seconds")})
    assert records[0] == records[1]


def test_finished_runs_are_taken_from_the_store(separation, monkeypatch):
    arguments = (*SMALL, "-q", "--json", "--force", "--store", "runs.sqlite")
    first = json.loads(separation(*arguments)[1])
    monkeypatch.setattr(run, "network_seconds", lambda *parts: 0.0)
    monkeypatch.setattr(sweeps, "train_together", pytest.fail)
    again = json.loads(separation(*arguments)[1])
    assert again["network"] == first["network"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--d1", "1"], "--d1 is 1, but must be from 2 to 16"),
        (["--d1", "40"], "--d1 is 40, but must be from 2 to 16"),
        (["--d1", "4", "--k", "5"], "--k is 5, but must be a whole number from 2 to --d1 = 4"),
        (["--k", "0"], "--k is 0"),
        (["--k", "-1"], "--k is -1"),
        (["--d1", "3", "--k", "2"], "3 functions for --d1 = 3 and --k = 2, fewer than 5 to measure"),
        (["--members", "219"], "220 functions"),
        (["--members", "0"], "--members is 0"),
        (["--alpha", "0"], "--alpha is 0"),
        (["--alpha", "2"], "--alpha is 2"),
        (["--alpha", "nan"], "--alpha is nan"),
        (["--sizes", "4,x"], "--sizes"),
        (["--sizes", ""], "--sizes"),
        (["--sizes", "1.5"], "--sizes"),
        (["--sizes", "20,10"], "ascending"),
        (["--sizes", "0,10"], "--sizes is 0,10, but must be at least 1"),
        (["--sizes", "99999"], "4096 points"),
        (["--width", "0"], "--width is 0"),
        (["--width", "1000000"], "--width is 1000000"),
        (["--epochs", "0"], "--epochs is 0"),
        (["--rates", "fast"], "--rates"),
        (["--decays", "-1"], "--decays is -1.0, but must be at least 0"),
        (["--kernels", "gausian"], "gaussian"),
        (["--store", "."], "cannot be opened"),
    ],
)
def test_wrong_input_gets_one_sentence(separation, arguments, words):
    code, out, err = separation("-q", *arguments)
    assert code == 2
    assert out == ""
    assert words in err
    assert len(err.strip().splitlines()) == 1
    assert not Path("widenet-separation").exists()


def test_what_does_not_fit_is_refused_before_memory_is_taken(separation, monkeypatch):
    monkeypatch.setattr("widenet.base.memory.available_bytes", lambda: 2**28)
    code, _, err = separation("-q", "--d1", "16", "--k", "8")
    assert code == 2
    assert "12,870 functions on 65,536 points needs about 25" in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [["--d1", "many"], ["--d1", "2.5"], ["--seed", "-1"], ["--kernel", "x"]]
)
def test_what_is_no_number_or_no_option_is_named(separation, arguments):
    code, _, err = separation("-q", *arguments)
    assert code == 2
    assert arguments[0] in err


def test_every_setting_is_an_option(separation):
    kernels = "polynomial:degree=2,offset=1,arcsin"
    options = ("--kernels", kernels, "--tuning", "1", "--batch", "5", "--rates", "0.1", "--decays", "0,0.01")
    code, out, err = separation(*SMALL, *options, "--json", "-q")
    assert code == 0, err
    settings = json.loads(out)["settings"]
    assert settings["kernels"] == ["polynomial:degree=2,offset=1", "arcsin"]
    assert (settings["tuning"], settings["batch"]) == (1, 5)
    assert (settings["rates"], settings["decays"]) == ([0.1], [0.0, 0.01])
    assert json.loads(Path("widenet-separation/config.json").read_text()) == settings
