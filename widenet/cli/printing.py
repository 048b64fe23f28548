"""Results on stdout, whatever stdout is: narrow, of another alphabet, full, or a pipe that nobody reads."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from widenet.base.streams import spelled

if TYPE_CHECKING:
    from rich.console import Console


NARROWEST = 20  # columns that text is wrapped to at least; in none at all rich would print nothing


class ReaderLeftError(OSError):
    """Nobody reads stdout any more, as after `| head`; click would end with code 1, which means something."""


def say(text: str, *, nl: bool = True) -> None:
    """Text on stdout at once; an `OSError` where that cannot take it."""
    if sys.stdout is None:  # closed by whoever started this process
        return
    try:
        click.echo(spelled(text, sys.stdout.encoding), file=sys.stdout, nl=nl)
    except BrokenPipeError as error:
        raise ReaderLeftError from error


def screenful(draw: "Callable[[Console], None]") -> str:
    """What is drawn on a console as wide as stdout, as text."""
    from rich.console import Console

    console = Console()
    console.width = max(console.width, NARROWEST)
    with console.capture() as told:
        draw(console)
    return told.get()
