"""Spreadsheets: the first sheet that holds anything, values only; nothing in the file is run."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from widenet.base.errors import InputError
from widenet.base.wording import counted, listed, shown
from widenet.files.header import Header, header_of
from widenet.files.packed import check_archive
from widenet.files.table import Sheet, object_column, size_note

if TYPE_CHECKING:
    from openpyxl import Workbook

COPIES = 30  # bytes that reading takes for each byte of a sheet's XML
MOST_TITLES = 50  # rows that may stand above the column names


def spreadsheet_names(path: Path) -> Header:
    """The header of a spreadsheet, without the rows below it."""
    with _Book(path) as book:
        _, rows = book.first_sheet()
        _, names = _find_header(rows)
        return header_of(names, shown(path.name))


def read_spreadsheet(path: Path) -> Sheet:
    """Read an `.xlsx` or `.xlsm` file: one row of column names, first row below it is row 1."""
    import pandas as pd

    file_name = shown(path.name)
    with _Book(path) as book:
        sheet_name, rows = book.first_sheet()
        num_titles, names = _find_header(rows)
        header = header_of(names, file_name)
        width = len(header.names)
        records = [_fitted(row, width) for row in rows if any(cell is not None for cell in row)]
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
    if num_titles:
        notes.append(f"Skipped {counted(num_titles, 'row')} above the column names.")
    return Sheet(frame, header, tuple(notes))


class _Book:
    """A spreadsheet that is open for reading, row by row."""

    def __init__(self, path: Path) -> None:
        check_archive(path, COPIES)
        self._path = path
        self._book: Workbook | None = None

    def __enter__(self) -> _Book:
        import openpyxl

        try:
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
            for row in sheet.iter_rows(values_only=True):
                yield tuple(None if isinstance(cell, str) and not cell.strip() else cell for cell in row)
        except (zipfile.BadZipFile, ValueError, KeyError, SyntaxError, EOFError, OSError) as error:
            raise InputError(
                f"{shown(self._path.name)} is damaged ({type(error).__name__}): save it again."
            ) from error


def _find_header(rows: Iterator[tuple[Any, ...]]) -> tuple[int, list[str]]:
    """Filled rows above the first one with several cells, and the names in that one."""
    num_titles = 0
    for row in rows:
        filled = [position for position, cell in enumerate(row) if cell is not None]
        if len(filled) > 1:
            return num_titles, ["" if cell is None else str(cell) for cell in row[: filled[-1] + 1]]
        num_titles += bool(filled)
    return num_titles, []


def _fitted(row: tuple[Any, ...], width: int) -> tuple[Any, ...]:
    """A row as wide as the header; cells beyond it have no name and are notes of the author."""
    return (*row[:width], *[None] * (width - len(row)))
