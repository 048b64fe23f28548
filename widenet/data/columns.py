"""How one raw column becomes numbers: what is numeric, what is a category, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.wording import counted, listed, natural_key, shown
from widenet.data.commas import comma_advice, have_commas

if TYPE_CHECKING:
    import pandas as pd

FEW = 20  # at most this many distinct values make a set of codes ...
ROWS_PER_CODE = 5  # ... and only where there are this many rows for each
MAX_CATEGORIES = 1000  # one-hot columns that one raw column may become
LARGEST_WHOLE = 2.0**53  # from here on, float64 does not tell whole numbers apart
ALWAYS_CATEGORIES = 10  # so few distinct texts are categories even where nearly every row has its own


@dataclass(frozen=True)
class NumericColumn:
    """A column of numbers; `fill` replaces missing ones, which are refused where it is None."""

    name: str
    fill: float | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns that it becomes."""
        return (self.name,)

    def encode(self, values: pd.Series) -> np.ndarray:
        """Numbers of shape (n, 1)."""
        parsed = numbers(values)
        gaps = np.isnan(parsed)
        refuse_first(gaps & ~missing(values), values, "is not a number: correct it or drop the row.")
        refuse_first(np.isinf(parsed), values, "is infinite: correct it or drop the row.")
        if self.fill is None:
            refuse_first(gaps, values, "is missing: fill it in, or fit with `impute=True`.")
        else:
            parsed[gaps] = self.fill
        return parsed[:, None]


@dataclass(frozen=True)
class CategoricalColumn:
    """A column of categories, one-hot; a category that was never seen has no column and becomes zeros."""

    name: str
    categories: tuple[str, ...]
    fill: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns that it becomes."""
        return tuple(f"{self.name}={category}" for category in self.categories)

    def encode(self, values: pd.Series) -> np.ndarray:
        """Zeros and ones of shape (n, number of categories)."""
        words, gaps = texts(values), missing(values)
        if self.fill is None:
            refuse_first(gaps, values, "is missing: fill it in, or fit with `impute=True`.")
        else:
            words[gaps] = self.fill
        index = {category: k for k, category in enumerate(self.categories)}
        codes = np.array([index.get(word, -1) for word in words])
        return (codes[:, None] == np.arange(len(self.categories))).astype(np.float64)


Column = NumericColumn | CategoricalColumn


def few_codes(num_distinct: int, num_rows: int) -> bool:
    """Whether so many distinct values in so many rows look like codes rather than measurements."""
    return num_distinct <= FEW and num_distinct * ROWS_PER_CODE <= num_rows


def missing(values: pd.Series) -> np.ndarray:
    """Where a value is missing, bool of shape (n,)."""
    return np.asarray(values.isna(), dtype=bool)


def numbers(values: pd.Series) -> np.ndarray:
    """Values as float64 of shape (n,), NaN where missing or not a number."""
    import pandas as pd

    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(object)
    return pd.to_numeric(values, errors="coerce").to_numpy(np.float64, na_value=np.nan, copy=True)


def whole_numbers(values: pd.Series) -> np.ndarray | None:
    """Values as integers of shape (n,), all digits kept; None where some are not whole for certain."""
    import pandas as pd

    parsed = pd.to_numeric(values, errors="coerce")
    if parsed.dtype.kind in "iu":
        return np.asarray(parsed.to_numpy(np.uint64 if parsed.dtype.kind == "u" else np.int64))
    reals = numbers(values)
    is_whole = (reals == np.rint(reals)) & (np.abs(reals) < LARGEST_WHOLE)
    return reals.astype(np.int64) if is_whole.all() else None


def texts(values: pd.Series) -> np.ndarray:
    """Values as text, object of shape (n,); what stands where a value is missing means nothing."""
    return np.array([str(value) for value in values.astype(object)], dtype=object)


def refuse_first(wrong: np.ndarray, values: pd.Series, complaint: str) -> None:
    """Raise for the first row that is wrong, naming row, column and value."""
    if wrong.any():
        row = int(wrong.argmax())
        value = "the value" if missing(values)[row] else shown(values.iloc[row])
        raise InputError(f"Row {row + 1}, column {shown(values.name)}: {value} {complaint}")


def fit_column(values: pd.Series, *, impute: bool) -> Column:
    """Decide how a column of a table becomes numbers.

    Numbers and booleans are numeric. Text is a category, unless most of it is numbers: then it is taken for a
    numeric column with a typing error in it, and refused by row. (Codes such as 0, 1, 2, 3+ are categories:
    few distinct values, none of the non-numeric ones alone.)

    Args:
        values: The raw column, named.
        impute: Whether missing values are to be replaced, by the median or by the most frequent category.
    """
    import pandas as pd

    name = str(values.name)
    gaps = missing(values)
    if gaps.all():
        raise InputError(f"Column {shown(name)} has no value in any row: drop it.")
    if pd.api.types.is_datetime64_any_dtype(values.dtype) or pd.api.types.is_timedelta64_dtype(values.dtype):
        raise InputError(f"Column {shown(name)} holds times: turn them into numbers, or drop the column.")
    if isinstance(values.dtype, pd.CategoricalDtype) or not is_numeric(values):
        return _fit_categories(name, texts(values)[~gaps], impute=impute and bool(gaps.any()))
    parsed = numbers(values)
    refuse_first(np.isinf(parsed), values, "is infinite: correct it or drop the row.")
    return NumericColumn(name, float(np.nanmedian(parsed)) if impute and gaps.any() else None)


def is_numeric(values: pd.Series) -> bool:
    """Whether a column is all numbers; one that is nearly so is refused, by the first value that is none."""
    if values.dtype.kind in "biuf":
        return True
    parsed, gaps = numbers(values), missing(values)
    odd = np.isnan(parsed) & ~gaps
    if not odd.any():
        return True
    num_given, num_odd = int((~gaps).sum()), int(odd.sum())
    odd_counts = values[odd].astype(object).map(str).value_counts()
    if few_codes(values.nunique(), num_given) and odd_counts.min() > 1:
        return False
    if 2 * num_odd <= num_given:
        most = f"{num_given - num_odd:,} of {num_given:,}"
        hint = comma_advice(texts(values[odd]).tolist()) or "correct it or drop the row"
        refuse_first(odd, values, f"is not a number, as {most} values of this column are: {hint}.")
    return False


def refuse_commas(name: object, words: list[str]) -> None:
    """Raise where a column of text is numbers, some of them with commas."""
    if have_commas(words):
        with_comma = [word for word in words if "," in word]
        raise InputError(
            f"Column {shown(name)} holds numbers with commas, such as {shown(with_comma[0])}: "
            f"{comma_advice(with_comma)}."
        )


def _fit_categories(name: str, words: np.ndarray, *, impute: bool) -> CategoricalColumn:
    distinct, counts = np.unique(words.astype(str), return_counts=True)
    refuse_commas(name, distinct.tolist())
    if len(distinct) > MAX_CATEGORIES or len(distinct) > max(ALWAYS_CATEGORIES, len(words) / 2):
        raise InputError(
            f"Column {shown(name)} is text with {len(distinct):,} distinct values in "
            f"{counted(len(words), 'row')}, such as {shown(words[0])}, which looks like an identifier or "
            "free text: drop it."
        )
    categories = tuple(sorted((str(word) for word in distinct), key=natural_key))
    return CategoricalColumn(name, categories, str(distinct[counts.argmax()]) if impute else None)


def fit_array_columns(array: np.ndarray, names: tuple[str, ...], *, impute: bool) -> tuple[Column, ...]:
    """Columns of an all-numeric array of shape (n, d); checks every value."""
    if array.dtype.kind != "f":
        return tuple(NumericColumn(name) for name in names)
    infinite, gaps = np.isinf(array), np.isnan(array)
    if infinite.any():
        raise InputError(f"{_where(infinite)} is infinite: correct it or drop the row.")
    if not gaps.any():
        return tuple(NumericColumn(name) for name in names)
    if not impute:
        raise InputError(
            f"{_where(gaps)} is not a number (NaN), one of {counted(int(gaps.sum()), 'missing value')}: "
            "fill them in, or set `impute=True`."
        )
    empty = gaps.all(axis=0)
    if empty.any():
        raise InputError(f"Column {int(empty.argmax()) + 1} of X has no value in any row: drop it.")
    medians = np.nanmedian(array.astype(np.float64), axis=0)
    fills = [float(median) if gap else None for median, gap in zip(medians, gaps.any(axis=0), strict=True)]
    return tuple(NumericColumn(name, fill) for name, fill in zip(names, fills, strict=True))


def _where(mask: np.ndarray) -> str:
    row, column = np.unravel_index(mask.argmax(), mask.shape)
    return f"Row {row + 1}, column {column + 1} of X"


def encode(rows: Tensor | np.ndarray | pd.DataFrame, columns: tuple[Column, ...]) -> Tensor:
    """Raw rows as numbers, float64 of shape (n, encoded columns), in memory of its own."""
    if isinstance(rows, Tensor | np.ndarray):
        return _encode_array(np.asarray(rows), columns)
    width = sum(len(column.names) for column in columns)
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
        encoded[:, start:stop] = torch.from_numpy(column.encode(rows[column.name]))
        start = stop
    return encoded


def _encode_array(rows: np.ndarray, columns: tuple[Column, ...]) -> Tensor:
    flat = rows.reshape(len(rows), -1)
    if flat.shape[1] != len(columns) or not all(isinstance(column, NumericColumn) for column in columns):
        raise InputError(
            f"Rows of {counted(flat.shape[1], 'number')} do not match the {counted(len(columns), 'column')} "
            "of the fitted data."
        )
    require_memory(2 * 8 * flat.size, f"An array of {len(flat):,} rows and {flat.shape[1]:,} columns")
    encoded = np.array(flat, dtype=np.float64, order="C")
    if flat.dtype.kind == "f":
        for index, column in enumerate(columns):
            if isinstance(column, NumericColumn) and column.fill is not None:
                encoded[np.isnan(encoded[:, index]), index] = column.fill
        wrong = ~np.isfinite(encoded)
        if wrong.any():
            raise InputError(f"{_where(wrong)} is not a finite number: correct it or drop the row.")
    return torch.from_numpy(encoded)
