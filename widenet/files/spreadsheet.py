"""Spreadsheets, new and old: the first sheet that holds anything, values only; nothing in the file is run."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.wording import counted, listed, shown
from widenet.files.header import Header, header_of
from widenet.files.heading import Heading, find_heading
from widenet.files.limits import refuse_long_cells
from widenet.files.packed import check_archive
from widenet.files.table import Sheet, object_column, size_note

if TYPE_CHECKING:
    from openpyxl import Workbook

COPIES = 30  # bytes that reading takes for each byte of a sheet's XML
OLD = ".xls"
MOST_TITLES = 50  # rows that may stand above the column names
CELL = 3 * 8  # bytes for each cell of a row, also of an empty one
OFTEN = 1000  # rows after which the memory is looked at again

Row = tuple[Any, ...]


class Sheets(Protocol):
    """The sheets of an open file, by their names, each as its rows from one on, cut at some width."""

    names: list[str]

    def rows(self, name: str, first: int, width: int | None) -> Iterator[Row]:
        """Rows of a sheet, counted from 1; an empty cell is None."""


def spreadsheet_names(path: Path) -> Header:
    """The header of a spreadsheet, from its first rows."""
    with _Book(path) as book:
        _, heading, _ = book.top()
        return header_of(heading.names, shown(path.name))


def read_spreadsheet(path: Path) -> Sheet:
    """Read an `.xlsx`, `.xlsm` or `.xls` file: one row of column names, first row below it is row 1."""
    import pandas as pd

    file_name = shown(path.name)
    with _Book(path) as book:
        sheet_name, heading, first = book.top()
        header = header_of(heading.names, file_name)
        width = len(header.names)
        records = book.records(sheet_name, first, width)
        others = [name for name in book.names if name != sheet_name]
    if not records:
        raise InputError(f"{file_name} has a header and no rows: add at least two rows.")
    columns = dict(zip(header.names, map(list, zip(*records, strict=True)), strict=True))
    for name, column in columns.items():
        refuse_long_cells(column, shown(name), file_name)
    frame = pd.DataFrame({name: object_column(column) for name, column in columns.items()})
    notes = [size_note(len(frame), width, file_name, f", sheet {shown(sheet_name)}")]
    if others:
        notes.append(f"Other sheets were not read: {listed(others)}.")
    if heading.num_titles:
        notes.append(f"Skipped {counted(heading.num_titles, 'row')} above the column names.")
    return Sheet(frame, header, (*notes, *heading.notes))


class _Book:
    """A spreadsheet that is open for reading, row by row."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open = ExitStack()
        self._sheets: Sheets | None = None

    def __enter__(self) -> _Book:
        self._open.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # of styles and extensions, which hold no values
        try:
            is_old = self._path.suffix.lower() == OLD
            self._sheets = _OldSheets(self._path) if is_old else _NewSheets(self._path, self._open)
        except (InputError, MemoryError):
            self._open.close()
            raise
        except Exception as error:  # of many kinds, for files that are damaged
            self._open.close()
            raise InputError(
                f"{shown(self._path.name)} cannot be read as a spreadsheet ({type(error).__name__}): save it "
                "again as .xlsx or .csv."
            ) from error
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def names(self) -> list[str]:
        """Names of the sheets."""
        assert self._sheets is not None
        return self._sheets.names

    def top(self) -> tuple[str, Heading, int]:
        """The first sheet with at least two cells in a row, its heading, and where its first row is.

        One with several rows below the heading goes first: a single one holds settings, or is a cover.
        """
        found = list[tuple[str, Heading, int]]()
        is_empty = True
        for name in self.names:
            top = list(islice(self._filled(name, 1, None), MOST_TITLES))
            is_empty = is_empty and not top
            if any(sum(cell is not None for cell in row) > 1 for _, row in top):
                heading = _widened(find_heading([_words(row) for _, row in top]), [row for _, row in top])
                first = top[heading.num_records - 1][0] + 1 if heading.num_records else 1
                found.append((name, heading, first))
                if len(top) > heading.num_records + 1:
                    return found[-1]
        if found:
            return found[0]
        why = "is empty" if is_empty else "has no sheet with two columns"
        raise InputError(f"{shown(self._path.name)} {why}: it needs a row of column names and rows.")

    def records(self, name: str, first: int, width: int) -> list[Row]:
        """The rows that hold anything, as wide as the header; cells beyond it are notes of the author."""
        records = list[Row]()
        for _, row in self._filled(name, first, width):
            records.append((*row[:width], *[None] * (width - len(row))))
            if len(records) % OFTEN == 0:
                require_memory(CELL * OFTEN * width, f"The sheet {shown(name)} of {shown(self._path.name)}")
        return records

    def _filled(self, name: str, first: int, width: int | None) -> Iterator[tuple[int, Row]]:
        """Rows that hold anything, with their numbers in the sheet."""
        assert self._sheets is not None
        empty: Row = ()  # the same one for a million rows, where a sheet has a cell far below the others
        try:
            for number, row in enumerate(self._sheets.rows(name, first, width), start=first):
                if row is empty:
                    continue
                cells = tuple(None if isinstance(cell, str) and not cell.strip() else cell for cell in row)
                if any(cell is not None for cell in cells):
                    yield number, cells
                else:
                    empty = row
        except (InputError, MemoryError):
            raise
        except Exception as error:  # of many kinds, for files that are damaged
            raise InputError(
                f"{shown(self._path.name)} is damaged ({type(error).__name__}): save it again."
            ) from error


class _NewSheets:
    """The sheets of an `.xlsx` file, by openpyxl."""

    def __init__(self, path: Path, opened: ExitStack) -> None:
        check_archive(path, COPIES)
        import openpyxl

        book: Workbook = openpyxl.load_workbook(path, read_only=True, data_only=True)
        opened.callback(book.close)
        self._sheets = {sheet.title: sheet for sheet in book.worksheets}
        self.names = list(self._sheets)

    def rows(self, name: str, first: int, width: int | None) -> Iterator[Row]:
        sheet = self._sheets[name]
        sheet.reset_dimensions()  # those that a file declares may be wrong
        yield from sheet.iter_rows(min_row=first, max_col=width, values_only=True)


class _OldSheets:
    """The sheets of an `.xls` file, by xlrd."""

    def __init__(self, path: Path) -> None:
        import xlrd

        num_bytes = path.stat().st_size
        require_memory(COPIES * num_bytes, f"A file of {num_bytes:,} bytes")
        self._book = xlrd.open_workbook(str(path), logfile=io.StringIO(), ragged_rows=True)
        self.names = self._book.sheet_names()
        self._values: dict[int, Callable[[Any], Any]] = {
            xlrd.XL_CELL_TEXT: str,
            xlrd.XL_CELL_NUMBER: lambda value: int(value) if float(value).is_integer() else value,
            xlrd.XL_CELL_DATE: lambda value: xlrd.xldate_as_datetime(value, self._book.datemode),
            xlrd.XL_CELL_BOOLEAN: bool,
        }

    def rows(self, name: str, first: int, width: int | None) -> Iterator[Row]:
        sheet = self._book.sheet_by_name(name)
        for number in range(first - 1, sheet.nrows):
            cells = sheet.row(number)[:width]
            yield tuple(self._values.get(cell.ctype, _nothing)(cell.value) for cell in cells)


def _widened(heading: Heading, rows: Sequence[Row]) -> Heading:
    """A heading with empty names for the columns right behind it that each of the first rows fills."""
    below, width = rows[heading.num_records :], len(heading.names)
    while len(below) > 1 and all(len(row) > width and row[width] is not None for row in below):
        width += 1
    return replace(heading, names=(*heading.names, *[""] * (width - len(heading.names))))


def _nothing(_: Any) -> None:
    """What an empty cell, or one with an error, holds."""


def _words(row: tuple[Any, ...]) -> list[str]:
    """A row as text, up to its last filled cell."""
    last = max((position for position, cell in enumerate(row) if cell is not None), default=0)
    return ["" if cell is None else str(cell) for cell in row[: last + 1]]
