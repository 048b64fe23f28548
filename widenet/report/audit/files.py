"""The files of an audit, besides its page."""

from dataclasses import astuple
from typing import Any

from widenet.audit.result import LABELS_FILE, AuditResult
from widenet.report.audit.sentences import sentences
from widenet.report.audit.theorists import why_bound
from widenet.report.parts.files import csv_text

FILES = (LABELS_FILE,)


def record(result: AuditResult) -> dict[str, Any]:
    """The audit as JSON has it."""
    found = result.to_dict()
    found["bound"]["why"] = why_bound(result)
    return found | {"verdict": list(sentences(result))}


def files(result: AuditResult) -> dict[str, str | bytes]:
    """Every row, the most suspicious first."""
    return {LABELS_FILE: labels_csv(result)}


def labels_csv(result: AuditResult) -> str:
    """The ranking as a table, numbers in full; text that looks like a formula has an apostrophe before it."""
    head, rows = ("row", "given", "suggested", "score"), map(astuple, result.ranking)
    if not result.files:
        return csv_text(head, rows, raw=result.raw_cells)
    with_files = ((*row, result.files[row[0]]) for row in rows)
    return csv_text((*head, "file"), with_files, raw=result.raw_cells)
