"""What every reader of tables gives, and what is made of it once the target is known."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from widenet.base.errors import InputError
from widenet.base.wording import column_name, counted, shown
from widenet.files.header import Header, choose_target, unique_names
from widenet.files.limits import refuse_wide
from widenet.files.words import settled

if TYPE_CHECKING:
    import pandas as pd


SINGLE = "biufmMOSUT"  # kinds of types whose values are single ones


@dataclass(frozen=True)
class Sheet:
    """All columns of a file, as they were read.

    Attributes:
        frame: A column for each name of the header, rows in the order of the file.
        header: The names.
        notes: Sentences that tell what was read.
        left_out: Columns that no table can hold, each with the reason.
        decimal: The decimal sign that the file's layout suggests, a comma or a point.
    """

    frame: pd.DataFrame
    header: Header
    notes: tuple[str, ...]
    left_out: dict[str, str] = field(default_factory=dict)
    decimal: str = "."


@dataclass(frozen=True)
class Table:
    """Features and target of a table as they were read, row by row.

    Attributes:
        features: Raw columns.
        target: What is to be learned, named.
        notes: Sentences that tell how they were read.
        unnamed: Features that the file gave no name.
        left_out: Columns that no table can hold, each with the reason.
        decimal: The decimal sign that the file's layout suggests.
        why_target: The sentence that tells why the target is this column.
        is_guess: Whether it is only because that is the last one.
    """

    features: pd.DataFrame
    target: pd.Series
    notes: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    decimal: str = "."
    why_target: str = ""
    is_guess: bool = False


def table_of(sheet: Sheet, target: str | None) -> Table:
    """The table of a file, its rows numbered from 1 and its text without spaces around it."""
    import pandas as pd

    header = sheet.header
    if target is None and len(sheet.left_out) < len(header.names):  # nobody asks for a column of lists
        header = replace(header, names=tuple(each for each in header.names if each not in sheet.left_out))
    name, why_target, is_guess = choose_target(header, target)
    if name in sheet.left_out:
        raise InputError(f"The target column {shown(name)} {sheet.left_out[name]}: choose another `target`.")
    columns = {each: settled(sheet.frame[each]) for each in sheet.frame.columns if each not in sheet.left_out}
    frame = pd.DataFrame(columns)
    frame.index = pd.RangeIndex(1, len(frame) + 1)
    features = frame.drop(columns=name)
    notes = (*sheet.notes, *sheet.header.notes)
    return Table(
        features,
        frame[name],
        notes,
        sheet.header.unnamed,
        sheet.left_out,
        sheet.decimal,
        why_target,
        is_guess,
    )


def frame_sheet(frame: pd.DataFrame, name: str) -> Sheet:
    """The columns of a DataFrame; its index is no feature.

    Args:
        frame: Columns of any names and types.
        name: What it came from, as sentences call it.
    """
    import pandas as pd

    header = unique_names([column_name(given) for given in frame])
    refuse_wide(len(header.names), name)
    columns, nested = {}, {}
    for position, each in enumerate(header.names):
        values = frame.iloc[:, position].reset_index(drop=True)
        if isinstance(values.dtype, pd.SparseDtype):
            values = values.sparse.to_dense()
        if values.dtype.kind not in SINGLE or isinstance(values.dtype, pd.IntervalDtype):
            nested[each] = f"is of type {values.dtype}, neither numbers nor text nor times"
        elif values.dtype == object and values.map(_is_nested).any():
            nested[each] = "holds lists or objects, not single values"
        columns[each] = values
    if not len(columns):
        raise InputError(f"{name[:1].upper()}{name[1:]} has no columns: it needs features and a target.")
    notes = (size_note(len(frame), len(columns), name),)
    return Sheet(pd.DataFrame(columns), header, notes, left_out=nested)


def _is_nested(value: object) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes)


def size_note(num_rows: int, num_columns: int, file_name: str, how: str = "") -> str:
    """The sentence that tells what was read."""
    return f"Read {counted(num_rows, 'row')} and {counted(num_columns, 'column')} from {file_name}{how}."


def object_column(values: list[Any]) -> pd.Series:
    """Values of any kind as a column in which none of them is changed."""
    import pandas as pd

    return pd.Series(values, dtype=object)
