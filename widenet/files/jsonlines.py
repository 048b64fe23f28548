"""JSON: an object a line, or a list of objects; their keys are the columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.problems import Problems
from widenet.base.wording import shown
from widenet.files.header import Header, header_of
from widenet.files.packed import read_bytes, read_start
from widenet.files.table import Sheet, object_column, size_note
from widenet.files.text import decoded, encoding_note

COPIES = 20  # bytes that reading takes for each byte of text
START = 2**16  # bytes that the header is looked for in
MOST_WRONG = 5  # lines that are told one by one


def json_names(path: Path) -> Header | None:
    """The keys of the first lines; None where these do not fit into the start of the file, or are a list."""
    text, _ = decoded(read_start(path, START), cut=True)
    if _is_list(text):
        return None
    lines = text.splitlines()
    if len(text) >= START:
        lines = lines[:-1]  # may be cut
    records = _records(lines, shown(path.name)) if lines else []
    return _header(records, shown(path.name)) if records else None


def read_json_lines(path: Path) -> Sheet:
    """Read a `.jsonl` or `.json` file: first object is row 1; a key that an object lacks is missing there."""
    import pandas as pd

    content = read_bytes(path)
    require_memory(COPIES * len(content), f"JSON of {len(content):,} bytes")
    text, encoding = decoded(content)
    file_name = shown(path.name)
    records = _listed(text, file_name) if _is_list(text) else _records(text.splitlines(), file_name)
    if not records:
        raise InputError(f"{file_name} is empty: it needs an object on each line.")
    header = _header(records, file_name)
    columns = {name: [record.get(name) for record in records] for name in header.names}
    nested = {
        name: "holds lists or objects, not single values"
        for name, values in columns.items()
        if any(isinstance(value, list | dict) for value in values)
    }
    frame = pd.DataFrame({name: object_column(values) for name, values in columns.items()})
    notes = (size_note(len(frame), len(header.names), file_name), *encoding_note(encoding))
    return Sheet(frame, header, notes, left_out=nested)


def _header(records: list[dict[str, Any]], file_name: str) -> Header:
    return header_of(list(dict.fromkeys(key for record in records for key in record)), file_name)


def _is_list(text: str) -> bool:
    """Whether the objects are the items of a list, rather than on a line each."""
    return text.lstrip()[:1] == "["


def _listed(text: str, file_name: str) -> list[dict[str, Any]]:
    """The objects of a list; anything else is refused."""
    try:
        records = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file_name} is not JSON ({error}): save it again.") from error
    wrong = [number for number, record in enumerate(records, start=1) if not isinstance(record, dict)]
    if wrong:
        raise InputError(
            f"Item {wrong[0]} of the list in {file_name} is no object with keys, as a row has to be: write "
            '[{"column": value, ...}, ...].'
        )
    return list(records)


def _records(lines: list[str], file_name: str) -> list[dict[str, Any]]:
    """The objects of all lines that are not blank; lines that hold none are told together."""
    records, problems, num_wrong = list[dict[str, Any]](), Problems(), 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        wrong = ""
        try:
            record = json.loads(line)
            if isinstance(record, dict):
                records.append(record)
            else:
                wrong = 'is not an object with keys: write it as {"column": value, ...}'
        except (ValueError, RecursionError) as error:
            wrong = f"is not JSON ({error}): correct that line"
        num_wrong += bool(wrong)
        if wrong and num_wrong <= MOST_WRONG:
            problems.add(f"Line {number} of {file_name} {wrong}.")
    if num_wrong > MOST_WRONG:
        problems.add(f"{num_wrong - MOST_WRONG:,} more lines hold no object, too.")
    problems.refuse(file_name)
    return records
