"""Two runs for one folder: the second is told at once who is there."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import pytest

from widenet.base.errors import InputError
from widenet.runs import lock
from widenet.runs.lock import lock_of, only_run
from widenet.runs.owner import LEASE, Owner


@pytest.fixture
def out(tmp_path) -> Path:
    return tmp_path / "result"


def change(out: Path, **changed: object) -> None:
    record = json.loads(lock_of(out).read_text())
    lock_of(out).write_text(json.dumps(record | changed))


def test_the_second_run_is_told_of_the_first(out):
    with only_run(out):
        assert lock_of(out) == out.with_name(".result.lock")
        told = rf"process {os.getpid()}\b.*writing {out}.*`out`"
        with pytest.raises(InputError, match=told) as caught, only_run(out):
            pytest.fail("it began")
        with only_run(out.with_name("other")):
            pass
    assert len(str(caught.value).splitlines()) == 1
    if Path("/proc/stat").exists():
        told = re.search(r"started at (.*?)\)", str(caught.value))[1]
        age = datetime.now() - datetime.strptime(told, "%H:%M:%S on %d %b %Y")
        assert 0 <= age.total_seconds() < 36_000
    assert list(out.parent.iterdir()) == []
    with only_run(out):
        pass


def test_a_run_on_another_machine_is_named_by_its_host(out):
    with only_run(out):
        change(out, place="cluster-7 boot pid")
        with pytest.raises(InputError, match=rf"process {os.getpid()} on cluster-7\)"), only_run(out):
            pytest.fail("it began")
        silent = time.time() - LEASE - 1
        os.utime(lock_of(out), (silent, silent))
        with only_run(out):
            pass


@pytest.mark.parametrize("dead", [{"pid": 2**30}, {"started": 1}], ids=["gone", "number used again"])
def test_the_lock_of_a_dead_process_is_taken_over(out, dead):
    lock_of(out).write_text(json.dumps(asdict(Owner.new()) | dead))
    with only_run(out):
        assert json.loads(lock_of(out).read_text())["pid"] == os.getpid()
        with pytest.raises(InputError), only_run(out):
            pytest.fail("it began")
    assert not lock_of(out).exists()


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[1]", b'{"pid": 1}'])
def test_a_lock_that_cannot_be_read_is_taken_over(out, content):
    lock_of(out).write_bytes(content)
    with only_run(out), pytest.raises(InputError), only_run(out):
        pytest.fail("it began")
    assert not lock_of(out).exists()


def test_signs_of_life(out, monkeypatch):
    monkeypatch.setattr(lock, "BEAT", 0.02)
    with only_run(out):
        os.utime(lock_of(out), (0, 0))
        time.sleep(0.5)
        with pytest.raises(InputError), only_run(out):
            pytest.fail("it began")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="when a process began cannot be seen")
def test_a_stopped_run_on_this_machine_keeps_its_lock(out):
    code = (
        "import sys, time; from pathlib import Path; from widenet.runs.lock import only_run\n"
        "with only_run(Path(sys.argv[1])): print('taken', flush=True); time.sleep(60)"
    )
    first = subprocess.Popen([sys.executable, "-c", code, str(out)], stdout=subprocess.PIPE)
    try:
        first.stdout.readline()
        first.send_signal(signal.SIGSTOP)
        silent = time.time() - LEASE - 1
        os.utime(lock_of(out), (silent, silent))
        with pytest.raises(InputError, match=rf"process {first.pid}\b"), only_run(out):
            pytest.fail("it began")
    finally:
        first.kill()
        first.communicate()
    with only_run(out):
        pass


def test_a_run_that_lost_its_lock_leaves_that_of_another(out):
    with only_run(out):
        change(out, place="cluster-7 boot pid")
        silent = time.time() - LEASE - 1
        os.utime(lock_of(out), (silent, silent))
        other = only_run(out)
        other.__enter__()
    assert lock_of(out).exists()
    other.__exit__(None, None, None)
    assert not lock_of(out).exists()


def test_the_lock_of_a_killed_process_is_taken_over(out):
    code = (
        "import sys, os, signal; from pathlib import Path; from widenet.runs.lock import only_run\n"
        "with only_run(Path(sys.argv[1])): os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(out)]).returncode == -9
    assert lock_of(out).exists()
    with only_run(out):
        pass
    assert list(out.parent.iterdir()) == []


def test_of_many_that_begin_at_once_never_two_are_at_work(out):
    """Also while locks are removed and made anew under one another."""
    at_work, seen, refused, worked = [], [], [], []

    def attempt() -> None:
        for _ in range(50):
            try:
                with only_run(out):
                    at_work.append(1)
                    seen.append(len(at_work))
                    time.sleep(0.001)
                    at_work.pop()
                    worked.append(1)
            except InputError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=attempt) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(seen) == {1}
    assert worked
    assert refused
    assert len(worked) + len(refused) == 200


def test_folders_above_are_there_as_long_as_they_are_needed(tmp_path):
    with only_run(tmp_path / "a" / "b" / "result"):
        assert (tmp_path / "a" / "b").is_dir()
    assert list(tmp_path.iterdir()) == []
    with only_run(tmp_path / "a" / "b" / "result"):
        (tmp_path / "a" / "kept").touch()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["kept"]


def test_a_run_goes_on_where_no_lock_can_be_made(out):
    lock_of(out).mkdir()
    with only_run(out):
        pass
