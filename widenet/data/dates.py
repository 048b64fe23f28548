"""Dates and times as people write them become numbers: days since the earliest, or hours of a day."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

DAY = 86_400  # seconds
ISO, QUARTER = "ISO8601", "quarter"
# Of a day, without a date; 42:14.5 are minutes.
TIMES = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")
# 2020Q1 or Q1 2020, a quarter of a year.
QUARTERS = re.compile(
    r"(?P<year>\d{4})[ :-]?[qQ](?P<quarter>[1-4])|[qQ](?P<quarter_first>[1-4])[ :/-]?(?P<year_last>\d{4})"
)
DURATION = "duration"  # as pandas writes the time between two moments
DURATIONS = re.compile(r"-?\d+ days?(,? \+?\d{1,2}:\d{2}:\d{2}(\.\d+)?)?")
SPAN = "span"  # hours, minutes and seconds, as people write them
SPANS = re.compile(
    r"(?=\d)(\d+ ?(?:h|hr|hours?))?[ ]*(\d+ ?(?:m|min|minutes?))?[ ]*(\d+ ?(?:s|sec|seconds?))?", re.ASCII
)
LATEST = 2049  # the last year that two digits stand for, as spreadsheets have it
DATES = (
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%d.%m.%Y",
    "%m.%d.%Y",  # behind the other: with points, days go first
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
    "%m %d, %Y",
    "%a, %d %b %Y",
    "%b %Y",
    "%B %Y",
    "%b-%Y",
    "%b-%y",
    "%Y %b",
    "%Y-%b",
    "%Y %B",
    "%m/%Y",
    "%m.%Y",
    "%Y/%m",
)
MIDNIGHTS = ("24:00", "24:00:00", "2400")
COMPACT = ("%Y%m%dT%H%M%S", "%Y%m%d:%H%M")  # have their own time of the day
PACKED = "%Y%m%d"  # 20200131: every one of several different numbers is a date by chance once in 10,000
PACKED_DATE = re.compile(r"(19|20)\d{6}", re.ASCII)
LEAST_PACKED = 3  # different ones that are needed to see that
PADDED_CLOCK, LEAST_PADDED = "%H%M", 8  # 0930, and how many different ones are needed: codes are so, too
TEMPORAL = re.compile(r"time|date|hour|clock|day|when|depart|arriv", re.IGNORECASE)  # names of moments
# Digits of one length with zeros before some of them: which of these styles they may have.
PADDED = {4: (PADDED_CLOCK,), 6: ("%m%d%y", "%d%m%y"), 8: ("%m%d%Y", "%d%m%Y")}
CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p", " %H:%M:%S.%f")
SAMPLE = 30  # distinct words that a format is tried on before all are
SHORTEST = 4  # characters of a date


@dataclass(frozen=True)
class DateStyle:
    """How the dates of a column are written, and the day that they are counted from.

    Attributes:
        format: As `strptime` knows it, or ISO; empty where values are times already.
        start: The earliest, as ISO has it; empty for hours of a day, which start at midnight, and durations.
    """

    format: str
    start: str

    @property
    def is_clock(self) -> bool:
        """Whether these are times of a day, without a date."""
        return self.format in (*TIMES, PADDED_CLOCK)

    @property
    def is_duration(self) -> bool:
        """Whether these are times between two moments."""
        return self.format in (DURATION, SPAN)

    def numbers(self, values: pd.Series) -> np.ndarray:
        """Days since the start or between two moments, or hours since midnight; float64 of shape (n,).

        NaN where there is none.
        """
        import pandas as pd

        if self.is_duration:
            unit = pd.Timedelta(days=1) if self.format == DURATION else pd.Timedelta(hours=1)
            spans = pd.to_timedelta(values, errors="coerce")
            return np.array((spans / unit).to_numpy(np.float64, na_value=np.nan))
        times = moments(values, self.format)
        start = pd.Timestamp("1900-01-01" if self.is_clock else self.start)
        seconds = np.array(((times - start) / pd.Timedelta(seconds=1)).to_numpy(np.float64, na_value=np.nan))
        if self.is_clock:
            seconds[np.asarray(values.isin(MIDNIGHTS), dtype=bool)] = DAY  # the end of a day, not its start
        return seconds / (3600 if self.is_clock else DAY)


def moments(values: pd.Series, style: str) -> pd.Series:
    """Values as times without a zone; those that are none, or are no time of this style, are missing."""
    import pandas as pd

    if not style:
        times = pd.to_datetime(values)
    elif style == QUARTER:
        months = values.str.replace(QUARTERS, _first_month, regex=True)
        times = pd.to_datetime(months, format="%Y-%m", errors="coerce")
    else:
        if style == PACKED and values.dtype.kind in "iuf":
            values = values.astype("Int64").astype("str")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of years that a nanosecond clock cannot hold
            times = pd.to_datetime(values, format=style, errors="coerce", utc=style == ISO)
        if "%y" in style:
            times = times.mask(times.dt.year > LATEST, times - pd.DateOffset(years=100))
    return times.dt.tz_convert(None) if times.dt.tz is not None else times


def _first_month(found: re.Match[str]) -> str:
    quarter = int(found["quarter"] or found["quarter_first"])
    return f"{found['year'] or found['year_last']}-{3 * quarter - 2:02}"


def date_style(values: pd.Series, *, day_first: bool = False) -> DateStyle | None:
    """The style of a column of times, or of text in which every word is one; None where they are none.

    Args:
        values: The column.
        day_first: Whether 01/02/2020 is the first of February, where the column does not tell.
    """
    words = [] if values.dtype.kind == "M" else values.dropna().unique().tolist()
    style = "" if values.dtype.kind == "M" else _format_of(words, day_first=day_first)
    return None if style is None else _started(values, style)


def most_dates(values: pd.Series, *, day_first: bool = False) -> DateStyle | None:
    """The style of text in which most words are dates, all of them in one way.

    Most rows, or most different words: one word for "not yet" may be more common than all dates.
    """
    words = values.dropna()
    distinct = words.drop_duplicates()
    likely = [word for word in distinct.head(2 * SAMPLE) if _may_be_date(word)]
    for style in _formats(likely[:SAMPLE], day_first=day_first):
        if 2 * _share(words, style) > 1 or (len(distinct) > LEAST_PACKED and 2 * _share(distinct, style) > 1):
            return _started(values, style)
    return None


def packed_dates(values: pd.Series) -> DateStyle | None:
    """The style of dates written as 20200131, text or whole numbers; None where some are none.

    Args:
        values: The column, without missing values.
    """
    import pandas as pd

    if values.dtype.kind not in "iu" and not pd.api.types.is_string_dtype(values.dtype):
        return None
    words = [str(value) for value in values.head(SAMPLE)]
    if not words or not all(map(PACKED_DATE.fullmatch, words)):
        return None
    distinct = values.drop_duplicates()
    is_each = len(distinct) >= LEAST_PACKED and all(PACKED_DATE.fullmatch(str(value)) for value in distinct)
    return _started(values, PACKED) if is_each and _share(distinct, PACKED) == 1 else None


def padded_dates(values: pd.Series) -> DateStyle | None:
    """The style of digits with zeros before them in which every one is a date, as 013120, or a time, as 0930.

    Args:
        values: The column of such codes, without missing values.
    """
    if not TEMPORAL.search(str(values.name)):
        return None  # zip codes and the codes of goods are written so, too
    distinct = values.drop_duplicates()
    lengths = {len(word) for word in distinct}
    for style in PADDED.get(lengths.pop(), ()) if len(lengths) == 1 and len(distinct) >= LEAST_PADDED else ():
        if _share(distinct, style) == 1:
            return _started(values, style)
    return None


def _share(words: pd.Series, style: str) -> float:
    """The share of words that are dates of a style."""
    found = np.isfinite(DateStyle(style, "1900-01-01").numbers(words))
    if style == ISO:
        found &= np.asarray(words.str.contains("-", regex=False), dtype=bool)  # 2020 and 20200131 are numbers
    return float(found.mean())


def is_day_first(columns: Iterable[Sequence[str]]) -> bool | None:
    """Whether the dates among columns of words have the day first; None where none of them tells."""
    found = set()
    for words in columns:
        orders = {_format_of(words, day_first=day_first) for day_first in (False, True)}
        if (
            len(orders) == 1
            and (style := orders.pop())
            and style[:2] in ("%d", "%m")
            and style[3:5] in ("%d", "%m")
        ):
            found.add(style.startswith("%d"))
    return found.pop() if len(found) == 1 else None


def _started(values: pd.Series, style: str) -> DateStyle:
    start = (
        "" if style in (*TIMES, PADDED_CLOCK, DURATION, SPAN) else moments(values, style).min().isoformat()
    )
    return DateStyle(style, start)


def _format_of(words: Sequence[str], *, day_first: bool = False) -> str | None:
    """The first format that all words have, tried on some of them first."""
    for style in _formats(words[:SAMPLE], day_first=day_first):
        if _all_parse(words[:SAMPLE], style) and _all_parse(words, style):
            return style
    return None


def _formats(words: Sequence[str], *, day_first: bool) -> list[str]:
    """Formats worth a try: none where words cannot be dates."""
    if _are_spans(words):
        return [SPAN]
    if not words or not all(map(_may_be_date, words[:3])):
        return []
    if QUARTERS.fullmatch(words[0]):
        return [QUARTER]
    if DURATIONS.fullmatch(words[0]):
        return [DURATION]
    has_clock = any(":" in word for word in words)
    is_short = all(len(word) <= len("12:00:00.000000 PM") for word in words)
    dates = sorted(DATES, key=lambda date: not date.startswith("%d")) if day_first else DATES
    signs = {_signs(word) for word in words}
    possible = [style for date in dates for clock in CLOCKS if _signs(style := date + clock) in signs]
    return [*(TIMES if has_clock and is_short else ()), ISO, *COMPACT, *possible]


def _are_spans(words: Sequence[str]) -> bool:
    """Whether words are hours and minutes, some with both: 5m alone may be a size or a length."""
    found = [SPANS.fullmatch(word) for word in words]
    return all(found) and any(sum(map(bool, each.groups())) > 1 for each in found if each)


def _may_be_date(word: str) -> bool:
    return len(word) >= SHORTEST and any(map(str.isdigit, word))


def _signs(text: str) -> str:
    """What stands between the words and numbers of a date or of its format.

    >>> _signs("%d.%m.%Y %H:%M"), _signs("24.12.2020 18:30")
    ('.. :', '.. :')
    """
    return re.sub(r"\w+", "", text.replace("%", ""))


def _all_parse(words: Sequence[str], style: str) -> bool:
    import pandas as pd

    if style == ISO and not all("-" in word for word in words):
        return False  # 2020 and 20200131 are numbers
    found = DateStyle(style, "1900-01-01").numbers(pd.Series(words, dtype="str"))
    return bool(np.isfinite(found).all())
