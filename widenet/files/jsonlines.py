"""JSON: an object a line, a list of objects, or one object that holds a table; keys are the columns."""

from __future__ import annotations

import json
from collections.abc import Container
from contextlib import suppress
from pathlib import Path
from typing import Any

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.problems import Problems
from widenet.base.wording import shown
from widenet.files.header import Header, header_of
from widenet.files.limits import refuse_long_cells, refuse_wide
from widenet.files.lists import free_name, without_lists
from widenet.files.packed import read_bytes, read_start
from widenet.files.table import Sheet, object_column, size_note
from widenet.files.text import decoded, encoding_note, first_lines, lines_of

COPIES = 20  # bytes that reading takes for each byte of text
START = 2**16  # bytes that the header is looked for in
NO_NAME = ""  # of the column that the keys of rows make
CELL = 100  # bytes of a key and a value in an object
DEEPEST = 4  # objects within objects that are spread out
MOST_WRONG = 5  # lines that are told one by one


def json_names(path: Path) -> Header | None:
    """The keys of the first lines; None where these do not fit into the start of the file, or are a table.

    None, too, where there are lists, which become further columns or not, by what follows.
    """
    lines = first_lines(read_start(path, START), START)
    if _is_list("\n".join(lines)) or _is_alone(lines):
        return None
    records = _all_flat(_records(lines, shown(path.name)))
    has_lists = any(isinstance(value, list) for record in records for value in record.values())
    return _header(_columns(records), shown(path.name)) if records and not has_lists else None


def read_json_lines(path: Path) -> Sheet:
    """Read a `.jsonl` or `.json` file: first object is row 1; a key that an object lacks is missing there."""
    import pandas as pd

    content = read_bytes(path)
    require_memory(COPIES * len(content), f"JSON of {len(content):,} bytes")
    text, encoding = decoded(content)
    file_name = shown(path.name)
    records = _all_flat(_all_records(text, file_name))
    if not records:
        raise InputError(f"{file_name} is empty: it needs an object on each line.")
    keyed = _columns(records)
    header = _header(keyed, file_name)
    columns = dict(zip(header.names, keyed.values(), strict=True))
    for name, values in columns.items():
        refuse_long_cells(values, shown(name), file_name)
    nested = {
        name: "holds lists or objects, not single values"
        for name, values in columns.items()
        if any(isinstance(value, list | dict) for value in values)
    }
    frame = pd.DataFrame({name: object_column(values) for name, values in columns.items()})
    notes = (size_note(len(frame), len(header.names), file_name), *encoding_note(encoding))
    return Sheet(frame, header, notes, left_out=nested)


def flat(record: dict[str, Any], others: Container[str] = (), depth: int = DEEPEST) -> dict[str, Any]:
    """An object with those inside it spread out: each key is named by the way to it, unlike all `others`.

    >>> flat({"id": 1, "place": {"city": "Oslo", "at": {"lat": 59.9}}})
    {'id': 1, 'place.city': 'Oslo', 'place.at.lat': 59.9}
    """
    spread: dict[str, Any] = {}
    for key, value in record.items():
        inner = flat(value, depth=depth - 1) if isinstance(value, dict) and depth else {}
        if inner:
            for name, each in inner.items():
                spread[free_name(f"{key}.{name}", record, others, spread)] = each
        else:
            spread[key] = value
    return spread


def _all_flat(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Objects with those inside them spread out; a key means the same in all of them."""
    keys = {key for record in records for key in record}
    return [flat(record, keys) for record in records]


def _columns(records: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """The values of each key, with lists of single values spread out or written as text."""
    keys = dict.fromkeys(key for record in records for key in record)
    what = f"A table of {len(records):,} rows and {len(keys):,} columns"
    require_memory(3 * 8 * len(records) * len(keys), what)
    return without_lists({key: [record.get(key) for record in records] for key in keys})


def _header(columns: dict[str, list[Any]], file_name: str) -> Header:
    refuse_wide(len(columns), file_name)
    return header_of(list(columns), file_name)


def _all_records(text: str, file_name: str) -> list[dict[str, Any]]:
    """The rows, in whichever way they are written."""
    if _is_list(text):
        return _listed(text, file_name)
    lines = lines_of(text)
    if _is_alone(lines):
        with suppress(ValueError, RecursionError):
            return _spread(json.loads(text))
    return _records(lines, file_name)


def _is_alone(lines: list[str]) -> bool:
    """Whether there is one object, on a line of its own or on several, rather than an object a line."""
    filled = [line for line in lines if line.strip()]
    try:
        return len(filled) < 2 or not isinstance(json.loads(filled[0]), dict)
    except (ValueError, RecursionError):
        return True


def _spread(whole: Any) -> list[dict[str, Any]]:
    """The rows of one object: a list of objects in it, columns as pandas writes them, or rows by their keys.

    Columns have rows numbered, as pandas does it, or more rows than there are columns.
    """
    if not isinstance(whole, dict):
        raise ValueError("no object")
    lists = [each for each in whole.values() if _are_objects(each)]
    if len(lists) == 1:
        return list(lists[0])
    if whole and all(isinstance(column, dict) for column in whole.values()):
        labels = list(dict.fromkeys(label for column in whole.values() for label in column))
        if len(whole) > len(labels) and not all(label.isdigit() for label in labels):
            return [{NO_NAME: key} | row for key, row in whole.items()]
        require_memory(CELL * len(whole) * len(labels), f"A table of {len(labels):,} × {len(whole):,} cells")
        return [{name: column.get(label) for name, column in whole.items()} for label in labels]
    are_lists = all(isinstance(column, list) for column in whole.values())
    if are_lists and len({len(column) for column in whole.values()}) == 1:
        return [dict(zip(whole, row, strict=True)) for row in zip(*whole.values(), strict=True)]
    return [whole]


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


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
