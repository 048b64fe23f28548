"""The files of a separation, besides its page."""

from typing import Any

from widenet.papers.resnet_beyond_kernels.separation.result import SeparationResult
from widenet.report.parts.files import csv_text
from widenet.report.separation.sentences import sentences

TABLE_FILE = "table.csv"
FILES = (TABLE_FILE,)


def record(result: SeparationResult) -> dict[str, Any]:
    """The separation as JSON has it."""
    return result.to_dict() | {"verdict": list(sentences(result))}


def files(result: SeparationResult) -> dict[str, str | bytes]:
    """A line for each number of samples: the network, the bound and every kernel, numbers in full."""
    spread = ("network std", "network lowest", "network highest")
    head = ("samples", "network", "bound", *(kernel.name for kernel in result.kernels), *spread)
    lines = [
        (
            point.num_samples,
            point.error,
            floor,
            *(kernel.errors[index] for kernel in result.kernels),
            *(point.std, point.lowest, point.highest),
        )
        for index, (point, floor) in enumerate(zip(result.network, result.floor, strict=True))
    ]
    return {TABLE_FILE: csv_text(head, lines)}
