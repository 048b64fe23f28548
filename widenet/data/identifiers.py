"""Columns that tell rows apart and say nothing about them: row counters, keys, names without repetition."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

COUNTS = "numbers the rows"
UNNAMED = "has no name and a different whole number in every row"
LEAST_ROWS = 10  # below which any column might count by chance
LEAST_KEYS, LEAST_SHARE = (
    20,
    0.1,
)  # different values, and of the rows, from which a key is no short list of codes
MOST_KEYS = 1000  # different values that are never a short list, however many rows there are
KEY_WORDS = {
    "id",
    "pid",
    "uid",
    "sid",
    "gid",
    "uuid",
    "guid",
    "geoid",
    "fips",
    "seqn",
    "unitid",
    "userid",
    "idcode",
    "idno",
    "idnum",
    "caseid",
    "personid",
    "respid",
    "memberid",
    "subjid",
    "randid",
    "patid",
    "patientid",
    "studyid",
    "sampleid",
    "hhid",
    "empid",
    "custid",
    "customerid",
    "orderid",
    "productid",
    "playerid",
    "recid",
}
COUNTER_NAMES = {
    "identifier",
    "index",
    "idx",
    "row",
    "rowid",
    "rownum",
    "row number",
    "rownames",
    "row names",
    "level 0",
}


def is_key_name(name: str) -> bool:
    """Whether a name is that of an identifier: its first or last word is "id" or the like, or all of it.

    >>> [is_key_name(name) for name in ("PassengerId", "user_id", "PID", "covid", "heat index", "index")]
    [True, True, True, False, False, True]
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", " ", name).strip()
    words = spaced.lower().split()
    return bool(words) and (
        not KEY_WORDS.isdisjoint((words[0], words[-1])) or " ".join(words) in COUNTER_NAMES
    )


def why_number_identifies(values: pd.Series, numbers: np.ndarray, *, is_unnamed: bool) -> str:
    """Why a column of numbers is an identifier; empty where it is none.

    Whole numbers without repetition may well be a measurement. They are an identifier only where they count
    the rows in their order, or where their name, or having none, says so. A key may repeat where several rows
    are about one thing; where it takes few values it may be a code that matters, and stays.

    Args:
        values: The raw column without missing values, its index the numbers of the rows.
        numbers: The same as float64, shape (n,).
        is_unnamed: Whether the column has no name.
    """
    if not np.array_equal(numbers, np.rint(numbers)):
        return ""
    first = numbers - values.index.to_numpy()
    if len(numbers) >= LEAST_ROWS and first[0] in (0, -1) and (first == first[0]).all():
        return COUNTS
    if values.is_unique and is_unnamed:
        return UNNAMED
    if values.is_unique and is_key_name(str(values.name)):
        return "is called an identifier and has a different whole number in every row"
    num_keys = values.nunique()
    is_long = num_keys >= min(max(LEAST_KEYS, LEAST_SHARE * len(values)), MOST_KEYS)
    if is_long and is_key_name(str(values.name)):
        return f"is called an identifier and has {num_keys:,} different whole numbers"
    return ""
