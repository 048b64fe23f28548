"""Arrow tables, from Parquet files and from other libraries, as columns of pandas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.wording import shown
from widenet.files.header import Header, unique_names
from widenet.files.table import Sheet, size_note

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

INDEX = "__index_level_"  # how pandas calls its row index, which is no feature


def parquet_names(path: Path) -> Header:
    """The header of a Parquet file, from its schema alone."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        names = pq.read_schema(path).names
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, error) from error
    return _header(names, shown(path.name))


def read_parquet(path: Path) -> Sheet:
    """Read a `.parquet` file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file_name = shown(path.name)
    try:
        with pq.ParquetFile(path) as file:
            metadata, num_columns = file.metadata, len(file.schema_arrow.names)
            stored = sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
            what = f"A table of {metadata.num_rows:,} rows and {num_columns:,} columns"
            require_memory(max(3 * 8 * metadata.num_rows * num_columns, 2 * stored), what)
            table = file.read()
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, error) from error
    return arrow_sheet(table, file_name)


def arrow_sheet(table: pa.Table, name: str) -> Sheet:
    """The columns of an Arrow table; those that hold more than single values are left out."""
    import pandas as pd

    header = _header(table.column_names, name)
    kept = [position for position, each in enumerate(table.column_names) if not each.startswith(INDEX)]
    nested, columns = {}, {}
    for each, position in zip(header.names, kept, strict=True):
        kind = table.schema.field(position).type
        if is_single(kind):
            columns[each] = _series(table.column(position))
        else:
            nested[each] = f"is of type {kind}, neither numbers nor text nor times"
            columns[each] = pd.Series([None] * table.num_rows, dtype=object)
    notes = (size_note(table.num_rows, len(header.names), name),)
    return Sheet(pd.DataFrame(columns, columns=list(header.names)), header, notes, left_out=nested)


def is_single(kind: pa.DataType) -> bool:
    """Whether values of an Arrow type are numbers, text, times or codes for these."""
    from pyarrow import types

    checks = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    words = (types.is_string, types.is_large_string, types.is_string_view)
    times = (types.is_date, types.is_timestamp, types.is_duration)
    if types.is_dictionary(kind):
        return is_single(kind.value_type)
    return any(check(kind) for check in (*checks, *words, *times))


def _series(column: pa.ChunkedArray) -> pd.Series:
    """A column in which whole numbers with gaps keep all their digits."""
    import pandas as pd
    import pyarrow as pa
    from pyarrow import types

    if types.is_integer(column.type) and column.null_count:
        return pd.Series(column.to_pylist(), dtype=object)
    if types.is_decimal(column.type):
        column = column.cast(pa.float64())
    if types.is_date(column.type):
        column = column.cast(pa.timestamp("s"))
    if types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    return column.to_pandas()


def _header(given: list[str], name: str) -> Header:
    names = [each for each in given if not each.startswith(INDEX)]
    if len(names) < 2:
        raise InputError(f"{name} has fewer than two columns: it needs features and a target.")
    return unique_names(names)


def _unreadable(path: Path, error: Exception) -> InputError:
    reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
    return InputError(f"{shown(path.name)} cannot be read as Parquet: {reason}.")
