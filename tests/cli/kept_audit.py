"""An audit for tests to kill: a line in a log for every product that was made.

Arguments: those of the command line after the file of the log. Every matrix is too large to be held whole.
"""

import sys
import time
from pathlib import Path

from widenet import cli
from widenet.audit import forecast
from widenet.spectrum.distributed import DistributedGram


def main(log: str, *arguments: str) -> None:
    forecast.DENSE_ROWS = 0
    matmul = DistributedGram.matmul

    def logged(self, V):
        product = matmul(self, V)
        time.sleep(0.2)  # a product of many rows
        with Path(log).open("a") as file:
            file.write(f"{V.shape[1]}\n")
        return product

    DistributedGram.matmul = logged
    sys.argv = ["widenet", *arguments]
    cli.main()


if __name__ == "__main__":
    main(*sys.argv[1:])
