"""Memorising from start to end: what the paper promises, interruptions, refusals."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import make_dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from widenet.base.errors import WidenetError
from widenet.base.progress import Progress
from widenet.data import load
from widenet.memorise.checker.verify import verify
from widenet.memorise.methods.adam import AdamRecipe
from widenet.memorise.run import loss_curve, run_memorise, trial_of
from widenet.memorise.settings import METHODS, MemoriseSettings
from widenet.report import memorise as room
from widenet.runs.code import import_closure
from widenet.runs.store import Store
from widenet.study.result import Outcome

SLOW_RUN = Path(__file__).parent / "slow_run.py"


@pytest.fixture
def table(tmp_path) -> Path:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(120, 20))
    np.savez(tmp_path / "rows.npz", X=X, y=np.array(list("abcd"))[np.arange(120) % 4])
    return tmp_path / "rows.npz"


@pytest.fixture(scope="module")
def paper_data(tmp_path_factory):
    """300 rows of norm 1 from the cube in 100 dimensions, labels too [mild-memorisation, section 5]."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("paper") / "rows.npz"
    np.savez(path, X=rng.uniform(size=(300, 100)), y=rng.uniform(size=300))
    return load(str(path), prepare="unit")


@pytest.mark.parametrize("method", ["pgd", "direct"])
def test_the_papers_random_data(paper_data, method):
    result = run_memorise(paper_data, MemoriseSettings(layers=2, width=300, method=method))
    assert (result.data.n, result.data.d, result.k, result.r) == (300, 100, 100, 300)
    assert result.loss < 1e-10
    assert result.labels_reproduced
    assert result.holds
    assert result.curve.loss[0] == pytest.approx(float(paper_data.Y.square().sum()) / 1200)
    assert result.curve.loss[-1] < 1e-10


def test_digits_with_their_own_labels_and_with_random_ones():
    digits = load("digits")
    shuffled = digits.labels[torch.randperm(digits.n, generator=torch.Generator().manual_seed(0))]
    for dataset in (digits, replace(digits, labels=shuffled)):
        result = run_memorise(dataset, MemoriseSettings(layers=3))
        assert (result.data.n, result.data.d, result.k, result.r) == (1797, 64, 86, 174)
        assert result.labels_reproduced
        assert result.sigma_min.lower > 0


def start(log: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(SLOW_RUN), str(log), "memorise", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(log: Path, lines: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while not log.exists() or len(log.read_text().split()) < lines:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.slow
def test_a_run_that_was_stopped_ends_with_the_same_certificate(table, tmp_path):
    options = (str(table), "--method", "pgd", "--layers", "2", "--seed", "3", "-q")
    whole = start(tmp_path / "whole.log", *options, "--out", str(tmp_path / "whole"))
    assert whole.communicate(timeout=60)[1] == ""
    assert whole.returncode == 0
    out, log = tmp_path / "stopped", tmp_path / "stopped.log"
    # Twice, the second time in a run that went on.
    for lines, how in ((3, signal.SIGKILL), (6, signal.SIGINT)):
        process = start(log, *options, "--out", str(out))
        wait_for(log, lines, process)
        process.send_signal(how)
        err = process.communicate(timeout=60)[1]
        assert process.returncode == (-9 if how == signal.SIGKILL else 130)
        assert "Traceback" not in err
        assert not out.exists()
    last = start(log, *options, "--out", str(out))
    assert last.communicate(timeout=60)[1] == ""
    assert last.returncode == 0
    for name in ("certificate.json", "weights.safetensors"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    steps, steps_whole = (
        [int(line) for line in path.read_text().split()] for path in (log, tmp_path / "whole.log")
    )
    assert len(steps_whole) >= 8
    assert sorted(set(steps)) == sorted(set(steps_whole))
    assert len(steps) <= len(steps_whole) + 4  # nothing was done twice but what an interruption cut
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"rows.npz", "whole", "whole.log", "stopped", "stopped.log"}
    assert verify(out).verified


@pytest.mark.slow
def test_interrupted_it_says_how_to_go_on(table, tmp_path):
    process = start(
        tmp_path / "log", str(table), "--method", "pgd", "--layers", "2", "--out", str(tmp_path / "out")
    )
    wait_for(tmp_path / "log", 3, process)
    process.send_signal(signal.SIGINT)
    err = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "the same command resumes from there" in err
    assert "out.store" in err


def test_settings_that_end_elsewhere_are_other_runs(table):
    dataset = load(str(table))
    shuffled = replace(dataset, labels=dataset.labels.flip(0))
    renamed = replace(dataset, classes=tuple("wxyz"))
    identities = {
        trial_of(data, settings).identity
        for data, settings in (
            (dataset, MemoriseSettings()),
            (dataset, MemoriseSettings(seed=1)),
            (dataset, MemoriseSettings(method="pgd")),
            (dataset, MemoriseSettings(method="pgd", theorem=True)),
            (dataset, MemoriseSettings(perturb=0.1)),
            (dataset, MemoriseSettings(width=60)),
            (dataset, MemoriseSettings(layers=3)),
            (dataset, MemoriseSettings(layers=3, random_rows="gaussian")),
            (load("digits"), MemoriseSettings()),
            (shuffled, MemoriseSettings()),
            (renamed, MemoriseSettings()),
        )
    }
    assert len(identities) == 11
    assert trial_of(load(str(table)), MemoriseSettings()).identity in identities


def test_the_code_of_a_run_is_all_that_its_end_depends_on():
    modules = (place.partition(":")[0] for place in METHODS.values())
    closure = import_closure(["widenet.memorise.run", *modules])
    parts = (
        "certificate",
        "conditions",
        "landscape",
        "problem",
        "rounding",
        "sigma",
        "sizes",
        "methods.steps",
    )
    beyond = ("networks.quadratic", "spectrum.cholesky", "spectrum.lanczos", "base.rounding")
    assert closure >= {
        *(f"widenet.memorise.{part}" for part in parts),
        *(f"widenet.{part}" for part in beyond),
        "widenet.theory.mild_memorisation.descent",
    }
    assert not any(module.startswith(("widenet.report", "widenet.cli")) for module in closure)


def test_what_misses_a_label_has_no_certificate(table, monkeypatch):
    recipe = make_dataclass("Short", [("epochs", int, 1)], bases=(AdamRecipe,), frozen=True)
    monkeypatch.setattr("widenet.memorise.methods.adam.AdamRecipe", recipe)
    result = run_memorise(load(str(table)), MemoriseSettings(method="adam"))
    assert result.certificate is None
    assert not result.certified
    assert not result.labels_reproduced
    assert result.outcome is Outcome.FAILED
    verdict = room.sentences(result)
    assert verdict[0].startswith("Not memorised")
    assert "`method=direct`" in verdict[1]
    assert set(room.files(result)) == {"weights.safetensors"}


def test_divergence_is_told_and_not_gone_on_from(table, tmp_path, monkeypatch):
    recipe = make_dataclass(
        "Wild", [("rate", float, 1e30), ("epochs", int, 3)], bases=(AdamRecipe,), frozen=True
    )
    monkeypatch.setattr("widenet.memorise.methods.adam.AdamRecipe", recipe)
    monkeypatch.setattr("widenet.runs.kept.EVERY", 0.0)
    with Store(tmp_path / "a") as store:
        with pytest.raises(WidenetError, match=r"diverged.*`method`.*`seed`"):
            run_memorise(load(str(table)), MemoriseSettings(method="adam"), store=store)
        assert store.is_empty()


def test_progress_names_the_stages(table):
    told: list[str] = []

    class Telling(Progress):
        def __call__(self, stage, done=None, total=None, detail=""):
            told.append(stage)

    run_memorise(load(str(table)), progress=Telling())
    stages = list(dict.fromkeys(told))
    assert stages == ["choosing the network", "computing σ_min", "training", "measuring the network"]


def test_a_long_history_is_thinned():
    history = torch.stack([torch.arange(5000.0), torch.arange(5000.0) / 10, torch.ones(5000)], dim=1)
    curve = loss_curve(history)
    assert len(curve.steps) <= 401
    assert (curve.steps[0], curve.steps[-1]) == (0, 4999)
    assert len(loss_curve(history[:1]).steps) == 1


def test_the_result_is_json_with_the_promised_keys(table):
    result = run_memorise(load(str(table)))
    record = room.record(result)
    promised = (
        "schema version data n points d layers k r power parameters conditions sigma_min loss max_residual "
        "tolerance labels_reproduced curvature_norm lambda_min bound holds method notes steps curve "
        "certified verdict forecast seconds"
    )
    assert set(promised.split()) <= set(record)
    assert set(record["data"]) >= {"name", "task", "classes", "prepare", "noise", "provenance"}
    assert "weights" not in record
    assert all(
        isinstance(sentence, str) for key in ("conditions", "notes", "verdict") for sentence in record[key]
    )
    assert set(record["sigma_min"]) == {"value", "lower"}
    json.dumps(record, allow_nan=False)
