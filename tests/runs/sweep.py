"""A sweep for tests to kill: prints its table, and logs every trial that it runs.

Arguments: file of the store, file of the log, number of trials, seconds that each group of four takes, and
`processes` to run the groups in two of them.
"""

import signal
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from widenet.base.errors import WidenetError
from widenet.runs import Store, Trial, TrialResult, data_hash, run_trials
from widenet.runs.records import pack_json

GROUP = 4


def trial_of(number: int) -> Trial:
    return Trial({"number": number, "rate": 0.1 * number}, code="1", data="digits")


def result_of(settings: Mapping[str, Any]) -> TrialResult:
    rng = np.random.default_rng(settings["number"])
    losses = [*rng.normal(size=5).tolist(), float("nan" if settings["number"] % 7 == 0 else "inf")]
    return TrialResult(
        {"number": settings["number"], "losses": losses}, {"weights": rng.normal(size=(25, 20))}
    )


def work(log: Path, seconds: float, group: Sequence[Mapping[str, Any]]) -> list[TrialResult]:
    time.sleep(seconds)
    with log.open("a") as file:
        file.write("".join(f"{settings['number']}\n" for settings in group))
    return [result_of(settings) for settings in group]


def groups_of(num_trials: int) -> list[list[Trial]]:
    trials = [trial_of(number) for number in range(num_trials)]
    return [trials[start : start + GROUP] for start in range(0, num_trials, GROUP)]


def two_processes() -> ProcessPoolExecutor:
    """Processes that leave Ctrl-C to the one that started them, as a pool wants it."""
    ignore = (signal.SIGINT, signal.SIG_IGN)
    return ProcessPoolExecutor(2, get_context("spawn"), initializer=signal.signal, initargs=ignore)


def main(path: str, log: str, num_trials: str, seconds: str, *options: str) -> None:
    pool = two_processes() if "processes" in options else None
    with Store(path) as store:
        group_work = partial(work, Path(log), float(seconds))
        outcomes = run_trials(groups_of(int(num_trials)), group_work, store=store, executor=pool)
    for outcome in outcomes:
        assert isinstance(outcome, TrialResult)
        print(pack_json(outcome.record), data_hash(outcome.arrays["weights"]))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background has it ignored
    try:
        main(*sys.argv[1:])
    except WidenetError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
