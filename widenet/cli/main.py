"""The command line: results to stdout, messages to stderr, heavy imports only where they are used."""

import os
import sys
from typing import NoReturn

import click

from widenet.base.errors import InputError, WidenetError
from widenet.cli.about import data, doctor
from widenet.cli.common import FAILED, INTERRUPTED, WRONG_INPUT
from widenet.cli.reproduce import reproduce
from widenet.cli.study import study_command
from widenet.cli.theory import theory
from widenet.cli.verify import verify
from widenet.study.study import named

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
    try:
        sys.exit(cli(standalone_mode=False) or 0)
    except (KeyboardInterrupt, click.Abort):
        _fail("Interrupted.", INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except InputError as error:
        _fail(str(error), WRONG_INPUT)
    except BrokenPipeError:  # the reader of our output left, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FAILED)
    except WidenetError as error:
        _fail(str(error), FAILED)
    except Exception as error:
        _fail(f"Unexpected {type(error).__name__}: {error} (add --debug to see where)", FAILED)


def _fail(message: str, code: int) -> NoReturn:
    if "--debug" in sys.argv:
        raise
    click.echo(f"widenet: {message}", err=True)
    sys.exit(code)
