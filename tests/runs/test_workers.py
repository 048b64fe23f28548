"""Places on this machine: threads and processes compute the same, and no script is run twice."""

import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field

import pytest
import torch

from widenet.base.errors import WidenetError
from widenet.runs import workers
from widenet.runs.trial import Failure, Trial, TrialResult
from widenet.runs.trials import run_trials

TRIALS = [[Trial({"seed": seed}, "code", "data")] for seed in range(4)]


def draw(settings):
    """What a trial computes, and where."""
    drawn = [torch.rand(3, generator=torch.Generator().manual_seed(own["seed"])) for own in settings]
    return [
        TrialResult({"drawn": each.tolist(), "process": os.getpid(), "threads": torch.get_num_threads()})
        for each in drawn
    ]


def records(work, seconds):
    with workers.workers_for(work, seconds) as here:
        found = run_trials(TRIALS, here.work, executor=here.executor, num_workers=here.num_workers)
    return [result.record for result in found]


@pytest.fixture
def two_workers(monkeypatch):
    """Two, without a change of this process: later tests fork it, and would divide small operations."""
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    monkeypatch.setattr(torch, "set_num_threads", lambda num_threads: None)


def test_short_work_stays_in_this_process(two_workers):
    assert {each["process"] for each in records(draw, workers.LONG / 2)} == {os.getpid()}


@pytest.mark.slow
def test_long_work_has_processes_of_one_thread_that_compute_the_same(two_workers):
    here, elsewhere = records(draw, 0.0), records(draw, 2 * workers.LONG)
    assert [each["drawn"] for each in elsewhere] == [each["drawn"] for each in here]
    assert os.getpid() not in {each["process"] for each in elsewhere}
    assert {each["threads"] for each in elsewhere} == {1}


def test_memory_for_one_process_alone_keeps_work_here(two_workers, monkeypatch):
    monkeypatch.setattr(workers, "usable_bytes", lambda: workers.BASE_BYTES)
    assert {each["process"] for each in records(draw, 2 * workers.LONG)} == {os.getpid()}


@dataclass(frozen=True)
class Locked:
    """Work that cannot be sent anywhere."""

    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, settings):
        with self.lock:
            return draw(settings)


def test_work_that_cannot_be_sent_stays_in_this_process(two_workers):
    assert {each["process"] for each in records(Locked(), 2 * workers.LONG)} == {os.getpid()}


def leave(settings):
    os._exit(1)  # as the system does to a process that takes too much memory


@pytest.mark.slow
def test_processes_that_are_killed_fail_their_trials_in_a_sentence(two_workers):
    with workers.workers_for(leave, 2 * workers.LONG) as here:
        found = run_trials(TRIALS, here.work, executor=here.executor, num_workers=here.num_workers)
    assert all(isinstance(each, Failure) for each in found)
    explained = workers.explained(found[0].error)
    assert isinstance(explained, WidenetError)
    assert "memory" in str(explained)
    refused = WidenetError("as it is")
    assert workers.explained(refused) is refused


SCRIPT = """
import torch
from widenet.runs.workers import workers_for
from widenet.runs.trial import TrialResult

print("once")
factor = 2
torch.set_num_threads(2)
def double(settings):
    return [TrialResult({"value": factor * own["value"]}) for own in settings]

with workers_for(double, 1e3) as here:  # without a guard, as in a notebook
    print([each.record for each in here.executor.submit(here.work, [{"value": 4}]).result()])
"""


@pytest.mark.slow
def test_a_script_without_a_guard_is_run_once(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, tmp_path / "script.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines() == ["once", "[{'value': 8}]"]
    assert not done.stderr


ORPHANS = """
import os, time
import torch
from widenet.runs.workers import workers_for

torch.set_num_threads(2)
def sleep(settings):
    print(os.getpid(), flush=True)
    time.sleep(100)

with workers_for(sleep, 1e3) as here:
    here.executor.submit(here.work, []).result()
"""


@pytest.mark.slow
def test_processes_end_with_a_parent_that_was_killed():
    parent = subprocess.Popen([sys.executable, "-c", ORPHANS], stdout=subprocess.PIPE, text=True)
    worker = int(parent.stdout.readline())
    assert worker != parent.pid
    parent.kill()
    assert parent.communicate(timeout=60) == ("", None)  # once nobody is left who could write
