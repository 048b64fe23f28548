"""ARFF files, as Weka and OpenML write them: attributes with their types, then rows, dense or sparse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.problems import Problems
from widenet.base.wording import counted, shown
from widenet.files.header import Header, unique_names
from widenet.files.limits import LONGEST_CELL, refuse_long_lines, refuse_wide
from widenet.files.packed import read_bytes, read_start
from widenet.files.table import Sheet, object_column, size_note
from widenet.files.text import decoded, encoding_note, first_lines, lines_of

if TYPE_CHECKING:
    import pandas as pd

START = 2**20  # bytes that the attributes are looked for in
MOST_TOLD = 5  # wrong lines that are told one by one
QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
NAME = rf"(?:{QUOTED}|[^\s{{'\"][^\s{{]*)(?=[\s{{])"  # all of it: the type is not a part of a name
ATTRIBUTE = re.compile(rf"@attribute\s+({NAME})\s*(.+)", re.IGNORECASE)
FIELD = re.compile(rf"\s*(?:({QUOTED})\s*|([^,]*))(,|$)")  # between commas
PAIR = re.compile(rf"\s*(\d{{1,9}})\s+(?:({QUOTED})\s*|([^,]*))(?:,|$)")  # place and value
WEIGHT = re.compile(r",\s*\{\s*[-+.\deE]+\s*\}\s*$")  # of a row, behind it; rows count alike here


@dataclass(frozen=True)
class Attribute:
    """A column: its name, and its values where they are declared, as those of a category are."""

    name: str
    values: tuple[str, ...] | None = None

    @property
    def usual(self) -> str:
        """What a sparse row leaves out."""
        return self.values[0] if self.values else "0"


def arff_names(path: Path) -> Header | None:
    """The names of the attributes; None where they do not fit into the start of the file."""
    attributes, rows = _parsed(first_lines(read_start(path, START), START), shown(path.name))
    return None if rows is None else _header(attributes, shown(path.name))


def read_arff(path: Path) -> Sheet:
    """Read an `.arff` file: first line of data is row 1; nominal attributes are categories."""
    import pandas as pd

    file_name, content = shown(path.name), read_bytes(path)
    refuse_long_lines(content, file_name)
    text, encoding = decoded(content)
    attributes, lines = _parsed(lines_of(text), file_name)
    header = _header(attributes, file_name)
    if not lines:
        raise InputError(f"{file_name} has no rows below @data: add at least two rows.")
    require_memory(3 * 8 * len(lines) * len(attributes), f"A table of {len(lines):,} lines")
    rows = _rows(lines, attributes, file_name)
    columns = zip(*rows, strict=True)
    frame = pd.DataFrame(
        {
            name: _column(each, list(values))
            for name, each, values in zip(header.names, attributes, columns, strict=True)
        }
    )
    notes = (size_note(len(frame), len(header.names), file_name), *encoding_note(encoding))
    return Sheet(frame, header, notes)


def _parsed(lines: list[str], file_name: str) -> tuple[list[Attribute], list[tuple[int, str]] | None]:
    """The attributes, and the numbered lines below @data; None where there is no such line."""
    attributes, numbered = list[Attribute](), enumerate(lines, start=1)
    for number, line in numbered:
        line = line.strip()
        word = line.split(None, 1)[0].lower() if line else ""
        if word == "@data":
            return attributes, [(k, each) for k, each in numbered if each.strip() and each.lstrip()[0] != "%"]
        if word == "@attribute":
            attributes.append(_attribute(line, number, file_name))
        elif line and not line.startswith("%") and word != "@relation":
            raise InputError(f"Line {number} of {file_name} is no ARFF: {shown(line)} stands above @data.")
    return attributes, None


def _attribute(line: str, number: int, file_name: str) -> Attribute:
    found = ATTRIBUTE.fullmatch(line)
    if found is None:
        raise InputError(f"Line {number} of {file_name} declares no attribute: write @attribute name type.")
    name, kind = _bare(found[1]), found[2].strip()
    if kind.startswith("{"):
        return Attribute(name, tuple(map(_bare, _fields(kind[1:].rstrip().rstrip("}")))))
    if kind.split()[0].lower() == "relational":
        raise InputError(f"Attribute {shown(name)} of {file_name} is relational: give single values.")
    return Attribute(name)


def _header(attributes: list[Attribute], file_name: str) -> Header:
    if len(attributes) < 2:
        raise InputError(f"{file_name} has fewer than two attributes: it needs features and a target.")
    refuse_wide(len(attributes), file_name)
    return unique_names([each.name for each in attributes])


def _rows(
    lines: list[tuple[int, str]], attributes: list[Attribute], file_name: str
) -> list[list[str | None]]:
    rows, problems, num_wrong = list[list[str | None]](), Problems(), 0
    for number, line in lines:
        row = _row(line, attributes)
        if row is not None:
            rows.append(row)
            continue
        num_wrong += 1
        if num_wrong <= MOST_TOLD:
            problems.add(
                f"Line {number} of {file_name} is no row of {counted(len(attributes), 'value')} with at most "
                f"{LONGEST_CELL:,} characters each: correct that line."
            )
    problems.refuse(file_name)
    return rows


def _row(line: str, attributes: list[Attribute]) -> list[str | None] | None:
    """The values of a line, None for what is missing; None for a line that is no row."""
    line = line.strip()
    if line.startswith("{"):
        row: list[str | None] | None = _sparse(line, attributes)
    else:
        fields = list(_fields(WEIGHT.sub("", line)))
        row = [None if field == "?" else _bare(field) for field in fields]
    if row is None or len(row) != len(attributes):
        return None
    return row if all(value is None or len(value) <= LONGEST_CELL for value in row) else None


def _sparse(line: str, attributes: list[Attribute]) -> list[str | None] | None:
    row: list[str | None] = [each.usual for each in attributes]
    inside = WEIGHT.sub("", line)[1:].rstrip()
    if not inside.endswith("}"):
        return None
    inside, start = inside[:-1].strip(), 0
    while start < len(inside):
        found = PAIR.match(inside, start)
        if found is None or int(found[1]) >= len(row):
            return None
        value = (found[2] or found[3]).strip()
        row[int(found[1])] = None if value == "?" else _bare(value)
        start = found.end()
    return row


def _fields(text: str) -> Iterator[str]:
    """What stands between commas outside quotes."""
    start = 0
    while start <= len(text):
        found = FIELD.match(text, start)
        if found is None:  # a quote that is not closed, or text behind one
            yield text[start:]
            return
        yield (found[1] or found[2]).strip()
        if not found[3]:
            return
        start = found.end()


def _bare(field: str) -> str:
    """A field without its quotes."""
    field = field.strip()
    if len(field) > 1 and field[0] == field[-1] and field[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", field[1:-1])
    return field


def _column(attribute: Attribute, values: list[str | None]) -> pd.Series:
    import pandas as pd

    if attribute.values is None:
        return object_column(values)
    given = (value for value in values if value is not None)
    categories = list(dict.fromkeys((*attribute.values, *given)))  # some files have more than they declare
    return pd.Series(pd.Categorical(values, categories=categories))
