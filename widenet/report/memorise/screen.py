"""A memorised data set on a screen of a terminal."""

from rich.console import Console

from widenet.memorise.result import MemoriseResult
from widenet.report.memorise.sentences import sentences, statements
from widenet.report.parts.quantities import literal
from widenet.report.parts.screen import INDENT, line, title, verdict


def screen(result: MemoriseResult, console: Console) -> None:
    """The verdict, then what was measured."""
    data = result.data
    facts = f"{literal(data.name)}, {data.n:,} rows, {result.layers} layers, {result.method}"
    title(console, "memorise", facts)
    line(console, "")
    verdict(console, sentences(result))
    line(console, "")
    rows = statements(result)
    width = max(len(what) for what, _ in rows)
    for what, value in rows:
        line(console, f"{INDENT}{what.ljust(width)}  {value}")
