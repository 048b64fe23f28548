"""Spreadsheets: the first sheet that holds anything, values only; nothing in the file is run."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from widenet.base.errors import InputError
from widenet.base.wording import counted, listed, shown
from widenet.files.header import Header, header_of
from widenet.files.heading import Heading, find_heading
from widenet.files.packed import check_archive
from widenet.files.table import Sheet, object_column, size_note

if TYPE_CHECKING:
    from openpyxl import Workbook

COPIES = 30  # bytes that reading takes for each byte of a sheet's XML
MOST_TITLES = 50  # rows that may stand above the column names


def spreadsheet_names(path: Path) -> Header:
    """The header of a spreadsheet, from its first rows."""
    with _Book(path) as book:
        _, rows = book.first_sheet()
        return header_of(_read_top(rows)[0].names, shown(path.name))


def read_spreadsheet(path: Path) -> Sheet:
    """Read an `.xlsx` or `.xlsm` file: one row of column names, first row below it is row 1."""
    import pandas as pd

    file_name = shown(path.name)
    with _Book(path) as book:
        sheet_name, rows = book.first_sheet()
        heading, top = _read_top(rows)
        header = header_of(heading.names, file_name)
        width = len(header.names)
        records = [_fitted(row, width) for row in (*top[heading.num_records :], *_filled(rows))]
        others = [name for name in book.names if name != sheet_name]
    if not records:
        raise InputError(f"{file_name} has a header and no rows: add at least two rows.")
    columns = zip(*records, strict=True)
    frame = pd.DataFrame(
        {name: object_column(list(column)) for name, column in zip(header.names, columns, strict=True)}
    )
    notes = [size_note(len(frame), width, file_name, f", sheet {shown(sheet_name)}")]
    if others:
        notes.append(f"Other sheets were not read: {listed(others)}.")
    if heading.num_titles:
        notes.append(f"Skipped {counted(heading.num_titles, 'row')} above the column names.")
    return Sheet(frame, header, (*notes, *heading.notes))


class _Book:
    """A spreadsheet that is open for reading, row by row."""

    def __init__(self, path: Path) -> None:
        check_archive(path, COPIES)
        self._path = path
        self._book: Workbook | None = None

    def __enter__(self) -> _Book:
        import openpyxl

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of styles and extensions, which hold no values
                self._book = openpyxl.load_workbook(self._path, read_only=True, data_only=True)
        except Exception as error:  # of many kinds, for files that are damaged
            raise InputError(
                f"{shown(self._path.name)} cannot be read as a spreadsheet ({type(error).__name__}): save it "
                "again as .xlsx or .csv."
            ) from error
        return self

    def __exit__(self, *_: object) -> None:
        if self._book is not None:
            self._book.close()

    @property
    def names(self) -> list[str]:
        """Names of the sheets."""
        assert self._book is not None
        return [sheet.title for sheet in self._book.worksheets]

    def first_sheet(self) -> tuple[str, Iterator[tuple[Any, ...]]]:
        """The name of the first sheet with at least two cells in a row, and its rows."""
        assert self._book is not None
        for sheet in self._book.worksheets:
            sheet.reset_dimensions()  # those that a file declares may be wrong
            top = islice(self._rows(sheet), MOST_TITLES)
            if any(sum(cell is not None for cell in row) > 1 for row in top):
                return sheet.title, self._rows(sheet)
        raise InputError(f"{shown(self._path.name)} is empty: it needs a row of column names and rows.")

    def _rows(self, sheet: Any) -> Iterator[tuple[Any, ...]]:
        try:
            for row in _quietly(sheet.iter_rows(values_only=True)):
                yield tuple(None if isinstance(cell, str) and not cell.strip() else cell for cell in row)
        except (zipfile.BadZipFile, ValueError, KeyError, SyntaxError, EOFError, OSError) as error:
            raise InputError(
                f"{shown(self._path.name)} is damaged ({type(error).__name__}): save it again."
            ) from error


def _quietly(rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Rows, without the warnings of parts of a file that hold no values."""
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = next(rows, None)
        if row is None:
            return
        yield row


def _filled(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Rows that hold anything."""
    return (row for row in rows if any(cell is not None for cell in row))


def _read_top(rows: Iterator[tuple[Any, ...]]) -> tuple[Heading, list[tuple[Any, ...]]]:
    """What the first rows that hold anything say of the columns, and these rows."""
    top = list(islice(_filled(rows), MOST_TITLES))
    return find_heading([_words(row) for row in top]), top


def _words(row: tuple[Any, ...]) -> list[str]:
    """A row as text, up to its last filled cell."""
    last = max((position for position, cell in enumerate(row) if cell is not None), default=0)
    return ["" if cell is None else str(cell) for cell in row[: last + 1]]


def _fitted(row: tuple[Any, ...], width: int) -> tuple[Any, ...]:
    """A row as wide as the header; cells beyond it have no name and are notes of the author."""
    return (*row[:width], *[None] * (width - len(row)))
