"""The command line: results to stdout, messages to stderr, heavy imports only where they are used."""

import atexit
import contextlib
import gc
import os
import sys
from io import TextIOWrapper
from traceback import walk_tb
from typing import NoReturn

import click

from widenet.base.errors import InputError, WidenetError
from widenet.base.memory import memory_told
from widenet.base.streams import silence, warn
from widenet.cli.about import data, doctor
from widenet.cli.common import FAILED, UNEXPECTED, UNPRINTED, WRONG_INPUT
from widenet.cli.printing import ReaderLeftError
from widenet.cli.reproduce import reproduce
from widenet.cli.signals import stop_code, stopping_signals
from widenet.cli.study import study_command
from widenet.cli.theory import theory
from widenet.cli.verify import verify
from widenet.study.study import named

COLLECT_AFTER = 100_000  # new objects; with Python's 700, imports would search for garbage hundreds of times
STUDIES = {  # a command each, by its name: where its `Study` stands
    "audit": "widenet.audit.study:AUDIT",
    "compare": "widenet.compare.study:COMPARE",
    "memorise": "widenet.memorise.study:MEMORISE",
}


class Commands(click.Group):
    """The studies, and the commands that are none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*STUDIES, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in STUDIES:
            return study_command(named(STUDIES[cmd_name]))
        return super().get_command(ctx, cmd_name)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="widenet")
def cli() -> None:
    """What a wide neural network can learn from your data, before and without training one."""


for command in (verify, theory, reproduce, data, doctor):
    cli.add_command(command)


def main() -> NoReturn:
    """Run the command line; errors become one sentence and an exit code."""
    # Threads that spin while they wait take the cores from others: much slower on a busy machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    gc.set_threshold(COLLECT_AFTER)
    atexit.unregister(gc.freeze)  # of an earlier call
    atexit.register(gc.freeze)  # a search for garbage at the end would take half a second
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # help pages have signs that not every encoding has
    with stopping_signals():
        try:
            with memory_told():
                code = cli(standalone_mode=False) or 0
            sys.exit(code)
        except (KeyboardInterrupt, click.Abort) as error:
            _fail(*stop_code(error))
        except click.ClickException as error:
            with contextlib.suppress(OSError):  # stderr may be full, too
                error.show()
            sys.exit(error.exit_code)
        except InputError as error:
            _fail(str(error), WRONG_INPUT)
        except WidenetError as error:
            _fail(str(error), FAILED)
        except ReaderLeftError:
            silence(sys.stdout)
            sys.exit(UNPRINTED)
        except Exception as error:
            if _is_of_printing(error):
                silence(sys.stdout)
                _fail(f"Output failed ({error}); this exit code says nothing of the result.", UNPRINTED)
            _fail(f"Unexpected {type(error).__name__}: {error} (add --debug to see where)", UNEXPECTED)


def _is_of_printing(error: Exception) -> bool:
    """Whether stdout failed, to which results, and the help of click itself, go by `click.echo` alone."""
    frames = (frame for frame, _ in walk_tb(error.__traceback__))
    return isinstance(error, OSError) and any(frame.f_code is click.echo.__code__ for frame in frames)


def _fail(message: str, code: int) -> NoReturn:
    if "--debug" in sys.argv:
        raise
    warn(f"widenet: {message}")
    sys.exit(code)
