"""The folder that a comparison leaves behind."""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from widenet.compare.result import ComparisonResult
from widenet.report.compare.page import compare_page
from widenet.report.parts.files import to_json, write_folder

COMPARE_FILES = ("report.html", "result.json", "table.csv", "config.json")


def write_comparison(out: Path, result: ComparisonResult, config: Mapping[str, Any], *, force: bool) -> None:
    """Write report, result, table and settings, all of them or none."""
    contents = (compare_page(result), to_json(result.to_dict()), table_csv(result), to_json(config))
    write_folder(out, dict(zip(COMPARE_FILES, contents, strict=True)), force=force)


def table_csv(result: ComparisonResult) -> str:
    """A line for each method, the best first, numbers in full; the best setting as JSON."""
    adjusted = {test.first: test.adjusted for test in result.significance.against_best}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("method", "family", "error", "std", "rank", "wins", "p", "seconds", "best"))
    for method in result.methods:
        writer.writerow(
            (
                method.name,
                method.family,
                method.error,
                method.std,
                method.rank,
                method.wins,
                adjusted.get(method.name),
                method.seconds,
                None if method.best is None else json.dumps(method.best),
            )
        )
    return text.getvalue()
