"""Signals that end a run, in real processes: what is done is kept, one sentence, and the exit code."""

import os
import pty
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from widenet.base.progress import Progress
from widenet.cli import signals
from widenet.memorise.experiments import synthetic_problem
from widenet.memorise.methods import adam
from widenet.memorise.methods.adam import AdamRecipe
from widenet.memorise.train import train_method
from widenet.papers.jobs.job import Desk
from widenet.papers.jobs.memorising import Watched
from widenet.runs import Store, Trial
from widenet.runs.kept import KeptState

SLOW_RUN = Path(__file__).parents[1] / "memorise" / "slow_run.py"
TRIAL = Trial({"seed": 0}, code="1", data="d")


@pytest.fixture(autouse=True)
def hangups_count():
    """Runs that are started here hear of a hangup, also where the tests themselves were started by nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
def table(tmp_path) -> Path:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(120, 20))
    np.savez(tmp_path / "rows.npz", X=X, y=np.array(list("abcd"))[np.arange(120) % 4])
    return tmp_path / "rows.npz"


def start(log: Path, *arguments: object, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(SLOW_RUN), str(log), *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    return subprocess.Popen(command, **pipes)


def wait_for(happened, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def lines_of(log: Path) -> int:
    return len(log.read_text().split()) if log.exists() else 0


@pytest.mark.slow
def test_a_memorising_run_is_kept_whichever_signal_ends_it(table, tmp_path):
    """One after the other on the same run, each going on where the last one was."""
    log, out = tmp_path / "log", tmp_path / "out"
    options = ("memorise", table, "--method", "pgd", "--layers", "2", "--out", out)
    for number, code in ((signal.SIGTERM, 143), (signal.SIGHUP, 129)):
        before = lines_of(log)
        process = start(log, *options)
        wait_for(lambda before=before: lines_of(log) >= before + 2, process)
        assert (tmp_path / ".out.lock").exists()
        process.send_signal(number)
        process.send_signal(number)  # a closed terminal sends two
        _, err = process.communicate(timeout=30)
        assert process.returncode == code, err
        assert err.splitlines()[-1] == f"widenet: Interrupted by {number.name}."
        assert "the same command resumes from there" in err
        assert "Traceback" not in err
        assert sorted(path.name for path in tmp_path.iterdir()) == ["log", "out.store", "rows.npz"]
    assert "Resuming from step" in err


@pytest.mark.slow
def test_a_hangup_takes_the_terminal_along(table, tmp_path):
    """What would be written to a terminal that is gone must not get in the way of keeping the state."""
    log, (master, slave) = tmp_path / "log", pty.openpty()
    options = ("memorise", table, "--method", "pgd", "--layers", "2", "--out", tmp_path / "out")
    process = start(log, *options, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    reader = threading.Thread(target=drain, args=(master,), daemon=True)
    reader.start()
    wait_for(lambda: lines_of(log) >= 2, process)
    os.close(master)
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=30) == 129
    with Store(tmp_path / "out.store") as store:
        assert store.num_unfinished() == 1


def drain(descriptor: int) -> None:
    try:
        while os.read(descriptor, 1000):
            pass
    except OSError:
        return


@pytest.mark.slow
def test_an_audit_leaves_nothing_behind(tmp_path):
    """It has no store; what it began is gone, and so is its lock."""
    process = start(tmp_path / "log", "audit", "digits", "--out", tmp_path / "out")
    assert process.stderr.readline() == "reading digits\n"
    assert (tmp_path / ".out.lock").exists()
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 143, err
    assert err.splitlines()[-1] == "widenet: Interrupted by SIGTERM."
    assert list(tmp_path.iterdir()) == []


def test_what_somebody_ignores_stays_ignored():
    """As `nohup` does with SIGHUP; afterwards all is as it was."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with signals.stopping_signals():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            os.kill(os.getpid(), signal.SIGHUP)
            with pytest.raises(signals.Stopped) as caught:
                signal.raise_signal(signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGTERM)  # the second one, while the state is being saved
        assert signals.stop_code(caught.value) == ("Interrupted by SIGTERM.", 143)
        assert signals.stop_code(KeyboardInterrupt()) == ("Interrupted.", 130)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)


def test_adam_in_pieces_of_an_epoch_is_adam(monkeypatch, tmp_path):
    """Bit for bit, and also where it goes on from a state within an epoch."""
    problem, method = synthetic_problem(50, 12, 30, seed=0), AdamRecipe(epochs=3, batch=16)
    whole = train_method(problem, method, KeptState(None, TRIAL))
    monkeypatch.setattr(adam, "PIECE_FLOPS", 0.0)  # a batch at a time
    pieces = train_method(problem, method, KeptState(None, TRIAL))
    state = method.advance(problem, method.start(problem))
    assert (int(state["epoch"]), int(state["step"]), len(state["history"])) == (0, 1, 1)
    with Store(tmp_path / "runs.store") as store:
        KeptState(store, TRIAL).save({name: part.numpy() for name, part in state.items()}, {})
        resumed = train_method(problem, method, KeptState(store, TRIAL))
    for other in (pieces, resumed):
        for name in set(whole) - {"seconds", "history"}:
            assert torch.equal(other[name], whole[name]), name
        assert torch.equal(other["history"][:, [0, 2]], whole["history"][:, [0, 2]])


def test_adam_in_a_thread_is_stopped_within_an_epoch(tmp_path):
    """Of which it has one, that would take many seconds; the figures of the papers train so."""
    problem, stopped, ended = synthetic_problem(40_000, 300, 1200, seed=0), threading.Event(), []

    class Begun(Progress):
        def __call__(self, *_arguments: object, **_options: object) -> None:
            watched("training")
            if stage.is_set():
                return
            stage.set()

    watched, stage = Watched(Desk(None, stopped)), threading.Event()

    def train() -> None:
        try:
            train_method(problem, AdamRecipe(epochs=1), KeptState(None, TRIAL), progress=Begun())
        except Exception as error:
            ended.append(str(error))

    thread = threading.Thread(target=train)
    thread.start()
    assert stage.wait(30)
    time.sleep(0.5)
    stopped.set()
    thread.join(30)
    assert ended == ["The run was stopped."]
