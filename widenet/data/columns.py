"""How one raw column becomes numbers: the kinds of columns, and rows encoded by them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.wording import counted, listed, shown
from widenet.data.text import TextColumn
from widenet.data.written import PLACEHOLDERS, PLAIN
from widenet.files.words import settled

if TYPE_CHECKING:
    import pandas as pd

FEW = 20  # at most this many distinct values make a set of codes ...
ROWS_PER_CODE = 5  # ... and only where there are this many rows for each
UNSEEN_GAP = "is missing, which no row was that this map was fitted to: fill it in."


class Style(Protocol):
    """How the numbers or dates of a column are written."""

    def numbers(self, values: pd.Series) -> np.ndarray:
        """Values as float64 of shape (n,), NaN where missing or not written so."""


@dataclass(frozen=True)
class NumericColumn:
    """A column of numbers, or of dates, which become numbers.

    Attributes:
        name: Its name in the table.
        fill: What replaces missing values, which a further column then marks; None where there are none.
        style: How its values are written.
        words: Those among the numbers that stand for missing values.
    """

    name: str
    fill: float | None = None
    style: Style = PLAIN
    words: tuple[str, ...] = ()

    @property
    def has_gaps(self) -> bool:
        """Whether missing values were seen."""
        return self.fill is not None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns that it becomes."""
        return (self.name,) if self.fill is None else (self.name, gap_name(self.name))

    def encode(self, values: pd.Series) -> np.ndarray:
        """Numbers of shape (n, 1), or (n, 2) with ones where a value was missing."""
        parsed, gaps = self.style.numbers(values), placeholders(values)
        wrong = np.isnan(parsed) & ~gaps & ~np.asarray(values.isin(self.words))
        refuse_first(wrong, values, "is not a number: correct it or drop the row.")
        if self.fill is None:
            refuse_first(np.isinf(parsed), values, "is infinite: correct it or drop the row.")
        return self._filled(without_infinities(parsed), values)

    def _filled(self, parsed: np.ndarray, values: pd.Series) -> np.ndarray:
        gaps = np.isnan(parsed)
        if self.fill is None:
            refuse_first(gaps, values, UNSEEN_GAP)
            return parsed[:, None]
        return np.column_stack([np.where(gaps, self.fill, parsed), gaps])


@dataclass(frozen=True)
class CategoricalColumn:
    """A column of categories, one-hot; a category that was never seen has no column and becomes zeros.

    Attributes:
        name: Its name in the table.
        categories: All that were seen.
        has_gaps: Whether missing values were seen, which are then a category of their own.
    """

    name: str
    categories: tuple[str, ...]
    has_gaps: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns that it becomes."""
        named = tuple(f"{self.name}={category}" for category in self.categories)
        return (*named, gap_name(self.name)) if self.has_gaps else named

    def encode(self, values: pd.Series) -> np.ndarray:
        """Zeros and ones of shape (n, number of categories)."""
        gaps = missing(values)
        if not self.has_gaps:
            refuse_first(gaps, values, UNSEEN_GAP)
        index = {category: k for k, category in enumerate(self.categories)}
        codes = np.array([index.get(word, -1) for word in texts(values)])
        codes[gaps] = len(self.categories)
        return (codes[:, None] == np.arange(len(self.names))).astype(np.float64)


Column = NumericColumn | CategoricalColumn | TextColumn


def gap_name(name: str) -> str:
    """The name of the column that marks where another is missing."""
    return f"{name} is missing"


def few_codes(num_distinct: int, num_rows: int) -> bool:
    """Whether so many distinct values in so many rows look like codes rather than measurements."""
    return num_distinct <= FEW and num_distinct * ROWS_PER_CODE <= num_rows


def missing(values: pd.Series) -> np.ndarray:
    """Where a value is missing, bool of shape (n,)."""
    return np.asarray(values.isna(), dtype=bool)


def placeholders(values: pd.Series) -> np.ndarray:
    """Where a value is missing, or a word for that among numbers, bool of shape (n,)."""
    import pandas as pd

    gaps = missing(values)
    if not pd.api.types.is_string_dtype(values.dtype):
        return gaps
    return gaps | np.asarray(values.str.lower().isin(PLACEHOLDERS), dtype=bool)


def texts(values: pd.Series) -> np.ndarray:
    """Values as text, object of shape (n,); what stands where a value is missing means nothing."""
    return np.array([_as_text(value) for value in values.astype(object)], dtype=object)


def _as_text(value: object) -> str:
    """A value as text; a category 3.0, which only gaps beside it made a float, is 3."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


def without_infinities(numbers: np.ndarray) -> np.ndarray:
    """Numbers with NaN for those that are infinite: a division by zero, or digits that no float holds."""
    return np.where(np.isinf(numbers), np.nan, numbers)


def refuse_first(wrong: np.ndarray, values: pd.Series, complaint: str, *, numbered: bool = False) -> None:
    """Raise for the first row that is wrong, naming row, column and value, and how many there are.

    Args:
        wrong: Shape (n,).
        values: The column.
        complaint: What is wrong and what to do.
        numbered: Whether the column's index has the numbers by which the user knows the rows.
    """
    if wrong.any():
        row = int(wrong.argmax())
        number = int(values.index[row]) if numbered else row + 1
        value = "the value" if missing(values)[row] else shown(values.iloc[row])
        others = int(wrong.sum()) - 1
        more = f" ({counted(others, 'more row')} like it)" if others else ""
        raise InputError(f"Row {number}, column {shown(values.name)}: {value}{more} {complaint}")


def fit_array_columns(array: np.ndarray, names: tuple[str, ...]) -> tuple[Column, ...]:
    """Columns of an all-numeric array of shape (n, ...), every value checked; medians fill gaps."""
    flat = array.reshape(len(array), -1)
    if flat.dtype.kind != "f":
        return tuple(NumericColumn(name) for name in names)
    gaps = ~np.isfinite(flat)
    if not gaps.any():
        return tuple(NumericColumn(name) for name in names)
    empty = gaps.all(axis=0)
    medians = np.zeros(flat.shape[1])
    medians[~empty] = np.nanmedian(without_infinities(flat[:, ~empty].astype(np.float64)), axis=0)
    fills = [float(median) if gap else None for median, gap in zip(medians, gaps.any(axis=0), strict=True)]
    return tuple(NumericColumn(name, fill) for name, fill in zip(names, fills, strict=True))


def _where(mask: np.ndarray) -> str:
    row, column = np.unravel_index(mask.argmax(), mask.shape)
    others = int(mask.sum()) - 1
    more = f" ({counted(others, 'more value')} like it)" if others else ""
    return f"Row {row + 1}, column {column + 1} of X{more}"


def encode(rows: Tensor | np.ndarray | pd.DataFrame, columns: tuple[Column, ...]) -> Tensor:
    """Raw rows as numbers, float64 of shape (n, encoded columns), in memory of its own."""
    width = sum(len(column.names) for column in columns)
    if isinstance(rows, Tensor | np.ndarray):
        return _encode_array(np.asarray(rows), columns, width)
    absent = [column.name for column in columns if column.name not in rows.columns]
    if absent:
        raise InputError(
            f"The table lacks {counted(len(absent), 'column')} of the fitted one: {listed(absent)}."
        )
    # The encoded matrix and the prepared one are held at the same time.
    require_memory(2 * 8 * len(rows) * width, f"A table of {len(rows):,} rows and {width:,} encoded columns")
    encoded = torch.empty(len(rows), width, dtype=torch.float64)
    start = 0
    for column in columns:
        stop = start + len(column.names)
        encoded[:, start:stop] = torch.from_numpy(column.encode(settled(rows[column.name])))
        start = stop
    return encoded


def _encode_array(rows: np.ndarray, columns: tuple[Column, ...], width: int) -> Tensor:
    flat = rows.reshape(len(rows), -1)
    if flat.shape[1] != len(columns) or not all(isinstance(column, NumericColumn) for column in columns):
        raise InputError(
            f"Rows of {counted(flat.shape[1], 'number')} do not match the {counted(len(columns), 'column')} "
            "of the fitted data."
        )
    require_memory(2 * 8 * len(flat) * width, f"An array of {len(flat):,} rows and {width:,} columns")
    flat = without_infinities(flat) if flat.dtype.kind == "f" else flat
    filled = [column.fill for column in columns if isinstance(column, NumericColumn)]
    gappy = np.array([fill is not None for fill in filled])
    if width == len(columns):
        encoded = np.array(flat, dtype=np.float64, order="C")
    else:  # a column with gaps is followed by the one that marks them
        places = np.arange(len(columns)) + np.concatenate([[0], np.cumsum(gappy)[:-1]])
        encoded = np.zeros((len(flat), width))
        encoded[:, places] = flat
        marks = np.isnan(encoded[:, places[gappy]])
        encoded[:, places[gappy] + 1] = marks
        fills = np.array([fill for fill in filled if fill is not None])
        encoded[:, places[gappy]] = np.where(marks, fills, encoded[:, places[gappy]])
    if flat.dtype.kind == "f":
        wrong = ~np.isfinite(encoded)
        if wrong.any():
            raise InputError(f"{_where(wrong)} is not a finite number: correct it or drop the row.")
    return torch.from_numpy(encoded)
