"""`make fuzz`: every search after the other; exit code 1 if one of them found a broken promise."""

import sys
from collections.abc import Callable
from dataclasses import dataclass

from fuzz import certificates, commands, inputs, kills, stores
from fuzz.report import FuzzReport


@dataclass(frozen=True)
class Search:
    """A search and how far it goes by default."""

    run: Callable[[int, int], FuzzReport]
    count: int


SEARCHES = {
    "certificates": Search(certificates.run, 2000),
    "stores": Search(stores.run, 2000),
    "inputs": Search(inputs.run, 2000),
    "commands": Search(commands.run, 1000),
    "kills": Search(kills.run, 200),
}
SEED = 0


def main(names: list[str]) -> int:
    """Run the named searches, or all; the number of broken promises."""
    num_broken = 0
    for name in names or SEARCHES:
        report = SEARCHES[name].run(SEARCHES[name].count, SEED)
        print(f"{name}: {report.tried} tried in {report.seconds:.0f} s, {report.outcomes}", flush=True)
        print(*(f"  BROKEN: {failure}" for failure in report.failures), sep="\n", flush=True)
        num_broken += len(report.failures)
    return num_broken


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
