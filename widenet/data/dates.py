"""Dates and times as people write them become numbers: days since the earliest, or hours of a day."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

DAY = 86_400  # seconds
ISO, QUARTER = "ISO8601", "quarter"
TIMES = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")  # of a day, without a date
QUARTERS = re.compile(r"(\d{4})[ :-]?[qQ]([1-4])")  # 2020Q1, a quarter of a year
DATES = (
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%d.%m.%Y",
    "%m-%d-%Y",
    "%d-%m-%Y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%d.%m.%y",
    "%d %B %Y",
    "%d %b %Y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%b-%d-%Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%b %d %Y",
    "%a, %d %b %Y",
    "%b %Y",
    "%B %Y",
    "%b-%Y",
    "%b-%y",
    "%Y%m%dT%H%M%S",
)
CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p", " %H:%M:%S.%f")
SAMPLE = 30  # distinct words that a format is tried on before all are
SHORTEST = 4  # characters of a date


@dataclass(frozen=True)
class DateStyle:
    """How the dates of a column are written, and the day that they are counted from.

    Attributes:
        format: As `strptime` knows it, or ISO; empty where values are times already.
        start: The earliest, as ISO has it; empty for hours of a day, which start at midnight.
    """

    format: str
    start: str

    @property
    def is_clock(self) -> bool:
        """Whether these are times of a day, without a date."""
        return self.format in TIMES

    def numbers(self, values: pd.Series) -> np.ndarray:
        """Days since the start, or hours since midnight, float64 of shape (n,), NaN where there is none."""
        import pandas as pd

        times = moments(values, self.format)
        start = pd.Timestamp("1900-01-01" if self.is_clock else self.start)
        seconds = (times - start) / pd.Timedelta(seconds=1)
        return np.array(seconds.to_numpy(np.float64, na_value=np.nan)) / (3600 if self.is_clock else DAY)


def moments(values: pd.Series, style: str) -> pd.Series:
    """Values as times without a zone; those that are none, or are no time of this style, are missing."""
    import pandas as pd

    if not style:
        times = pd.to_datetime(values)
    elif style == QUARTER:
        months = values.str.replace(QUARTERS, _first_month, regex=True)
        times = pd.to_datetime(months, format="%Y-%m", errors="coerce")
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of years that a nanosecond clock cannot hold
            times = pd.to_datetime(values, format=style, errors="coerce", utc=style == ISO)
    return times.dt.tz_convert(None) if times.dt.tz is not None else times


def _first_month(quarter: re.Match[str]) -> str:
    return f"{quarter[1]}-{3 * int(quarter[2]) - 2:02}"


def date_style(values: pd.Series) -> DateStyle | None:
    """The style of a column of times, or of text in which every word is one; None where they are none."""
    style = "" if values.dtype.kind == "M" else _format_of(values.dropna().unique().tolist())
    return None if style is None else _started(values, style)


def most_dates(values: pd.Series) -> DateStyle | None:
    """The style of text in which most words are dates, all of them in one way."""
    words = values.dropna()
    for style in _formats(words.unique()[:SAMPLE].tolist()):
        if 2 * int(moments(words, style).notna().sum()) > len(words):
            return _started(values, style)
    return None


def _started(values: pd.Series, style: str) -> DateStyle:
    start = "" if style in TIMES else moments(values, style).min().isoformat()
    return DateStyle(style, start)


def _format_of(words: Sequence[str]) -> str | None:
    """The first format that all words have, tried on some of them first."""
    for style in _formats(words[:SAMPLE]):
        if _all_parse(words[:SAMPLE], style) and _all_parse(words, style):
            return style
    return None


def _formats(words: Sequence[str]) -> list[str]:
    """Formats worth a try: none where words cannot be dates."""
    if not words or not all(len(word) >= SHORTEST and any(map(str.isdigit, word)) for word in words[:3]):
        return []
    if QUARTERS.fullmatch(words[0]):
        return [QUARTER]
    if any(":" in word for word in words) and all(len(word) <= len("12:00:00.000000 PM") for word in words):
        return [*TIMES, ISO, *(date + clock for date in DATES for clock in CLOCKS)]
    clocks = CLOCKS if any(":" in word for word in words) else ("",)
    return [ISO, *(date + clock for date in DATES for clock in clocks)]


def _all_parse(words: Sequence[str], style: str) -> bool:
    import pandas as pd

    if style == ISO and not all("-" in word for word in words):
        return False  # 2020 and 20200131 are numbers
    return bool(moments(pd.Series(words, dtype="str"), style).notna().all())
