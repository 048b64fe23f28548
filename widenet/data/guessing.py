"""Which column is to be predicted, where nobody says: the last one that can be learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from widenet.base.wording import shown
from widenet.data.columns import missing
from widenet.data.dates import packed_dates
from widenet.data.deciding import column_dates, file_habits, number_style
from widenet.data.identifiers import COUNTS, is_key_name, why_number_identifies
from widenet.files.table import Table

if TYPE_CHECKING:
    import pandas as pd


def guessed_target(table: Table, drop: Sequence[str]) -> Table:
    """The table with the last column that can be learned as its target, where none was named.

    Where no column can, the table is left as it is, and is refused for the target that it has.

    Args:
        table: Whose target may be a guess: its last column.
        drop: Columns that people leave out.
    """
    if not table.is_guess:
        return table
    frame = table.features.assign(**{str(table.target.name): table.target})
    decimal, reasons = file_habits(table).decimal, dict[str, str]()
    for name in reversed([each for each in frame.columns if each not in table.unnamed]):
        why = "is left out" if name in drop else why_not_learned(frame[name], decimal)
        if not why:
            return _predicting(table, frame, str(name), reasons)
        reasons[str(name)] = why
    return table


def _predicting(table: Table, frame: pd.DataFrame, name: str, reasons: dict[str, str]) -> Table:
    """The table with this target, told with the reasons against later columns."""
    if not reasons:
        return table
    told = "; ".join(f"{shown(each)} {why}" for each, why in reasons.items())
    note = f"The target is column {shown(name)}, chosen because it is the last that can be one: {told}."
    return replace(table, features=frame.drop(columns=name), target=frame[name], why_target=note)


def why_not_learned(values: pd.Series, decimal: str) -> str:
    """Why nobody would want to predict a column, as the end of a sentence; empty where one might."""
    given = values[~missing(values)]
    if 2 * len(given) < len(values):
        return "is empty in most rows"
    num_distinct = given.nunique()
    if num_distinct < 2:
        return "never varies"
    if is_key_name(str(values.name)):
        return "is called an identifier"
    if packed_dates(given) is not None:
        return "holds dates or times"
    style = number_style(given, decimal)
    if style is not None:
        if np.isnan(style.numbers(given)).any():
            return "has words among its numbers"
        counts = why_number_identifies(values, style.numbers(values), is_unnamed=False) == COUNTS
        return COUNTS if counts else ""
    dates = column_dates(given)
    if values.dtype.kind in "mM" or (dates is not None and not dates.is_duration):
        return "holds dates or times"
    if dates is None and num_distinct > max(2, len(given) / 2):
        return "is text that hardly repeats"
    return ""
