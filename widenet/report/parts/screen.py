"""What every screenful shares: a title, sentences set in, columns that line up; never wider than 80 columns.

Text is handed over as `Text`, in which rich reads no markup, so that names in the data stay literal.
"""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

WIDEST = 80
INDENT = "  "
NARROWEST = 24  # columns that a sentence needs beside its head; with fewer it stands below


def title(console: Console, command: str, facts: str) -> None:
    """The command and what it was about."""
    console.print(Text.assemble((f"widenet {command}", "bold"), f"  {facts}"), highlight=False)


def line(console: Console, text: str | Text, style: str = "") -> None:
    """One line as it is."""
    console.print(Text(text, style=style) if isinstance(text, str) else text, highlight=False)


def sentence(
    console: Console, text: str, style: str = "", indent: str = INDENT, head: Text | None = None
) -> None:
    """A sentence set in; with a head, its first line follows that, and the others stand under the first."""
    if head is not None and min(console.width, WIDEST) - len(head) < NARROWEST:
        head.rstrip()
        line(console, head)
        head = None
    lead = Text(indent) if head is None else head
    room = max(min(console.width, WIDEST) - len(lead), 8)
    for position, part in enumerate(Text(text, style=style).wrap(console, room)):
        part.rstrip()
        line(console, (lead if position == 0 else Text(" " * len(lead))) + part)


def verdict(console: Console, sentences: Iterable[str]) -> None:
    """The answer, its first sentence in bold."""
    for position, each in enumerate(sentences):
        sentence(console, each, style="bold" if position == 0 else "")


def columns(cells: Sequence[str], widths: Sequence[int], num_left: int) -> str:
    """Cells in columns: the first `num_left` to the left, the others, which are numbers, to the right."""
    aligned = [
        cell.ljust(width) if column < num_left else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return " ".join(aligned).rstrip()
