"""The files of a comparison, besides its page."""

import json
from typing import Any

from widenet.compare.result import CompareResult
from widenet.report.compare.sentences import HOW_TESTED, sentences
from widenet.report.parts.files import csv_text

TABLE_FILE = "table.csv"
FILES = (TABLE_FILE,)


def record(result: CompareResult) -> dict[str, Any]:
    """The comparison as JSON has it."""
    found = result.to_dict()
    found["significance"] = {"test": HOW_TESTED, **found["significance"]}
    return found | {"verdict": list(sentences(result))}


def files(result: CompareResult) -> dict[str, str | bytes]:
    """The methods as a table."""
    return {TABLE_FILE: table_csv(result)}


def table_csv(result: CompareResult) -> str:
    """A line for each method, the best first, numbers in full; the best setting as JSON.

    `p` is adjusted for the number of methods; `low` and `high` are the 95% interval of the error alone.
    """
    adjusted, lines = result.significance.adjusted, []
    for method in result.methods:
        scores = (method.error, method.std, method.rank, method.wins)
        best = None if method.best is None else json.dumps(method.best)
        told = (
            adjusted.get(method.name),
            method.seconds,
            best,
            method.low,
            method.high,
            result.constant.error,
            method.balanced_error,
            method.auc,
            method.log_loss,
        )
        lines.append((method.name, method.family, *scores, *told))
    head = (
        "method",
        "family",
        "error",
        "std",
        "rank",
        "wins",
        "p",
        "seconds",
        "best",
        "low",
        "high",
        "constant",
        "balanced_error",
        "auc",
        "log_loss",
    )
    return csv_text(head, lines)
