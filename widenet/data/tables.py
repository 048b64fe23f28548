"""Tables in files: structure checked record by record first, then read at speed."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.wording import counted, listed, near_names, shown
from widenet.data.columns import missing

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

TARGET_NAMES = ("target", "label", "y", "class")
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL", "?")
DELIMITERS = {".csv": ",;\t", ".tsv": "\t"}
DELIMITER_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs"}


@dataclass(frozen=True)
class Table:
    """Features and target of a table as they were read, row by row, with sentences that tell how."""

    features: pd.DataFrame
    target: pd.Series
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Layout:
    """What a pass over a delimited file found: its separator, its column names, its number of rows."""

    delimiter: str
    header: tuple[str, ...]
    num_rows: int


def read_delimited(path: Path, target: str | None) -> Table:
    """Read a `.csv` or `.tsv` file: UTF-8, one header line, first data row is row 1."""
    layout = scan_delimited(path)
    name, note = choose_target(layout.header, target)
    num_rows, num_columns = layout.num_rows, len(layout.header)
    what = f"A table of {num_rows:,} rows and {num_columns:,} columns"
    require_memory(3 * 8 * num_rows * num_columns, what)
    frame = _parse(path, layout, name)
    if frame.shape != (num_rows, num_columns):
        raise InputError(f"{shown(path.name)} can be read in more than one way: write it with plain quoting.")
    read = f"Read {counted(num_rows, 'row')} and {counted(num_columns, 'column')} from {shown(path.name)}"
    separated = f", separated by {DELIMITER_NAMES[layout.delimiter]}."
    return Table(frame.drop(columns=name), frame[name], (read + separated, note))


def scan_delimited(path: Path) -> Layout:
    """Check the structure of a delimited file, holding one record at a time."""
    file_name = shown(path.name)
    require_memory(path.stat().st_size, f"A table of {path.stat().st_size:,} bytes")  # may be a single line
    try:
        # newline="" leaves line ends inside quotes alone, and utf-8-sig takes a byte order mark away.
        with path.open(encoding="utf-8-sig", newline="") as file:
            delimiter = _delimiter(file.readline(), DELIMITERS[path.suffix.lower()])
            file.seek(0)
            lines = _without_nul(file, file_name)
            reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
            header = tuple(name.strip() for name in next(filter(None, reader), []))
            _check_header(header, file_name)
            num_rows = 0
            for record in reader:
                if record and len(record) != len(header):
                    raise InputError(
                        f"Line {reader.line_num} of {file_name} (row {num_rows + 1}) has "
                        f"{counted(len(record), 'field')} and the header has {len(header)}: correct that "
                        "line."
                    )
                num_rows += bool(record)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file_name} is not UTF-8 text (byte {error.object[error.start]:#04x} cannot be read): "
            "save it as UTF-8."
        ) from error
    except csv.Error as error:
        raise InputError(f"Line {reader.line_num} of {file_name} is not valid CSV: {error}.") from error
    if not num_rows:
        raise InputError(f"{file_name} has a header and no rows: add at least two rows.")
    return Layout(delimiter, header, num_rows)


def _without_nul(lines: Iterable[str], file_name: str) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        if "\0" in line:
            raise InputError(f"Line {number} of {file_name} holds a NUL byte: save the file as UTF-8 text.")
        yield line


def _delimiter(line: str, candidates: str) -> str:
    """The separator that splits the header into most fields; the first candidate wins a tie."""
    unquoted = re.sub(r'"[^"]*"', "", line)
    return max(candidates, key=unquoted.count)


def _check_header(header: tuple[str, ...], file_name: str) -> None:
    if not any(header):
        raise InputError(f"{file_name} is empty: it needs a header line and rows.")
    if "" in header:
        raise InputError(
            f"Column {header.index('') + 1} of {file_name} has no name: name it, or drop it if it "
            "only numbers the rows."
        )
    repeated = [name for name, count in Counter(header).items() if count > 1]
    if repeated:
        raise InputError(
            f"{file_name} has more than one column named {listed(repeated)}: rename or drop them."
        )
    if len(header) < 2:
        raise InputError(
            f"{file_name} has only the column {shown(header[0])}: it needs features and a target."
        )
    if all(_is_number(name) for name in header) and header not in (_count(header, 0), _count(header, 1)):
        raise InputError(
            f"The first line of {file_name} holds numbers, not column names: add a header line with "
            "a name for each column."
        )


def _count(header: tuple[str, ...], first: int) -> tuple[str, ...]:
    return tuple(str(first + k) for k in range(len(header)))


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text) is not None


def _parse(path: Path, layout: Layout, target: str) -> pd.DataFrame:
    import pandas as pd

    frame = pd.read_csv(
        path,
        sep=layout.delimiter,
        header=0,
        names=range(len(layout.header)),  # by position, so that no name is ever interpreted
        index_col=False,
        dtype={layout.header.index(target): str},  # kept as the user wrote it
        keep_default_na=False,
        na_values=list(MISSING),
        skipinitialspace=True,
        low_memory=False,
        encoding="utf-8-sig",
    )
    frame.columns = pd.Index(layout.header)
    return frame


def choose_target(header: tuple[str, ...], target: str | None) -> tuple[str, str]:
    """The target column and a sentence on why it is the one."""
    if target is not None:
        if target in header:
            return target, f"The target is column {shown(target)}, as requested."
        raise InputError(f"There is no column {shown(target)}: {near_names(target, header)}")
    for wanted in TARGET_NAMES:
        for name in header:
            if name.casefold() == wanted:
                return name, f"The target is column {shown(name)}, chosen by its name."
    return header[-1], f"The target is column {shown(header[-1])}, chosen because it is the last."


def read_parquet(path: Path, target: str | None) -> Table:
    """Read a `.parquet` file of flat columns; needs the `parquet` extra."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise InputError("Reading .parquet files needs pyarrow: install widenet[parquet].") from error
    try:
        with pq.ParquetFile(path) as file:
            schema, metadata = file.schema_arrow, file.metadata
            # pandas keeps its row index as a column, which is no feature.
            header = tuple(name for name in schema.names if not re.fullmatch(r"__index_level_\d+__", name))
            _check_header(header, shown(path.name))
            _refuse_nested(schema, header)
            name, note = choose_target(header, target)
            num_rows = metadata.num_rows
            stored = sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
            what = f"A table of {num_rows:,} rows and {len(header):,} columns"
            require_memory(max(3 * 8 * num_rows * len(header), 2 * stored), what)
            frame = file.read().select(list(header)).to_pandas(ignore_metadata=True)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{shown(path.name)} cannot be read as Parquet: {_first_line(error)}.") from error
    read = f"Read {counted(num_rows, 'row')} and {counted(len(header), 'column')} from {shown(path.name)}."
    return Table(frame.drop(columns=name), frame[name], (read, note))


def _refuse_nested(schema: pa.Schema, header: tuple[str, ...]) -> None:
    from pyarrow import types

    numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    text = (types.is_string, types.is_large_string, types.is_dictionary)
    for name in header:
        kind = schema.field(name).type
        if not any(check(kind) for check in numeric + text):
            raise InputError(
                f"Column {shown(name)} of type {kind} is neither numbers nor text: convert or drop it."
            )


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__


def refuse_missing(features: pd.DataFrame) -> None:
    """Raise for the first missing value of a table, by row and column, and tell how many there are."""
    gaps = {name: missing(features[name]) for name in features.columns}
    total = sum(int(mask.sum()) for mask in gaps.values())
    if not total:
        return
    row, name = min((int(mask.argmax()), name) for name, mask in gaps.items() if mask.any())
    num_columns = sum(bool(mask.any()) for mask in gaps.values())
    others = f", one of {total:,} missing values in {counted(num_columns, 'column')}" if total > 1 else ""
    raise InputError(
        f"Row {row + 1}, column {shown(name)}: the value is missing{others}: fill in or drop what is "
        "missing, or set `impute=True`."
    )
