"""The files of a separation, besides its page."""

import csv
import io
from typing import Any

from widenet.papers.resnet_beyond_kernels.separation.result import SeparationResult
from widenet.report.separation.sentences import sentences

TABLE_FILE = "table.csv"
FILES = (TABLE_FILE,)


def record(result: SeparationResult) -> dict[str, Any]:
    """The separation as JSON has it."""
    return result.to_dict() | {"verdict": list(sentences(result))}


def files(result: SeparationResult) -> dict[str, str | bytes]:
    """A line for each number of samples: the network, the bound and every kernel, numbers in full."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("samples", "network", "bound", *(kernel.name for kernel in result.kernels)))
    for index, size in enumerate(result.sizes):
        kernels = (kernel.errors[index] for kernel in result.kernels)
        writer.writerow((size, result.network[index].error, result.floor[index], *kernels))
    return {TABLE_FILE: text.getvalue()}
