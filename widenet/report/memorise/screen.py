"""A memorised data set, and a verification, on a screen of a terminal, at most 80 columns wide."""

from rich.console import Console
from rich.text import Text

from widenet.memorise.checker.verify import Verification
from widenet.memorise.result import MemoriseResult
from widenet.report.memorise.sentences import statements
from widenet.report.parts.quantities import literal

INDENT = "  "
WIDEST = 80
COLOURS = {"passed": "green", "failed": "bold red", "skipped": "yellow"}


def print_memorised(result: MemoriseResult, console: Console) -> None:
    """The verdict, then what was measured; names in the data are handed over as text without markup."""
    title = f"  {literal(result.data.name)}, {result.n:,} rows, {result.layers} layers, {result.method}"
    console.print(Text.assemble(("widenet memorise", "bold"), title), highlight=False)
    console.print()
    for number, sentence in enumerate(result.verdict):
        _wrapped(Text(sentence, style="bold" if number == 0 else ""), INDENT, console)
    console.print()
    rows = statements(result)
    width = max(len(what) for what, _ in rows)
    for what, value in rows:
        console.print(Text(f"{INDENT}{what.ljust(width)}  {value}"), highlight=False)


def print_verification(found: Verification, console: Console) -> None:
    """A line for each check, then the verdict."""
    console.print(Text.assemble(("widenet verify", "bold"), f"  {literal(found.folder)}"), highlight=False)
    console.print()
    for check in found.checks:
        head = Text.assemble((f"{check.status:<8}", COLOURS[check.status]), f"{check.name:<12}")
        _wrapped(head + Text(literal(check.sentence, longest=600)), "", console, hanging=len(head))
    console.print()
    skipped = sum(check.status == "skipped" for check in found.checks)
    failed = sum(check.status == "failed" for check in found.checks)
    if found.verified:
        left = f"; {skipped} of {len(found.checks)} could not be made here" if skipped else ""
        console.print(
            Text(f"Verified: every check that was made passed{left}.", style="bold green"), highlight=False
        )
    else:
        told = f"Not verified: {failed} of {len(found.checks)} checks failed."
        console.print(Text(told, style="bold red"), highlight=False)


def _wrapped(text: Text, indent: str, console: Console, hanging: int = 0) -> None:
    """Text in lines of at most `WIDEST` columns, all but the first set in by `hanging` more."""
    room = min(console.width, WIDEST) - len(indent) - hanging
    first, rest = text[:hanging], text[hanging:]
    for number, line in enumerate(rest.wrap(console, room)):
        line.rstrip()
        lead = first if number == 0 else Text(" " * hanging)
        console.print(Text(indent) + lead + line, highlight=False)
