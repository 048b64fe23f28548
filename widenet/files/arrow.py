"""Arrow tables, from Parquet files and from other libraries, as columns of pandas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.wording import shown
from widenet.files.header import Header, unique_names
from widenet.files.limits import LONGEST_CELL, refuse_wide
from widenet.files.lists import without_lists
from widenet.files.table import Sheet, size_note

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

ITEM = 80  # bytes that an item of a list takes while it is spread out
INDEX = "__index_level_"  # how pandas calls its row index, which is no feature


def parquet_names(path: Path) -> Header | None:
    """The header of a Parquet file, from its schema alone; None where lists may become further columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
    except MemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, error) from error
    return None if any(map(_is_list, schema.types)) else _header(schema.names, shown(path.name))


def read_parquet(path: Path) -> Sheet:
    """Read a `.parquet` file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file_name = shown(path.name)
    try:
        with pq.ParquetFile(path) as file:
            words = [field.name for field in file.schema_arrow if _is_text(field.type)]
            groups = [file.metadata.row_group(k) for k in range(file.metadata.num_row_groups)]
        num_rows, num_columns = sum(group.num_rows for group in groups), len(file.schema_arrow.names)
        refuse_wide(num_columns, file_name)
        what = f"A table of {num_rows:,} rows and {num_columns:,} columns"
        stored = sum(group.total_byte_size for group in groups)
        require_memory(max(3 * 8 * num_rows * num_columns, 2 * stored), what)
        # Text stays packed as codes until its length is known: a few bytes may stand for a long text each.
        with pq.ParquetFile(path, read_dictionary=words) as file:
            table = file.read()
        return arrow_sheet(_with_words(table, words, file_name), file_name)
    except MemoryError:  # of Python and of Arrow
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _with_words(table: pa.Table, words: list[str], file_name: str) -> pa.Table:
    """The table with text in place of codes for it; what would not fit into memory is refused."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in words:
        position = table.schema.get_field_index(name)
        if position < 0 or not pa.types.is_dictionary(table.schema.field(position).type):
            continue
        lengths = [
            pc.binary_length(chunk.dictionary).take(chunk.indices) for chunk in table.column(position).chunks
        ]
        longest = max((pc.max(each).as_py() or 0 for each in lengths), default=0)
        if longest > LONGEST_CELL:
            raise InputError(
                f"Column {shown(name)} of {file_name} holds a text of {longest:,} bytes, but at most "
                f"{LONGEST_CELL:,} are read: leave that column out of the file."
            )
        num_bytes = sum(pc.sum(each.cast(pa.int64())).as_py() or 0 for each in lengths)
        require_memory(4 * num_bytes, f"The text of column {shown(name)} of {file_name}")
        kind = table.schema.field(position).type.value_type
        table = table.set_column(position, name, table.column(position).cast(kind))
    return table


def arrow_sheet(table: pa.Table, name: str) -> Sheet:
    """The columns of an Arrow table; those that hold more than single values are left out."""
    import pandas as pd

    table = _without_lists(table)
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


def _without_lists(table: pa.Table) -> pa.Table:
    """The table with lists of single values spread out, before the others, or written as text."""
    import pyarrow as pa

    if not any(map(_is_list, table.schema.types)):
        return table
    spread, plain = list[tuple[str, Any]](), list[tuple[str, Any]]()
    taken = set(table.column_names)
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not _is_list(column.type):
            plain.append((name, column))
            continue
        num_items = sum(len(chunk.flatten()) for chunk in column.chunks)
        require_memory(ITEM * num_items, f"Column {shown(name)}, {num_items:,} items of lists,")
        for each, values in without_lists({name: column.to_pylist()}, taken).items():
            if each == name:
                plain.append((each, pa.array(values)))
            else:
                spread.append((each, pa.array(values, column.type.value_type)))
    names, columns = zip(*spread, *plain, strict=True)
    return pa.Table.from_arrays(columns, names)


def _is_list(kind: pa.DataType) -> bool:
    """Whether values of an Arrow type are lists of single ones."""
    from pyarrow import types

    checks = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return any(check(kind) for check in checks) and is_single(kind.value_type)


def _is_text(kind: pa.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind))


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
        given = column.to_pylist()
        if all(value is None or value == value.to_integral_value() for value in given):
            return pd.Series([None if value is None else int(value) for value in given], dtype=object)
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
