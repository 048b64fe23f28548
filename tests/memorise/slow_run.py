"""`widenet` for tests to kill: it writes every state, and takes its time over each.

Arguments: a file, to which a line is added for each state that was written, then those of the command.
"""

import signal
import sys
import time
from pathlib import Path

from widenet import cli
from widenet.memorise.methods import pgd
from widenet.runs import kept
from widenet.runs.store import Store


def main(log: Path) -> None:
    save = Store.save_state

    def logging(self, trial, arrays, notes, *, finished=False):
        save(self, trial, arrays, notes, finished=finished)
        with log.open("a") as file:
            file.write(f"{int(arrays['step']) if arrays else 0}\n")
        time.sleep(0.1)

    kept.EVERY = 0.0
    pgd.MOST = 10  # steps of one piece
    Store.save_state = logging
    cli.main()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background has it ignored
    path = Path(sys.argv.pop(1))
    main(path)
