"""The folder that an audit leaves behind."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from widenet.audit.result import AuditResult
from widenet.data.dataset import Dataset
from widenet.report.files import labels_csv, to_json, write_folder
from widenet.report.page import audit_page

AUDIT_FILES = ("report.html", "result.json", "labels.csv", "config.json")


def write_audit(
    out: Path, result: AuditResult, dataset: Dataset, config: Mapping[str, Any], *, force: bool
) -> AuditResult:
    """Write report, result, ranked labels and settings; returns the result with its `labels_file`."""
    result = replace(result, labels_file=str(out / "labels.csv"))
    contents = (
        audit_page(result, dataset),
        to_json(result.to_dict()),
        labels_csv(result.labels),
        to_json(config),
    )
    write_folder(out, dict(zip(AUDIT_FILES, contents, strict=True)), force=force)
    return result
