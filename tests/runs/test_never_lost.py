"""Whole sweeps in processes that are killed, interrupted, doubled, and run out of disk."""

import json
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from widenet.runs import Store

NUM_TRIALS = 200


@pytest.fixture
def stored(query):
    """Numbers of the finished trials in a store, in order."""

    def numbers(path: Path) -> list[int]:
        found = query(path, "SELECT identity FROM trials")
        return sorted(json.loads(identity)["settings"]["number"] for (identity,) in found)

    return numbers


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=50)
    assert process.returncode == 0, err
    return out


def test_killed_sweep_goes_on_where_it_was(start, stored, logged, wait_until, tmp_path):
    undisturbed = start(tmp_path / "whole.db", tmp_path / "whole.log", NUM_TRIALS, 0.0)
    path, log, log_after = tmp_path / "runs.db", tmp_path / "before.log", tmp_path / "after.log"
    killed = start(path, log, NUM_TRIALS, 0.01)
    wait_until(lambda: len(logged(log)) >= NUM_TRIALS // 3)
    killed.kill()
    killed.wait()
    before = stored(path)
    assert NUM_TRIALS // 3 - 4 <= len(before) < NUM_TRIALS
    table = finish(start(path, log_after, NUM_TRIALS, 0.0))
    assert sorted(before + logged(log_after)) == list(range(NUM_TRIALS))
    assert stored(path) == list(range(NUM_TRIALS))
    assert table == finish(undisturbed)
    assert len(table.splitlines()) == NUM_TRIALS


@pytest.mark.slow
def test_killed_again_and_again(start, stored, logged, tmp_path):
    """Whenever the kill falls, also within a commit, the store stays whole."""
    path, num_trials = tmp_path / "runs.db", 40
    for attempt in range(6):
        before = stored(path) if path.exists() and path.stat().st_size else []
        log = tmp_path / f"{attempt}.log"
        process = start(path, log, num_trials, 0.0)
        while len(logged(log)) < 4 and process.poll() is None:
            time.sleep(0.001)
        time.sleep(0.003 * attempt)
        process.kill()
        process.wait()
        assert not set(before) & set(logged(log))
    with Store(path) as store:
        assert store.damaged == ()
    log = tmp_path / "last.log"
    before = stored(path)
    finish(start(path, log, num_trials, 0.0))
    assert sorted(before + logged(log)) == list(range(num_trials))


def test_two_processes_run_each_trial_once(start, stored, logged, query, tmp_path):
    path, logs = tmp_path / "runs.db", [tmp_path / "a.log", tmp_path / "b.log"]
    tables = [finish(process) for process in [start(path, log, 80, 0.05) for log in logs]]
    assert tables[0] == tables[1]
    assert sorted(logged(logs[0]) + logged(logs[1])) == list(range(80)) == stored(path)
    assert min(len(logged(log)) for log in logs) > 0
    assert query(path, "SELECT * FROM claims") == []


def test_claims_of_a_killed_process_are_taken_over_at_once(start, logged, query, wait_until, tmp_path):
    path, log = tmp_path / "runs.db", tmp_path / "b.log"
    stuck = start(path, tmp_path / "a.log", 8, 1000.0)
    wait_until(lambda: path.exists() and len(query(path, "SELECT name FROM sqlite_master")) == 3)
    wait_until(lambda: len(query(path, "SELECT * FROM claims")) == 4)
    other = start(path, log, 8, 0.0)
    wait_until(lambda: len(logged(log)) == 4)
    time.sleep(0.6)
    assert other.poll() is None
    assert logged(log) == [4, 5, 6, 7]
    stuck.kill()
    finish(other)  # which waits less long than a claim is honoured without a sign of life
    assert logged(log) == [4, 5, 6, 7, 0, 1, 2, 3]


@pytest.mark.parametrize("where", [(), ("processes",)])
def test_interrupt_keeps_what_is_done(start, stored, logged, query, wait_until, where, tmp_path):
    path, log = tmp_path / "runs.db", tmp_path / "runs.log"
    process = start(path, log, NUM_TRIALS, 0.1, *where)
    wait_until(lambda: len(logged(log)) >= 12 and len(stored(path)) >= 4)
    before = stored(path)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert set(before) <= set(stored(path)) <= set(logged(log))
    assert len(stored(path)) < NUM_TRIALS
    assert query(path, "SELECT * FROM claims") == []


def test_processes_of_an_executor_run_the_groups(start, stored, logged, tmp_path):
    path, log = tmp_path / "runs.db", tmp_path / "runs.log"
    table = finish(start(path, log, 24, 0.01, "processes"))
    assert table == finish(start(path, tmp_path / "none.log", 24, 0.0))
    assert sorted(logged(log)) == list(range(24)) == stored(path)
    assert not (tmp_path / "none.log").exists()


def test_a_store_that_may_not_grow(start, stored, logged, tmp_path):
    path, log = tmp_path / "runs.db", tmp_path / "after.log"
    limit = 300_000
    process = start(
        path,
        tmp_path / "before.log",
        NUM_TRIALS,
        0.0,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    check_full(process, path)
    before = stored(path)
    assert 20 < len(before) < NUM_TRIALS
    finish(start(path, log, NUM_TRIALS, 0.0))
    assert sorted(before + logged(log)) == list(range(NUM_TRIALS))


def test_a_disk_that_is_full(stored, sweep, tmp_path):
    """On a file system of 300 kB, in a namespace of its own; the store is copied out of it afterwards."""
    small = tmp_path / "small"
    small.mkdir()
    mount = f"mount -t tmpfs -o size=300k tmpfs {small}"
    unshare = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    if shutil.which("unshare") is None or subprocess.run([*unshare, mount], capture_output=True).returncode:
        pytest.skip("needs to mount a small file system")
    path = small / "runs.db"
    run = f"{sys.executable} {sweep.__file__} {path} {tmp_path / 'runs.log'} {NUM_TRIALS} 0"
    script = f"{mount} && {run}; code=$?; cp {path} {tmp_path / 'copy.db'}; exit $code"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    check_full(subprocess.Popen([*unshare, script], **pipes), path)
    before = stored(tmp_path / "copy.db")
    assert 20 < len(before) < NUM_TRIALS
    with Store(tmp_path / "copy.db") as store:
        results = [store.get(sweep.trial_of(number)) for number in before]
    assert [result.record["number"] for result in results] == before


def check_full(process: subprocess.Popen[str], path: Path) -> None:
    _, err = process.communicate(timeout=50)
    assert process.returncode == 1
    assert len(err.splitlines()) == 1
    assert str(path) in err
    assert "free some disk space" in err
