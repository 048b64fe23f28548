"""How delimited text is written: its separator, found from the first records, and how quotes are escaped."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
PLAIN_SEPARATORS = ("\t", "|")  # that stand in no text, so that quotes are not needed
SPACES = "spaces"
START = 2**16  # bytes that the separator and the header are looked for in
MOST_RECORDS = 50  # that vote on the separator
SINGLE = re.compile(r"(?:^|[,;\t|])[ ]*'", re.MULTILINE)  # a quote that may begin a field
GAPS = (r"[ \t]+", r"[ \t]{2,}|\t")  # between columns that are aligned: any space, or only wide ones


@dataclass(frozen=True)
class Dialect:
    """Text of records, and how it is divided into fields.

    Attributes:
        text: The text; tabs take the place of spaces that divide columns.
        separator: Between fields.
        how: What divides the fields of the file, in words.
        escape: The sign before a quote within quotes; None where quotes are doubled.
        gap: What divides columns that are aligned; empty for others.
        has_quotes: Whether quotes around a field are none of it.
        quote: The sign that such quotes are.
    """

    text: str
    separator: str
    how: str
    escape: str | None = None
    gap: str = ""
    has_quotes: bool = True
    quote: str = '"'

    def records(self, lines: Iterator[str], *, strict: bool = True) -> Iterator[list[str]]:
        """A reader of records, as the csv module has it."""
        return csv.reader(
            lines,
            delimiter=self.separator,
            escapechar=self.escape,
            skipinitialspace=True,
            strict=strict,
            quoting=self.quoting,
            quotechar=self.quote,
        )

    @property
    def quoting(self) -> Literal[0, 3]:
        """How quotes are read, as the csv module has it."""
        return csv.QUOTE_MINIMAL if self.has_quotes else csv.QUOTE_NONE

    def divided(self, line: str) -> list[str]:
        """The fields of another line of the file."""
        return next(self.records(iter([_tabbed(line, self.gap) if self.gap else line]), strict=False), [])


def dialect_of(text: str) -> Dialect:
    r"""The dialect that splits the first records most evenly; spaces where only these do.

    >>> dialect_of("a b\n1  2\n").how, dialect_of("a;b\n1;2\n").how
    ('spaces', 'semicolons')
    """
    text = text.replace("\x1a", "")  # with which old systems end a file
    best = _separator_of(text)
    is_even, share, num_fields = _evenness(text, best)
    if not (is_even and share == 1.0):
        start = _whole_lines(text)
        for gap in GAPS:
            evenness = _evenness(_tabbed(start, gap), "\t")
            if evenness >= (True, 1.0, max(2, num_fields)):
                return Dialect(_tabbed(text, gap), "\t", SPACES, gap=gap)
    dialect = _quoted(Dialect(text, best, SEPARATORS[best]))
    return replace(dialect, quote="'") if _has_single_quotes(dialect) else dialect


def _separator_of(text: str) -> str:
    """Commas only where nothing else divides all records alike: they may be decimal ones."""
    evenness = {separator: _evenness(text, separator) for separator in SEPARATORS}
    sure = [each for each, found in evenness.items() if each != "," and found >= (True, 1.0, 2)]
    return max(sure or evenness, key=lambda separator: evenness[separator])


def _tabbed(text: str, gap: str) -> str:
    """Text with a tab for each gap outside quotes, and without spaces at the ends of lines."""
    pattern = re.compile(rf'("[^"\n]*")|{gap}')
    return "".join(
        pattern.sub(lambda found: found[1] or "\t", line.strip(" \t\r\n")) + "\n" for line in text.split("\n")
    )


def _evenness(text: str, separator: str) -> tuple[bool, float, int]:
    """Whether the header has as many fields as most records, the share of these, and that number."""
    reader = csv.reader(
        io.StringIO(_whole_lines(text), newline=""), delimiter=separator, skipinitialspace=True
    )
    lengths = []
    with suppress(csv.Error):
        lengths = [len(record) for record in islice(filter(None, reader), MOST_RECORDS)]
    several = [length for length in lengths if length > 1]
    if not several:
        return False, 0.0, 1
    (most, count), *_ = Counter(several).most_common(1)
    alike = count + (several[0] == most - 1)  # a header without a name for the names of rows
    return several[0] in (most, most - 1), alike / len(lengths), most


def _whole_lines(text: str) -> str:
    """The start of a text, without a line that is cut off."""
    return text if len(text) <= START else text[:START].rpartition("\n")[0] or text[:START]


def _quoted(dialect: Dialect) -> Dialect:
    """A dialect with another way to end quotes, where no other reading of them is allowed.

    Quotes within quotes may have a backslash before them, and a quote that ends a field spaces behind it.
    Between tabs or bars, which no field holds, they may be signs like others.
    """
    has_escapes = '\\"' in dialect.text
    spaces = re.compile(rf'(?<=")[ \t]+(?={re.escape(dialect.separator)}|[\r\n]|$)')
    has_spaces = dialect.separator != "\t" and spaces.search(dialect.text) is not None
    is_plain = dialect.separator in PLAIN_SEPARATORS and '"' in dialect.text
    if not (has_escapes or has_spaces or is_plain) or _is_strict(dialect):
        return dialect
    if is_plain and _is_even(plain := replace(dialect, has_quotes=False)):
        return plain
    closed = replace(dialect, text=spaces.sub("", dialect.text)) if has_spaces else dialect
    if has_spaces and _is_strict(closed):
        return closed
    return replace(dialect, escape="\\") if has_escapes else dialect


def _has_single_quotes(dialect: Dialect) -> bool:
    """Whether the first records have as many fields as each other with single quotes alone."""
    start = replace(dialect, text=_whole_lines(dialect.text))
    return bool(SINGLE.search(start.text)) and not _is_even(start) and _is_even(replace(start, quote="'"))


def _is_even(dialect: Dialect) -> bool:
    """Whether all records have as many fields as each other; a last line without an end may be cut."""
    whole = dialect.text[: dialect.text.rfind("\n") + 1] or dialect.text
    records = dialect.records(io.StringIO(whole, newline=""))
    try:
        return len({len(record) for record in records if record}) == 1
    except csv.Error:
        return False


def _is_strict(dialect: Dialect) -> bool:
    """Whether every quote is closed right before a separator or the end of a line."""
    try:
        for _ in dialect.records(io.StringIO(dialect.text, newline="")):
            pass
    except csv.Error:
        return False
    return True
