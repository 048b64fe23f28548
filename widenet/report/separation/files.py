"""The folder that a separation run leaves behind."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from widenet.papers.resnet_beyond_kernels.separation.result import SeparationResult
from widenet.report.parts.files import to_json, write_folder
from widenet.report.separation.page import separation_page

SEPARATION_FILES = ("report.html", "result.json", "table.csv", "config.json")


def write_separation(out: Path, result: SeparationResult, config: Mapping[str, Any], *, force: bool) -> None:
    """Write report, result, table and settings, all of them or none."""
    contents = (separation_page(result), to_json(result.to_dict()), separation_csv(result), to_json(config))
    write_folder(out, dict(zip(SEPARATION_FILES, contents, strict=True)), force=force)


def separation_csv(result: SeparationResult) -> str:
    """A line for each number of samples: the network, the bound and every kernel, numbers in full."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("samples", "network", "bound", *(kernel.name for kernel in result.kernels)))
    for index, size in enumerate(result.sizes):
        kernels = (kernel.errors[index] for kernel in result.kernels)
        writer.writerow((size, result.network[index].error, result.floor[index], *kernels))
    return text.getvalue()
