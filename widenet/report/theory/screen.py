"""Quantities of the theory on a terminal, at most 80 columns wide."""

import math
from collections.abc import Iterable, Mapping

from rich.console import Console
from rich.text import Text

from widenet.report.parts.quantities import literal
from widenet.theory.entry import Argument, Entry
from widenet.theory.quantity import Constant, Quantity

WIDTH = 80
MARGIN = 12  # columns of the headings on the left


def print_quantity(quantity: Quantity, console: Console, titles: Mapping[str, str]) -> None:
    """Value, formula, the formula with numbers, terms, constants, range and source."""
    title = Text.assemble(("widenet theory", "bold"), f"  {quantity.name}")
    console.print(title, highlight=False)
    console.print()
    _part(console, "value", [value_text(quantity)], style="bold")
    _part(console, "formula", [quantity.formula])
    _part(console, "numbers", [quantity.filled])
    _part(console, "terms", [f"{name} = {number_text(value)}" for name, value in quantity.terms.items()])
    _part(console, "constants", [_constant_text(*item) for item in quantity.constants.items()])
    applies = {True: "inside the range", False: "outside the range", None: "no conditions to check"}
    _part(console, "range", [applies[quantity.applies], *quantity.why])
    source = quantity.source
    _part(console, "source", [f"{source.paper}, {source.place}", titles.get(source.paper, "")])


def print_list(groups: Mapping[str, Iterable[Entry]], commands: Mapping[str, str], console: Console) -> None:
    """What can be computed, a line for each."""
    for heading, entries in groups.items():
        console.print(Text(heading, style="bold cyan"), highlight=False)
        for entry in entries:
            _listed(console, entry.name, entry.summary)
        console.print()
    console.print(Text("Commands with options of their own", style="bold cyan"), highlight=False)
    for name, summary in commands.items():
        _listed(console, name, summary)
    console.print()
    for line in ("widenet theory NAME key=value ... computes one; NAME --help tells its arguments.",):
        console.print(Text(line), highlight=False)


def argument_lines(arguments: Mapping[str, Argument]) -> list[str]:
    """What each argument means, its range and its default."""
    return [
        f"{name}: {argument.meaning}, {argument.range}"
        + ("" if argument.default is None else f"; {_default_text(argument.default)} unless told")
        for name, argument in arguments.items()
    ]


def _default_text(default: object) -> str:
    return f"{default:g}" if isinstance(default, float) else str(default)


def value_text(quantity: Quantity) -> str:
    """The value, by its logarithm where a float overflows."""
    if math.isfinite(quantity.value):
        error = f" ± {quantity.error:.1g}" if quantity.error else ""
        return f"{quantity.value:.6g}{error}"
    if quantity.log10 is not None and math.isfinite(quantity.log10):
        return f"10^{quantity.log10:.6g}, too large for a float"
    return "infinite"


def number_text(value: float) -> str:
    if isinstance(value, float) and math.isinf(value):
        return "beyond a float" if value > 0 else "−∞"
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def _constant_text(symbol: str, constant: Constant) -> str:
    whose = "ours, the paper hides it" if constant.hidden else "the paper's"
    return f"{symbol} = {constant.value:g} ({whose}): {constant.meaning}"


def _listed(console: Console, name: str, summary: str) -> None:
    head = f"  {name:<27} "
    for number, line in enumerate(Text(summary).wrap(console, WIDTH - len(head))):
        line.rstrip()
        console.print(Text(head if number == 0 else " " * len(head)) + line, highlight=False)


def _part(console: Console, heading: str, lines: Iterable[str], style: str = "") -> None:
    """A heading on the left, and lines beside it."""
    told = [line for line in lines if line]
    for number, sentence in enumerate(told):
        text = Text(literal(sentence, 2000), style=style)
        for part, line in enumerate(text.wrap(console, min(console.width, WIDTH) - MARGIN, overflow="fold")):
            line.rstrip()
            head = heading if number == part == 0 else ""
            console.print(Text(f"{head:<{MARGIN}}", style="cyan") + line, highlight=False)
