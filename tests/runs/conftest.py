"""Sweeps in processes of their own, and what they left in their stores."""

import importlib.util
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from types import ModuleType

import pytest

SWEEP = Path(__file__).with_name("sweep.py")
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture(scope="session")
def sweep() -> ModuleType:
    """The module that the processes run."""
    spec = importlib.util.spec_from_file_location("sweep", SWEEP)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a sweep with these arguments; none outlives its test."""
    started: list[subprocess.Popen[str]] = []

    def start_one(*arguments: object, **options: object) -> subprocess.Popen[str]:
        command = [sys.executable, str(SWEEP), *map(str, arguments)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        started.append(subprocess.Popen(command, start_new_session=True, **pipes, **options))
        return started[-1]

    yield start_one
    for process in started:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # the processes of its pool with it
        process.communicate()


@pytest.fixture(scope="session")
def logged() -> Callable[[Path], list[int]]:
    """Numbers of the trials that a log says were run, in order."""
    return lambda log: [int(line) for line in log.read_text().split()] if log.exists() else []


@pytest.fixture(scope="session")
def query() -> Callable[[Path, str], list[tuple]]:
    """Ask the file of a store itself."""

    def ask(path: Path, sql: str) -> list[tuple]:
        with closing(sqlite3.connect(path, timeout=60)) as connection, connection:
            return connection.execute(sql).fetchall()

    return ask


@pytest.fixture(scope="session")
def wait_until() -> Callable[[Callable[[], bool]], None]:
    """Wait for something that another process does."""

    def wait(happened: Callable[[], bool], seconds: float = 20.0) -> None:
        end = time.monotonic() + seconds
        while not happened():
            assert time.monotonic() < end, "it did not happen in time"
            time.sleep(0.005)

    return wait
