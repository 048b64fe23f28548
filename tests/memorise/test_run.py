"""Memorising from start to end: what the paper promises, interruptions, refusals."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from widenet.base.errors import WidenetError
from widenet.data import load
from widenet.memorise import plan as plan_module
from widenet.memorise.checker.verify import verify
from widenet.memorise.methods.adam import AdamRecipe
from widenet.memorise.plan import MemoriseSettings
from widenet.memorise.run import checkpoint_at, loss_curve, run_memorise

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
    result = run_memorise(paper_data, MemoriseSettings(layers=2, width=300, method=method)).result
    assert (result.n, result.d, result.k, result.r) == (300, 100, 100, 300)
    assert result.loss < 1e-10
    assert result.labels_reproduced
    assert result.holds
    assert result.curve.loss[0] == pytest.approx(float(paper_data.Y.square().sum()) / 1200)
    assert result.curve.loss[-1] < 1e-10


def test_digits_with_their_own_labels_and_with_random_ones():
    digits = load("digits")
    shuffled = digits.labels[torch.randperm(digits.n, generator=torch.Generator().manual_seed(0))]
    for dataset in (digits, replace(digits, labels=shuffled)):
        result = run_memorise(dataset, MemoriseSettings(layers=3)).result
        assert (result.n, result.d, result.k, result.r) == (1797, 64, 86, 174)
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


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_was_stopped_ends_with_the_same_certificate(table, tmp_path, how):
    options = (str(table), "--method", "pgd", "--layers", "2", "--seed", "3", "-q")
    whole = start(tmp_path / "whole.log", *options, "--out", str(tmp_path / "whole"))
    assert whole.communicate(timeout=60)[1] == ""
    assert whole.returncode == 0
    out, log = tmp_path / "stopped", tmp_path / "stopped.log"
    for lines in (3, 6):  # twice, the second time in a run that went on
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


def test_interrupted_it_says_how_to_go_on(table, tmp_path):
    process = start(
        tmp_path / "log", str(table), "--method", "pgd", "--layers", "2", "--out", str(tmp_path / "out")
    )
    wait_for(tmp_path / "log", 3, process)
    process.send_signal(signal.SIGINT)
    err = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "the same command goes on from there" in err
    assert "out.checkpoint.safetensors" in err


def test_settings_that_end_elsewhere_are_other_runs(table, tmp_path):
    dataset = load(str(table))
    shuffled = replace(dataset, labels=dataset.labels.flip(0))
    renamed = replace(dataset, classes=tuple("wxyz"))
    identities = {
        checkpoint_at(tmp_path / "a", data, settings).identity
        for data, settings in (
            (dataset, MemoriseSettings()),
            (dataset, MemoriseSettings(seed=1)),
            (dataset, MemoriseSettings(method="pgd")),
            (dataset, MemoriseSettings(method="pgd", theorem=True)),
            (dataset, MemoriseSettings(noise=0.1)),
            (dataset, MemoriseSettings(width=60)),
            (dataset, MemoriseSettings(layers=3)),
            (load("digits"), MemoriseSettings()),
            (shuffled, MemoriseSettings()),
            (renamed, MemoriseSettings()),
        )
    }
    assert len(identities) == 10
    again = checkpoint_at(tmp_path / "b", load(str(table)), MemoriseSettings())
    assert again.identity in identities


def test_what_misses_a_label_has_no_certificate(table, monkeypatch):
    monkeypatch.setattr(plan_module, "AdamRecipe", lambda: AdamRecipe(epochs=1))
    done = run_memorise(load(str(table)), MemoriseSettings(method="adam"))
    assert done.certificate is None
    assert not done.result.certified
    assert not done.result.labels_reproduced
    assert done.result.verdict[0].startswith("Not memorised")
    assert "--method direct" in done.result.verdict[1]


def test_divergence_is_told_and_not_gone_on_from(table, tmp_path, monkeypatch):
    monkeypatch.setattr(plan_module, "AdamRecipe", lambda: AdamRecipe(epochs=3, rate=1e30))
    monkeypatch.setattr("widenet.runs.checkpoint.EVERY", 0.0)
    dataset, settings = load(str(table)), MemoriseSettings(method="adam")
    mine = checkpoint_at(tmp_path / "a", dataset, settings)
    with pytest.raises(WidenetError, match="diverged"):
        run_memorise(dataset, settings, checkpoint=mine)
    assert not mine.path.exists()


def test_progress_names_the_stages(table):
    told: list[str] = []
    run_memorise(load(str(table)), progress=told.append)
    stages = list(dict.fromkeys(stage.partition(":")[0] for stage in told))
    assert stages == ["choosing the network", "computing σ_min", "training", "measuring the network"]


def test_a_long_history_is_thinned():
    history = torch.stack([torch.arange(5000.0), torch.arange(5000.0) / 10, torch.ones(5000)], dim=1)
    curve = loss_curve(history)
    assert len(curve.steps) <= 401
    assert (curve.steps[0], curve.steps[-1]) == (0, 4999)
    assert len(loss_curve(history[:1]).steps) == 1


def test_the_result_is_json_with_the_promised_keys(table):
    record = run_memorise(load(str(table))).result.to_dict()
    promised = (
        "schema version n d layers r k parameters sigma_min loss max_residual labels_reproduced lambda_min "
        "bound holds method steps seconds"
    )
    assert set(promised.split()) <= set(record)
    assert set(record["sigma_min"]) == {"value", "lower"}
    json.dumps(record, allow_nan=False)
