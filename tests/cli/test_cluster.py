"""`--cluster`: the same results as on this machine, and one sentence where it cannot be used."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from widenet.audit import forecast, work
from widenet.runs import address, versions

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]
ABSENT = "tcp://127.0.0.1:1"
TAKEN = ("seconds", "forecast", "labels_file", "trials")  # a table of trials has their seconds


@pytest.fixture
def table(tmp_path) -> str:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    lines = [",".join(f"{value:.4f}" for value in row) for row in X]
    named = [f"{line},{'up' if row[0] + row[1] > 0 else 'down'}" for line, row in zip(lines, X, strict=True)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["a,b,c,d,y", *named]))
    return str(path)


def numbers(text):
    """A result as JSON, without what a run takes and where it is written."""
    found = json.loads(
        text, object_hook=lambda part: {**part, **({"seconds": 0} if "seconds" in part else {})}
    )
    return {name: part for name, part in found.items() if name not in TAKEN}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            ["--cluster", "tcp://10.1.2.3:8786"],
            "or allow it with --cluster-insecure where",
        ),
        (["--cluster", "tls://10.1.2.3:8786"], "needs --cluster-ca, a file in PEM"),
        (["--cluster", "somewhere"], "--cluster is 'somewhere', but must be the address of a scheduler"),
        (["--cluster-key", "key.pem"], "--cluster-key is for a cluster: give its address as --cluster, too"),
        (["--cluster", ABSENT], f"No scheduler answers at '{ABSENT}'"),
    ],
)
@pytest.mark.parametrize("command", [["audit", "DATA"], ["compare", "DATA"], ["reproduce"]])
def test_what_cannot_be_used_is_told_in_a_sentence(widenet, table, monkeypatch, command, options, told):
    monkeypatch.setattr(address, "CONNECT", 0.3)
    code, out, err = widenet(*(table if each == "DATA" else each for each in command), *options, "--quiet")
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1


def test_without_dask_the_extra_is_named(widenet, table, monkeypatch):
    monkeypatch.setattr(address, "find_spec", lambda name: None)
    code, out, err = widenet("compare", table, "--cluster", ABSENT)
    assert (code, out) == (2, "")
    assert err == "widenet: A cluster needs Dask: install it with `pip install widenet[cluster]`.\n"


def test_workers_of_another_version_are_refused(widenet, dask, table, monkeypatch):
    monkeypatch.setattr(versions, "package_version", lambda: "9.9")
    code, out, err = widenet("compare", table, "--cluster", dask.scheduler_address, "--quiet")
    assert (code, out) == (2, "")
    assert "not widenet 9.9: install the same there and start it again" in err
    assert err.count("\n") == 1


def test_a_comparison_is_that_of_this_machine(widenet, dask, table):
    options = {"methods": "ridge,arcsin", "folds": 2, "repeats": 1}
    command = ["compare", table, "--json", *(f"--{name}={value}" for name, value in options.items())]
    code, serial, err = widenet(*command, "--out", "serial")
    assert code == 0, err
    code, spread, err = widenet(*command, "--out", "spread", "--cluster", dask.scheduler_address)
    assert code == 0, err
    assert numbers(spread) == numbers(serial)
    assert "on 2 workers" in err


def test_a_figure_is_that_of_this_machine(widenet, dask):
    changes = {"m": 12, "n": 60, "d": 8, "beta": "1.0,0.0", "epochs": 4, "held_out": 50}
    command = ["reproduce", "resnet-beyond-kernels/fig3a", "--seeds", "2", "--json", "--quiet"]
    for name, value in changes.items():
        command += ["--set", f"{name}={value}"]
    _, serial, err = widenet(*command, "--out", "serial")
    assert not err
    _, spread, err = widenet(*command, "--out", "spread", "--cluster", dask.scheduler_address)
    assert not err
    assert numbers(spread) == numbers(serial)
    assert not list(Path().glob("*.store"))


def test_an_audit_has_its_matrix_on_the_workers(widenet, dask, table, monkeypatch):
    monkeypatch.setattr(forecast, "DENSE_ROWS", 0)
    monkeypatch.setattr(work, "SINGLE_MARGIN", 1e30)  # tiles of this process would be rounded on the way
    code, here, err = widenet("audit", table, "--json", "--out", "here")
    assert code == 0, err
    code, there, err = widenet(
        "audit", table, "--json", "--out", "there", "--cluster", dask.scheduler_address
    )
    assert code == 0, err
    assert numbers(there) == numbers(here)
    assert "on 2 workers" in err
    assert "held by workers" in Path("there/report.html").read_text()
    assert sorted(path.name for path in Path().iterdir()) == ["here", "table.csv", "there"]


def test_a_small_audit_stays_exact_on_this_machine(widenet, dask, table):
    code, _, err = widenet("audit", table, "--out", "there", "--cluster", dask.scheduler_address)
    assert code == 0, err
    assert "held whole" in Path("there/report.html").read_text()


def test_too_little_memory_is_told(widenet, dask, table, monkeypatch):
    monkeypatch.setattr(forecast, "DENSE_ROWS", 0)
    client = dask.get_client()
    before = client.run(set_limit, 900 * 2**20)  # less, and Dask would pause them
    try:
        code, out, err = widenet("audit", table, "--cluster", dask.scheduler_address, "--quiet")
    finally:
        client.run(set_limit, next(iter(before.values())))
        client.close()
    assert (code, out) == (2, "")
    assert "2 workers may hold 0 bytes together: start more workers, or give them more memory." in err
    assert err.count("\n") == 1


def set_limit(limit, dask_worker):
    before, dask_worker.memory_manager.memory_limit = dask_worker.memory_manager.memory_limit, limit
    return before


KEPT_AUDIT = Path(__file__).with_name("kept_audit.py")


class Audits:
    """Audits in processes of their own, each with a log of its products."""

    def __init__(self, table, folder):
        self.table, self.folder = table, folder

    def begin(self, log, out, at):
        arguments = ["audit", self.table, "--json", "--out", self.folder / out, "--cluster", at]
        command = [sys.executable, KEPT_AUDIT, self.folder / log, *arguments]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(list(map(str, command)), **pipes)

    def end(self, process):
        out, err = process.communicate()
        assert process.returncode == 0, err
        return numbers(out)

    def num_products(self, *logs):
        paths = [self.folder / log for log in logs]
        return sum(len(path.read_text().split()) for path in paths if path.exists())

    def wait_for(self, process, log, num_products):
        while self.num_products(log) < num_products:
            assert process.poll() is None
            time.sleep(0.01)


@pytest.fixture
def audits(table, tmp_path):
    return Audits(table, tmp_path)


@pytest.mark.slow
def test_a_killed_audit_repeats_one_product_at_most(dask, audits):
    at = dask.scheduler_address
    undisturbed = audits.end(audits.begin("whole.log", "whole", at))
    once = audits.num_products("whole.log")
    killed = audits.begin("killed.log", "resumed", at)
    audits.wait_for(killed, "killed.log", once // 2)
    killed.kill()
    killed.communicate()
    assert audits.end(audits.begin("resumed.log", "resumed", at)) == undisturbed
    assert once <= audits.num_products("killed.log", "resumed.log") <= once + 1
    assert sorted(path.name for path in audits.folder.iterdir() if path.suffix != ".log") == [
        "resumed",
        "table.csv",
        "whole",
    ]


@pytest.mark.slow
def test_an_audit_whose_scheduler_was_killed_says_so_and_goes_on_later(audits, unused_port):
    at = f"tcp://127.0.0.1:{unused_port}"
    started = []

    def start():
        for program, *options in (
            ("dask_scheduler", "--host", "127.0.0.1", "--port", unused_port),
            ("dask_worker", at, "--nthreads", 1, "--no-nanny"),
        ):
            command = [sys.executable, "-m", f"distributed.cli.{program}", *options, "--no-dashboard"]
            silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            started.append(subprocess.Popen(list(map(str, command)), **silent))

    try:
        start()
        undisturbed = audits.end(audits.begin("whole.log", "whole", at))
        once = audits.num_products("whole.log")
        left = audits.begin("left.log", "resumed", at)
        audits.wait_for(left, "left.log", once // 2)
        begin = time.monotonic()
        started[0].kill()
        _, err = left.communicate()
        print(f"{once} products; told after {time.monotonic() - begin:.1f} s")
        assert left.returncode == 1
        assert "widenet: The connection to the scheduler was lost: start the scheduler" in err
        assert "Traceback" not in err
        started[1].kill()
        for process in started:
            process.wait()
        start()
        assert audits.end(audits.begin("resumed.log", "resumed", at)) == undisturbed
        assert once <= audits.num_products("left.log", "resumed.log") <= once + 1
    finally:
        for process in started:
            process.kill()
            process.wait()
