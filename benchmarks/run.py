"""`make bench`: every benchmark after the other, their records into docs/benchmarks.json."""

import json
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from benchmarks import (
    beyond_kernels,
    cluster,
    enclosure,
    first_answer,
    gram,
    labels,
    large,
    learning_curve,
    memorise,
    million,
    people,
    spectrum,
    sweep,
    tiles,
    truth,
    verdicts,
)

BENCHMARKS: dict[str, Callable[[], Any]] = {
    "spectrum": spectrum.run,
    "gram": gram.run,
    "sweep": sweep.run,
    "beyond_kernels": beyond_kernels.run,
    "enclosure": enclosure.run,
    "tiles": tiles.run,
    "cluster": cluster.run,
    "truth": truth.run,
    "labels": labels.run,
    "learning_curve": learning_curve.run,
    "memorise": memorise.run,
    "large": large.run,
    "million": million.run,
    "people": people.run,
    "first_answer": first_answer.run,
    "verdicts": verdicts.run,
}
RESULTS = Path(__file__).parent.parent / "docs" / "benchmarks.json"


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    return {
        "processor": _processor(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def _json(record: Any) -> str:
    return json.dumps(record, indent=2, ensure_ascii=False, default=vars)


def main(names: list[str]) -> None:
    """Run the named benchmarks, or all, and keep the records of the others."""
    records = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    records["machine"] = machine()
    for name in names or BENCHMARKS:
        print(f"== {name}", flush=True)
        records[name] = BENCHMARKS[name]()
        print(_json(records[name]), flush=True)
        RESULTS.write_text(_json(records) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
