"""Data that is in memory already: tables of pandas, polars and others, arrays, tensors, torch data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.wording import shown
from widenet.data.arrays import checked_shapes
from widenet.files.arrow import arrow_sheet
from widenet.files.header import unique_names
from widenet.files.table import Sheet, Table, frame_sheet, table_of

if TYPE_CHECKING:
    import pandas as pd


class IndexedRows(Protocol):
    """Rows by index: an array, a tensor, a list, or a torch `Dataset` of pairs (input, target)."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: Any, /) -> Any: ...


class ArrowTable(Protocol):
    """A table that hands its columns over in Arrow's layout, as polars and others do."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> object: ...


class InterchangeTable(Protocol):
    """A table with the dataframe interchange protocol."""

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any: ...


@dataclass(frozen=True)
class Arrays:
    """Rows as arrays, and what they came from."""

    name: str
    X: np.ndarray
    y: np.ndarray


def rows_in_memory(source: Any, y: Any, target: str | None) -> Table | Arrays:
    """The rows of data in memory, with their targets.

    Args:
        source: A table, an array or tensor of rows, or a torch `Dataset`.
        y: Targets, one for each row; None where they are a column of the table, or come with each row.
        target: Name of the table's column to predict.
    """
    if y is not None and target is not None:
        raise InputError("The targets are given as `y`, so `target` does not apply: leave one of them out.")
    name, sheet = type(source).__name__, _sheet(source)
    if sheet is not None:
        if y is not None:
            sheet, target = _joined(sheet, y)
        return table_of(sheet, target)
    if target is not None:
        raise InputError(f"`target` names a column of a table, but the data is of type {name}: leave it out.")
    if y is None:
        return Arrays(name, *checked_shapes(*_stacked(source, name)))
    X = _array(source)
    if X.dtype.kind not in "biuf":
        return _table_of_objects(X, y, name)
    return Arrays("arrays", *checked_shapes(X, _array(y)))


def _sheet(source: Any) -> Sheet | None:
    """The columns of a table; None for what is none."""
    import pandas as pd

    if isinstance(source, np.ndarray) and source.dtype.names:
        columns = {each: source[each] for each in source.dtype.names}
        source = _frame_of_columns(columns, type(source).__name__)
    if isinstance(source, Mapping):
        source = _frame_of_columns(source, type(source).__name__)
    if isinstance(source, pd.DataFrame):
        return frame_sheet(source, "the table")
    if isinstance(source, np.ndarray | Tensor | pd.Series):
        return None
    if hasattr(source, "collect_schema") and not hasattr(source, "__arrow_c_stream__"):
        raise InputError("The table is lazy: call its collect() first.")
    if hasattr(source, "__arrow_c_stream__"):
        import pyarrow as pa

        return arrow_sheet(pa.table(source), "the table")
    if hasattr(source, "__dataframe__"):
        from pyarrow.interchange import from_dataframe

        return arrow_sheet(from_dataframe(source), "the table")
    return None


def _frame_of_columns(source: Mapping[Any, Any], kind: str) -> pd.DataFrame:
    """A table of columns by name, from data of this type."""
    import pandas as pd

    columns = {name: _column(values) for name, values in source.items()}
    try:
        if len({len(values) for values in columns.values()}) > 1:
            raise ValueError("they are not of one length")
        return pd.DataFrame(columns)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"Data of type {kind} is read as columns by their names, each with one value a row, which it "
            f"does not hold ({error}): give rows and targets as X and y, or a DataFrame."
        ) from error


def _column(values: Any) -> Any:
    """Values row by row: an index would move them, and bytes are text."""
    if hasattr(values, "reset_index"):
        return values.reset_index(drop=True)
    if isinstance(values, np.ndarray) and values.dtype.kind == "S":
        return np.char.decode(values, "utf-8", "replace")
    return values


def _joined(sheet: Sheet, y: Any) -> tuple[Sheet, str]:
    """The table with its targets as a further column, and the name of that."""
    values = _series(y)
    if len(values) != len(sheet.frame):
        raise InputError(
            f"The table has {len(sheet.frame):,} rows and y has {len(values):,}: give a target for each row."
        )
    given = str(values.name) if values.name is not None else "y"
    header = unique_names([*sheet.header.names, given])
    frame = sheet.frame.assign(
        **{header.names[-1]: values.to_numpy(copy=True) if values.dtype.kind in "biuf" else values.array}
    )
    return Sheet(frame, header, sheet.notes, sheet.left_out, sheet.decimal), header.names[-1]


def _series(y: Any) -> pd.Series:
    """Targets as a column that changes none of them."""
    import pandas as pd

    if isinstance(y, pd.DataFrame) and y.shape[1] == 1:
        y = y.iloc[:, 0]
    if isinstance(y, pd.Series):
        return y.reset_index(drop=True)
    if isinstance(y, Sequence):
        return pd.Series(list(y), dtype=object)
    array = _array(y)
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.ndim != 1:
        raise InputError(f"y has {array.ndim} dimensions: give one target for each row.")
    return pd.Series(array)


def _table_of_objects(X: np.ndarray, y: Any, name: str) -> Table:
    """An array of text or mixed values, column by column."""
    import pandas as pd

    if X.ndim != 2:
        raise InputError(
            f"X is of type {name} with {X.ndim} dimensions of text or objects: give rows × columns."
        )
    frame = pd.DataFrame({f"x{k + 1}": pd.Series(X[:, k], dtype=object) for k in range(X.shape[1])})
    sheet, target = _joined(frame_sheet(frame, "the table"), y)
    return table_of(sheet, target)


def _array(values: Any) -> np.ndarray:
    """Values as an array; a tensor is taken from its device, a sparse matrix is filled in."""
    if isinstance(values, Tensor):
        return values.detach().cpu().numpy()
    if hasattr(values, "toarray"):
        require_memory(8 * int(np.prod(values.shape)), "X, a sparse matrix that has to be filled in,")
        return np.asarray(values.toarray())
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InputError(f"The rows are not all of one shape ({error}): give an array.") from error


def _stacked(source: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and targets of a torch `Dataset`, which gives a pair for each index."""
    if isinstance(source, np.ndarray | Tensor) or not (
        hasattr(source, "__len__") and hasattr(source, "__getitem__")
    ):
        raise InputError(
            f"There are no targets in data of type {name}: give them as `y`, or a table and its `target`."
        )
    if not len(source):
        raise InputError(f"The data of type {name} is empty: give at least two rows.")
    first = source[0]
    if not (isinstance(first, tuple | list) and len(first) == 2):
        raise InputError(
            f"The items of {name} are of type {type(first).__name__}, not pairs of an input and a target: "
            "give X and `y` instead."
        )
    require_memory(3 * 8 * len(source) * _array(first[0]).size, f"{len(source):,} rows of {shown(name)}")
    pairs = [source[index] for index in range(len(source))]
    return _array([_array(x) for x, _ in pairs]), _array([_array(label) for _, label in pairs])
