"""How long people wait for the answer: an audit of small tables, alone and as a command from start to end."""

import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import numpy as np
import pandas as pd

import widenet

SIZES = ((500, 20), (2000, 20))  # rows and columns
REPEATS = 3


@dataclass(frozen=True)
class Seconds:
    """Time of one thing, the best of some.

    Attributes:
        wall: Seconds on the clock.
        cpu: Seconds of computing on all cores, which others on the machine do not lengthen.
    """

    wall: float
    cpu: float


@dataclass(frozen=True)
class Answer:
    """Times of an audit of one table.

    Attributes:
        rows: Its rows.
        columns: Its features.
        computing: The audit alone, its data in memory.
        command: `widenet audit FILE`: imports, reading, the audit, the report.
    """

    rows: int
    columns: int
    computing: Seconds
    command: Seconds


def run() -> list[Answer]:
    """Times for each size, and for the digits."""
    with tempfile.TemporaryDirectory() as name:
        files = [write_table(Path(name), *size) for size in SIZES]
        return [answer(str(file)) for file in files] + [answer("digits")]


def write_table(folder: Path, num_rows: int, num_columns: int) -> Path:
    """A table of two classes with an interaction, noise, gaps and a category."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(num_rows, num_columns))
    classes = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * generator.normal(size=num_rows) > 0, "yes", "no")
    frame = pd.DataFrame(X.round(4)).add_prefix("x")
    frame = frame.mask(generator.random(frame.shape) < 0.02)
    frame[f"x{num_columns - 1}"] = generator.choice(["a", "b", "c"], num_rows)
    path = folder / f"table-{num_rows}.csv"
    frame.assign(y=classes).to_csv(path, index=False)
    return path


def answer(source: str) -> Answer:
    """Times of one audit, in this process and as a command."""
    dataset = widenet.load(source)
    widenet.audit(dataset)  # imports and warms up
    computing = [_timed(lambda: widenet.audit(dataset), time.process_time) for _ in range(REPEATS)]
    command = [_timed(lambda: _command(source), _seconds_of_children) for _ in range(REPEATS)]
    return Answer(dataset.n, len(dataset.columns.used), _best(computing), _best(command))


def _command(source: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["audit", source, "--out", folder, "--force", "--quiet"]
        subprocess.run([sys.executable, "-m", "widenet", *arguments], check=True, capture_output=True)


def _timed(work, cpu_clock) -> Seconds:
    wall, cpu = time.perf_counter(), cpu_clock()
    work()
    return Seconds(time.perf_counter() - wall, cpu_clock() - cpu)


def _seconds_of_children() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _best(times: list[Seconds]) -> Seconds:
    return Seconds(min(each.wall for each in times), min(each.cpu for each in times))
