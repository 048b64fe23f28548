"""Delimited text: structure checked record by record first, then read at speed."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.problems import Problems
from widenet.base.wording import counted, shown
from widenet.files.header import Header, header_of
from widenet.files.packed import read_bytes, read_start
from widenet.files.table import Sheet, size_note
from widenet.files.text import decoded, encoding_note

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
NAMES = SEPARATORS | {" ": "spaces"}
START = 2**16  # bytes that the separator and the header are looked for in
MOST_RECORDS = 50  # that vote on the separator
MOST_RAGGED = 5  # lines of a wrong length that are told one by one
ROW_NAMES = ""  # the name of a column that only rows have


@dataclass(frozen=True)
class Layout:
    """What a pass over delimited text found.

    Attributes:
        separator: Between fields.
        header: Names of the columns, of those that only the rows have too.
        start: Characters before the header: lines of a title.
        num_titles: Lines of a title.
        num_rows: Records below the header.
        num_spare: Fields at the end of each record that are always empty, without a name.
    """

    separator: str
    header: Header
    start: int
    num_titles: int
    num_rows: int
    num_spare: int


def delimited_names(path: Path) -> Header:
    """The header of a delimited file, from its first bytes alone."""
    text, _ = decoded(read_start(path, START), cut=True)
    separator = separator_of(text)
    found = _find_header(_Lines(text, shown(path.name)), separator)
    return header_of(found.names, shown(path.name))


def read_delimited(path: Path) -> Sheet:
    """Read a `.csv`, `.tsv` or `.txt` file, packed or not: one header line, first data row is row 1."""
    text, encoding = decoded(read_bytes(path))
    file_name = shown(path.name)
    layout = scan_delimited(text, file_name)
    num_rows, num_columns = layout.num_rows, len(layout.header.names)
    what = f"A table of {num_rows:,} rows and {num_columns:,} columns"
    require_memory(3 * 8 * num_rows * num_columns, what)
    frame = _parse(text[layout.start :], layout)
    if len(frame) != num_rows:
        raise InputError(f"{file_name} can be read in more than one way: write it with plain quoting.")
    how = f", separated by {NAMES[layout.separator]}"
    notes = [size_note(num_rows, num_columns, file_name, how), *encoding_note(encoding)]
    if layout.num_titles:
        notes.append(f"Skipped {counted(layout.num_titles, 'line')} above the column names.")
    return Sheet(frame, layout.header, tuple(notes), decimal="," if layout.separator == ";" else ".")


def scan_delimited(text: str, file_name: str) -> Layout:
    """Check the structure of delimited text, holding one record at a time; all that is wrong is told."""
    separator, lines = separator_of(text), _Lines(text, file_name)
    found = _find_header(lines, separator)
    given = found.names
    header_of(given, file_name)  # refuses what is no header
    lengths, is_spare, ragged = Counter[int](), True, []
    problems = Problems()
    try:
        for record in found.reader:
            if record:
                lengths[len(record)] += 1
                is_spare = is_spare and not record[-1].strip()
                if len(record) != len(given):
                    ragged.append((found.line, lengths.total(), len(record)))
    except csv.Error as error:
        problems.add(f"Line {found.line} of {file_name} is not valid CSV: {error}.")
    num_more = 1 if set(lengths) == {len(given) + 1} else 0  # all rows have one field more
    if not num_more:
        problems.add(*_ragged_sentences(ragged, len(given), file_name))
    problems.refuse(file_name)
    if not lengths:
        raise InputError(f"{file_name} has a header and no rows: add at least two rows.")
    num_spare = num_more if is_spare else 0
    names = given if num_spare or not num_more else [ROW_NAMES, *given]  # as R writes the names of rows
    header = header_of(names, file_name)
    return Layout(separator, header, found.start, found.num_titles, lengths.total(), num_spare)


def _ragged_sentences(ragged: list[tuple[int, int, int]], num_names: int, file_name: str) -> list[str]:
    told = [
        f"Line {line} of {file_name} (row {row}) has {counted(length, 'field')} and the header has "
        f"{num_names}: correct that line."
        for line, row, length in ragged[:MOST_RAGGED]
    ]
    if len(ragged) > MOST_RAGGED:
        told.append(f"{counted(len(ragged) - MOST_RAGGED, 'more line')} have another number of fields, too.")
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
class _Found:
    """A reader that has just read the header, what stood before that, and the names in it."""

    reader: Iterator[list[str]]
    start: int
    num_titles: int
    names: list[str]

    @property
    def line(self) -> int:
        """The line that was read last."""
        return int(getattr(self.reader, "line_num", 0))


def _find_header(lines: _Lines, separator: str) -> _Found:
    """Lines in which only the first field is filled are a title, where a header follows soon."""
    reader = csv.reader(iter(lines), delimiter=separator, skipinitialspace=True, strict=True)
    skipped: list[_Found] = []
    start = 0
    try:
        for record in islice(reader, MOST_RECORDS):
            found = _Found(reader, start, len(skipped), record)
            if any(name.strip() for name in record[1:]):
                return found
            if record:
                skipped.append(found)
            start = lines.taken
    except csv.Error as error:
        raise InputError(f"Line {reader.line_num} of {lines.file_name} is not valid CSV: {error}.") from error
    return skipped[0] if skipped else _Found(reader, 0, 0, [""])


def separator_of(text: str) -> str:
    """The separator that splits the first records most evenly; spaces where only these split them."""
    best = max(SEPARATORS, key=lambda separator: _evenness(text, separator))
    splits = _evenness(text, best)[2] > 1
    return " " if not splits and _evenness(text, " ") >= (True, 1.0, 2) else best


def _evenness(text: str, separator: str) -> tuple[bool, float, int]:
    """Whether the header has as many fields as most records, the share of these, and that number."""
    reader = csv.reader(io.StringIO(text[:START], newline=""), delimiter=separator, skipinitialspace=True)
    lengths = []
    with suppress(csv.Error):
        lengths = [len(record) for record in islice(reader, MOST_RECORDS) if record]
    several = [length for length in lengths if length > 1]
    if not several:
        return False, 0.0, 1
    (most, count), *_ = Counter(several).most_common(1)
    return several[0] in (most, most - 1), count / len(lengths), most


def _parse(text: str, layout: Layout) -> pd.DataFrame:
    """All fields as text, exactly as they were written."""
    import pandas as pd

    names = layout.header.names
    frame = pd.read_csv(
        io.StringIO(text),
        sep=layout.separator,
        header=0,
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
