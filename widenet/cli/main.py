"""The command line: results to stdout, messages to stderr, heavy imports only where they are used."""

import os
import sys
from typing import NoReturn

import click

from widenet.cli.about import data, doctor
from widenet.cli.audit import audit
from widenet.cli.common import FAILED, INTERRUPTED, WRONG_INPUT
from widenet.cli.compare import compare
from widenet.cli.memorise import memorise, verify
from widenet.cli.theory import theory
from widenet.errors import InputError, WidenetError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="widenet")
def cli() -> None:
    """What a wide neural network can learn from your data, before and without training one."""


for command in (audit, compare, memorise, verify, theory, data, doctor):
    cli.add_command(command)


def main() -> NoReturn:
    """Run the command line; errors become one sentence and an exit code."""
    try:
        sys.exit(cli(standalone_mode=False) or 0)
    except (KeyboardInterrupt, click.Abort):
        _fail("Interrupted; no result was written.", INTERRUPTED)
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
