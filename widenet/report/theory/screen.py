"""Quantities of the theory on a screen of a terminal."""

from collections.abc import Iterable, Mapping

from rich.console import Console
from rich.text import Text

from widenet.report.parts.quantities import literal
from widenet.report.parts.screen import line, sentence, title
from widenet.report.theory.sentences import constant_text, number_text, value_text
from widenet.theory.entry import Entry
from widenet.theory.names import TITLES
from widenet.theory.quantity import Quantity

MARGIN = 12  # columns of the headings on the left
LONGEST_LINE = 2000  # characters


def screen(quantity: Quantity, console: Console) -> None:
    """Value, formula, the formula with numbers, terms, constants, range and source."""
    title(console, "theory", quantity.name)
    line(console, "")
    _part(console, "value", [value_text(quantity)], style="bold")
    _part(console, "formula", [quantity.formula])
    _part(console, "numbers", [quantity.filled])
    _part(console, "terms", [f"{name} = {number_text(value)}" for name, value in quantity.terms.items()])
    _part(console, "constants", [constant_text(*item) for item in quantity.constants.items()])
    applies = {True: "inside the range", False: "outside the range", None: "no conditions to check"}
    _part(console, "range", [applies[quantity.applies], *quantity.why])
    source = quantity.source
    _part(console, "source", [f"{source.paper}, {source.place}", TITLES.get(source.paper, "")])


def list_screen(groups: Mapping[str, Iterable[Entry]], commands: Mapping[str, str], console: Console) -> None:
    """What can be computed, a line for each."""
    for heading, entries in groups.items():
        _listed(console, heading, {entry.name: entry.summary for entry in entries})
    _listed(console, "Commands with options of their own", commands)


def _listed(console: Console, heading: str, summaries: Mapping[str, str]) -> None:
    line(console, heading, style="bold cyan")
    for name, summary in summaries.items():
        sentence(console, summary, head=Text(f"  {name:<27} "))
    line(console, "")


def _part(console: Console, heading: str, lines: Iterable[str], style: str = "") -> None:
    """A heading on the left, and lines beside it."""
    for number, each in enumerate(filter(None, lines)):
        head = Text(f"{'' if number else heading:<{MARGIN}}", style="cyan")
        sentence(console, literal(each, LONGEST_LINE), style=style, head=head)
