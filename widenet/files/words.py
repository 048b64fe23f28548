"""Raw columns settled: text without spaces around it, words for missing values, values of one kind."""

from __future__ import annotations

import datetime
import numbers
from typing import TYPE_CHECKING, Any

from widenet.base.wording import encodable

if TYPE_CHECKING:
    import pandas as pd

# \N is how MySQL writes NULL.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL", "?", "\\N")


def settled(values: pd.Series) -> pd.Series:
    """A raw column with every missing value as one, and with values of a single kind.

    Text loses the spaces around it, and words for what is missing. Values of several kinds become text. Whole
    numbers keep all their digits.
    """
    import pandas as pd

    if isinstance(values.dtype, pd.CategoricalDtype):
        return values
    if isinstance(values.dtype, pd.PeriodDtype):
        return values.dt.to_timestamp()
    if values.dtype == object:
        values = _of_one_kind(values)
    return _settled_text(values) if pd.api.types.is_string_dtype(values.dtype) else values


def _settled_text(values: pd.Series) -> pd.Series:
    stripped = values.astype("str").str.strip()
    return stripped.mask(stripped.isin(MISSING))


def _of_one_kind(values: pd.Series) -> pd.Series:
    """Python objects as booleans, numbers, times or text; whole numbers stay what they are."""
    import pandas as pd

    given = [value for value, gap in zip(values, values.isna(), strict=True) if not gap]
    if not given:
        return values
    if all(isinstance(value, bool) for value in given):
        return values.astype("boolean")
    if all(_is_number(value) for value in given):
        return values if all(isinstance(value, int) for value in given) else pd.to_numeric(values)
    if all(isinstance(value, datetime.date) for value in given):  # times among them
        return pd.to_datetime(values, utc=any(getattr(value, "tzinfo", None) for value in given))
    return values.map(_as_word, na_action="ignore").astype("str")


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _as_word(value: Any) -> str:
    """A value as text; a whole number without a point, a time as ISO has it."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else encodable(str(value))
