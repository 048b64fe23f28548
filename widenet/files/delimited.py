"""Delimited text: structure checked record by record first, then read at speed."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.problems import Problems
from widenet.base.wording import counted, shown
from widenet.files.dialect import MOST_RECORDS, START, Dialect, dialect_of
from widenet.files.header import Header, header_of
from widenet.files.heading import Heading, find_heading
from widenet.files.limits import refuse_long_lines, refuse_wide
from widenet.files.packed import read_bytes, read_start
from widenet.files.prose import below_prose
from widenet.files.ragged import Seen, ragged_sentences
from widenet.files.remarks import below_remarks
from widenet.files.table import Sheet, size_note
from widenet.files.text import decoded, encoding_note

if TYPE_CHECKING:
    import pandas as pd

TOP = 2**22  # bytes that the names are looked for in, where there are many
ROW_NAMES = ""  # the name of a column that only rows have


@dataclass(frozen=True)
class Layout:
    """What a pass over delimited text found.

    Attributes:
        dialect: The text, and how its records are divided.
        header: Names of the columns, of those that only the rows have too.
        heading: What stands above the rows.
        start: Characters before the first row.
        stop: Characters up to the end of the last one.
        num_rows: Records below the heading.
        num_spare: Fields at the end of each record that are always empty, without a name.
        num_above: Lines above the names.
        num_below: Lines below the rows.
        num_short: Rows that end before the last column.
    """

    dialect: Dialect
    header: Header
    heading: Heading
    start: int
    stop: int
    num_rows: int
    num_spare: int
    num_above: int
    num_below: int
    num_short: int

    @property
    def notes(self) -> list[str]:
        """What is told of lines that are no rows."""
        above, below = counted(self.num_above, "line"), counted(self.num_below, "line")
        return [
            *([f"Skipped {above} above the column names."] if self.num_above else []),
            *self.heading.notes,
            *([f"Skipped {below} below the rows, a source or the like."] if self.num_below else []),
            *self._short_notes,
        ]

    @property
    def _short_notes(self) -> list[str]:
        if not self.num_short:
            return []
        rows = f"{self.num_short:,} rows end" if self.num_short > 1 else "1 row ends"
        return [f"{rows} early: what is lacking in the last columns is missing."]


def delimited_names(path: Path) -> Header | None:
    """The header of a delimited file, from its first bytes alone; None where it does not fit into them."""
    content = read_start(path, START)
    if len(content) == START:
        content = read_start(path, TOP)
    text, _ = decoded(content, cut=True)
    top = _read_top(dialect_of(_below_lines(text)[0]), shown(path.name))
    is_cut = len(content) == TOP and top.heading.num_records >= len(top.records)
    return None if is_cut else _header(top, shown(path.name))


def read_delimited(path: Path) -> Sheet:
    """Read a `.csv`, `.tsv` or `.txt` file, packed or not: one header line, first data row is row 1."""
    file_name, content = shown(path.name), read_bytes(path)
    refuse_long_lines(content, file_name)
    text, encoding = decoded(content)
    del content
    layout = scan_delimited(text, file_name)
    num_rows, num_columns = layout.num_rows, len(layout.header.names)
    what = f"A table of {num_rows:,} rows and {num_columns:,} columns"
    require_memory(3 * 8 * num_rows * num_columns, what)
    frame = _parse(layout)
    if len(frame) != num_rows:
        raise InputError(f"{file_name} can be read in more than one way: write it with plain quoting.")
    how = f", separated by {layout.dialect.how}"
    notes = [size_note(num_rows, num_columns, file_name, how), *encoding_note(encoding), *layout.notes]
    decimal = "," if layout.dialect.separator == ";" else "."
    return Sheet(frame, layout.header, tuple(notes), decimal=decimal)


def scan_delimited(text: str, file_name: str) -> Layout:
    """Check the structure of delimited text, holding one record at a time; all that is wrong is told."""
    text, num_skipped = _below_lines(text)
    dialect = dialect_of(text)
    top = _read_top(dialect, file_name)
    given = list(top.heading.names)
    _header(top, file_name)  # refuses what is no header
    seen, problems = Seen(len(given)), Problems()
    try:
        for line, end, record in top.rows():
            seen.add(line, end, record)
    except csv.Error as error:
        problems.add(f"Line {top.line} of {file_name} is not valid CSV ({error}): correct its quotes.")
    num_below = seen.num_below
    lengths = seen.lengths - seen.below if num_below else seen.lengths
    num_more = _num_more(lengths, given)
    num_short = 0 if num_below else seen.num_short(is_cut=not dialect.text.endswith(("\n", "\r")))
    if not (num_more or num_below or num_short):
        problems.add(*ragged_sentences(seen, file_name))
    problems.refuse(file_name)
    if not lengths:
        raise InputError(f"{file_name} has a header and no rows: add at least two rows.")
    num_spare = max(num_more, 0) if seen.is_spare else 0
    names = given[:num_more] if num_more < 0 else given
    names = [ROW_NAMES, *names] if num_more > 0 and not num_spare else names  # as R writes the names of rows
    return Layout(
        dialect,
        header_of(names, file_name),
        top.heading,
        start=top.start,
        stop=seen.stop if num_below else len(dialect.text),
        num_rows=lengths.total(),
        num_spare=num_spare,
        num_above=num_skipped + top.heading.num_titles,
        num_below=num_below,
        num_short=num_short,
    )


def _below_lines(text: str) -> tuple[str, int]:
    """A text without remarks and prose above its names, and how many lines of these there were."""
    text, num_remarks = below_remarks(text)
    text, num_prose = below_prose(text)
    return text, num_remarks + num_prose


def _header(top: _Top, file_name: str) -> Header:
    """The header that names make; lines of several words that nothing divides are refused as such."""
    given = top.heading.names
    whole = [record[0].strip() for record in top.records if len(record[0].split()) > 2]
    if len(given) == 1 and whole:
        raise InputError(
            f"The lines of {file_name}, such as {shown(whole[0])}, are not divided alike by commas, "
            "semicolons, tabs, bars or spaces: save the table as .csv in the program that wrote it."
        )
    return header_of(given, file_name)


def _num_more(lengths: Counter[int], given: list[str]) -> int:
    """Fields that every row has more than the header has names; fewer only where the last names are empty."""
    if len(lengths) != 1:
        return 0
    num_more = next(iter(lengths)) - len(given)
    is_explained = num_more == 1 or (num_more < 0 and not any(name.strip() for name in given[num_more:]))
    return num_more if is_explained else 0


class _Lines:
    """Lines of a text, with the number of characters that were taken."""

    def __init__(self, text: str, file_name: str) -> None:
        self.taken, self.file_name = 0, file_name
        self._lines = io.StringIO(text, newline="")  # leaves line ends inside quotes alone

    def __iter__(self) -> Iterator[str]:
        for number, line in enumerate(self._lines, start=1):
            if "\0" in line:
                raise InputError(
                    f"Line {number} of {self.file_name} holds a NUL byte: save the file as UTF-8 text."
                )
            self.taken += len(line)
            yield line


@dataclass(frozen=True)
class _Top:
    """The first records of a text that are not blank, and a reader of those after them.

    Attributes:
        records: The first ones.
        lines: The line that each of them ends in.
        ends: Characters up to the end of each of them.
        reader: Of the others.
        heading: What the first ones say of the columns.
        source: The lines that the reader takes.
    """

    records: list[list[str]]
    lines: list[int]
    ends: list[int]
    reader: Iterator[list[str]]
    heading: Heading
    source: _Lines

    @property
    def line(self) -> int:
        """The line that was read last."""
        return int(getattr(self.reader, "line_num", 0))

    @property
    def start(self) -> int:
        """Characters before the first row."""
        return self.ends[self.heading.num_records - 1] if self.heading.num_records else 0

    def rows(self) -> Iterator[tuple[int, int, list[str]]]:
        """Lines, characters up to their ends, and records below the heading; blank ones are none."""
        place = self.heading.num_records
        yield from zip(self.lines[place:], self.ends[place:], self.records[place:], strict=True)
        yield from ((self.line, self.source.taken, record) for record in self.reader if record)


def _read_top(dialect: Dialect, file_name: str) -> _Top:
    lines = _Lines(dialect.text, file_name)
    reader = dialect.records(iter(lines))
    records, numbers, ends = list[list[str]](), list[int](), list[int]()
    try:
        for record in islice(filter(None, reader), MOST_RECORDS):
            records.append(record)
            numbers.append(int(getattr(reader, "line_num", 0)))
            ends.append(lines.taken)
    except csv.Error as error:
        number = getattr(reader, "line_num", 0)
        raise InputError(
            f"Line {number} of {file_name} is not valid CSV ({error}): correct its quotes."
        ) from error
    refuse_wide(max(map(len, records), default=0), file_name)
    return _Top(records, numbers, ends, reader, find_heading(records), lines)


def _parse(layout: Layout) -> pd.DataFrame:
    """All fields as text, exactly as they were written."""
    import pandas as pd

    names, dialect = layout.header.names, layout.dialect
    frame = pd.read_csv(
        io.StringIO(dialect.text[layout.start : layout.stop]),
        sep=dialect.separator,
        escapechar=dialect.escape,
        quoting=dialect.quoting,
        quotechar=dialect.quote,
        header=None,
        names=range(len(names) + layout.num_spare),  # by position, so that no name is ever interpreted
        index_col=False,
        dtype=str,
        keep_default_na=False,
        skipinitialspace=True,
        low_memory=False,
    )
    frame = frame.iloc[:, : len(names)]
    frame.columns = pd.Index(names)
    return frame
