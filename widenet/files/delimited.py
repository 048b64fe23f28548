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
from widenet.files.table import Sheet, size_note
from widenet.files.text import decoded, encoding_note

if TYPE_CHECKING:
    import pandas as pd

MOST_RAGGED = 5  # lines of a wrong length that are told one by one
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
        num_rows: Records below the heading.
        num_spare: Fields at the end of each record that are always empty, without a name.
    """

    dialect: Dialect
    header: Header
    heading: Heading
    start: int
    num_rows: int
    num_spare: int


def delimited_names(path: Path) -> Header | None:
    """The header of a delimited file, from its first bytes alone; None where it does not fit into them."""
    content = read_start(path, START)
    if len(content) == START:
        content = read_start(path, TOP)
    text, _ = decoded(content, cut=True)
    top = _read_top(dialect_of(text), shown(path.name))
    is_cut = len(content) == TOP and top.heading.num_records >= len(top.records)
    return None if is_cut else header_of(top.heading.names, shown(path.name))


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
    notes = [size_note(num_rows, num_columns, file_name, how), *encoding_note(encoding)]
    if layout.heading.num_titles:
        notes.append(f"Skipped {counted(layout.heading.num_titles, 'line')} above the column names.")
    notes += layout.heading.notes
    decimal = "," if layout.dialect.separator == ";" else "."
    return Sheet(frame, layout.header, tuple(notes), decimal=decimal)


def scan_delimited(text: str, file_name: str) -> Layout:
    """Check the structure of delimited text, holding one record at a time; all that is wrong is told."""
    dialect = dialect_of(text)
    top = _read_top(dialect, file_name)
    given = list(top.heading.names)
    header_of(given, file_name)  # refuses what is no header
    lengths, is_spare, ragged = Counter[int](), True, list[tuple[int, int, int]]()
    problems = Problems()
    try:
        for line, record in top.rows():
            lengths[len(record)] += 1
            is_spare = is_spare and not record[-1].strip()
            if len(record) != len(given) and len(ragged) < MOST_RAGGED:
                ragged.append((line, lengths.total(), len(record)))
    except csv.Error as error:
        problems.add(f"Line {top.line} of {file_name} is not valid CSV: {error}.")
    num_more = _num_more(lengths, given)
    if not num_more:
        num_ragged = lengths.total() - lengths[len(given)]
        problems.add(*_ragged_sentences(ragged, num_ragged, len(given), file_name))
    problems.refuse(file_name)
    if not lengths:
        raise InputError(f"{file_name} has a header and no rows: add at least two rows.")
    num_spare = max(num_more, 0) if is_spare else 0
    names = given[:num_more] if num_more < 0 else given
    names = [ROW_NAMES, *names] if num_more > 0 and not num_spare else names  # as R writes the names of rows
    header = header_of(names, file_name)
    return Layout(dialect, header, top.heading, top.start, lengths.total(), num_spare)


def _num_more(lengths: Counter[int], given: list[str]) -> int:
    """Fields that every row has more than the header has names; fewer only where the last names are empty."""
    if len(lengths) != 1:
        return 0
    num_more = next(iter(lengths)) - len(given)
    is_explained = num_more == 1 or (num_more < 0 and not any(name.strip() for name in given[num_more:]))
    return num_more if is_explained else 0


def _ragged_sentences(
    ragged: list[tuple[int, int, int]], num_ragged: int, num_names: int, file_name: str
) -> list[str]:
    told = [
        f"Line {line} of {file_name} (row {row}) has {counted(length, 'field')} and the header has "
        f"{num_names}: correct that line."
        for line, row, length in ragged
    ]
    if num_ragged > MOST_RAGGED:
        told.append(f"{counted(num_ragged - MOST_RAGGED, 'more line')} have another number of fields, too.")
    return told


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
    """

    records: list[list[str]]
    lines: list[int]
    ends: list[int]
    reader: Iterator[list[str]]
    heading: Heading

    @property
    def line(self) -> int:
        """The line that was read last."""
        return int(getattr(self.reader, "line_num", 0))

    @property
    def start(self) -> int:
        """Characters before the first row."""
        return self.ends[self.heading.num_records - 1] if self.heading.num_records else 0

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Lines and records below the heading; blank ones are none."""
        place = self.heading.num_records
        yield from zip(self.lines[place:], self.records[place:], strict=True)
        yield from ((self.line, record) for record in self.reader if record)


def _read_top(dialect: Dialect, file_name: str) -> _Top:
    lines = _Lines(dialect.text, file_name)
    reader = dialect.records(iter(lines))
    records, numbers, ends = list[list[str]](), list[int](), list[int]()
    try:
        for record in islice(reader, MOST_RECORDS):
            if record:
                records.append(record)
                numbers.append(int(getattr(reader, "line_num", 0)))
                ends.append(lines.taken)
    except csv.Error as error:
        number = getattr(reader, "line_num", 0)
        raise InputError(f"Line {number} of {file_name} is not valid CSV: {error}.") from error
    refuse_wide(max(map(len, records), default=0), file_name)
    return _Top(records, numbers, ends, reader, find_heading(records))


def _parse(layout: Layout) -> pd.DataFrame:
    """All fields as text, exactly as they were written."""
    import pandas as pd

    names, dialect = layout.header.names, layout.dialect
    frame = pd.read_csv(
        io.StringIO(dialect.text[layout.start :]),
        sep=dialect.separator,
        escapechar=dialect.escape,
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
