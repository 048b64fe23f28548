"""Does the answer of a comparison depend on its seed? Ten real tables with five seeds each.

`python -m benchmarks.verdicts [TABLE …]`. The tables come from the environment that `make bench` makes.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from benchmarks.tables import tables
from widenet.compare.result import CompareResult
from widenet.compare.run import run_compare
from widenet.compare.settings import CompareSettings
from widenet.compare.significance import Finding, FoldRows
from widenet.compare.summary import constant_of, significance_of
from widenet.data.dataset import Dataset
from widenet.data.noise import subset

NAMES = (
    "breast_cancer",
    "wine",
    "diabetes",
    "binary-appendicitis",
    "binary-haberman",
    "binary-saheart",
    "binary-spectf",
    "multiclass-tae",
    "regression-cpu_performance",
    "regression-servo",
)
MOST_ROWS = 300
SEEDS = range(5)

Answer = dict[str, Finding]  # of each pair of families that was tested


@dataclass(frozen=True)
class Stability:
    """What five seeds say of one table.

    Attributes:
        name: The table.
        rows: Its rows.
        answers: Findings of each pair of families, one for each seed.
        adjusted: The p-values of the tests against kernels.
        once: The findings of the first division of each seed alone.
        repeats: How often each seed divided the rows.
        seconds: Time of each.
        contradicted: Pairs on which two seeds say different things, and neither that it is open.
        contradicted_once: The same of the first divisions alone.
    """

    name: str
    rows: int
    answers: dict[str, list[str]]
    adjusted: dict[str, list[float]]
    once: dict[str, list[str]]
    repeats: list[int]
    seconds: list[float]
    contradicted: list[str]
    contradicted_once: list[str]


def answer_of(result: CompareResult) -> Answer:
    """What the verdict says: was anything learned, and does another family differ from the kernels?"""
    against_constant = {test.finding for test in result.significance.against_constant}
    decided = (Finding.BETTER, Finding.OPEN, Finding.NOT_SHOWN)  # whichever some family is, in this order
    learned = next((each for each in decided if each in against_constant), Finding.NOT_SHOWN)
    tests = result.significance.against_kernels
    return {"all − constant": learned} | {f"{test.first} − {test.second}": test.finding for test in tests}


def first_division(result: CompareResult) -> Answer:
    """What the first division alone would have said."""
    protocol = result.protocol
    first = slice(0, protocol.folds)
    methods = [
        replace(method, errors=method.errors[first], inner=method.inner[first]) for method in result.methods
    ]
    rows = FoldRows(protocol.train_rows, protocol.test_rows, counted=bool(result.data.classes))
    constant = constant_of(result.constant.errors[first])
    return answer_of(replace(result, significance=significance_of(methods, constant, rows)))


def contradicted(answers: Sequence[Answer]) -> list[str]:
    """Pairs that are not open, and of which two answers say different things."""
    said = {pair: {answer[pair] for answer in answers} - {Finding.OPEN} for pair in answers[0]}
    return [pair for pair, findings in said.items() if len(findings) > 1]


def measure(name: str, dataset: Dataset) -> Stability:
    """Compare with each seed."""
    results, seconds = [], []
    for seed in SEEDS:
        start = time.perf_counter()
        results.append(run_compare(dataset, CompareSettings(seed=seed)))
        seconds.append(round(time.perf_counter() - start, 1))
    answers, once = [answer_of(each) for each in results], [first_division(each) for each in results]
    pairs = list(answers[0])
    return Stability(
        name=name,
        rows=dataset.n,
        answers={pair: [answer[pair].value for answer in answers] for pair in pairs},
        adjusted={
            f"{first.first} − {first.second}": [
                each.significance.against_kernels[k].adjusted for each in results
            ]
            for k, first in enumerate(results[0].significance.against_kernels)
        },
        once={pair: [answer[pair].value for answer in once] for pair in pairs},
        repeats=[result.protocol.repeats for result in results],
        seconds=seconds,
        contradicted=contradicted(answers),
        contradicted_once=contradicted(once),
    )


def run(names: Sequence[str] = NAMES) -> list[Stability]:
    """Print each table as it is done, and return all of them."""
    found = []
    for name, dataset in tables(tuple(names)).items():
        some = subset(dataset, torch.arange(min(dataset.n, MOST_ROWS)))
        found.append(measure(name, some))
        print(found[-1], flush=True)
    print(f"{sum(not each.contradicted for each in found)} of {len(found)} without a contradiction")
    return found


if __name__ == "__main__":
    run(sys.argv[1:] or NAMES)
