"""Remarks above a table, as programs that measure write them: the last of them may hold the names."""

import csv
import re
from collections import Counter
from contextlib import suppress
from itertools import islice

from widenet.files.dialect import MOST_RECORDS, START, Dialect, dialect_of
from widenet.files.heading import REMARKS, find_heading, is_number
from widenet.files.text import lines_of

LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n)")
MARKS = "".join(REMARKS)
BLANK = " \t"


def below_remarks(text: str) -> tuple[str, int]:
    r"""A text with blank lines for the remarks above its rows, and how many there were.

    Where the rows have no names of their own, the last remark with a word for each column holds them.

    >>> below_remarks("# a spectrum\n#  t   y\n 0.1  5.2\n 0.2  4.1\n")
    ('\nt   y\n 0.1  5.2\n 0.2  4.1\n', 1)
    """
    lines, ends, start = _above(text)
    if not any(lines) or not text[start:].strip():
        return text, 0
    dialect = dialect_of(text[start : start + START])
    records = _first_records(dialect)
    if any(_is_row(dialect.divided(line), records) for line in lines):
        return text, 0  # the mark belongs to the values of the first column, as in #ff0000
    words, names = [_unmarked(line, is_alone=len(list(filter(None, lines))) == 1) for line in lines], -1
    heading = find_heading(records)
    if records and not (heading.is_given and not any(map(is_number, heading.names))):
        ((width, _),) = Counter(map(len, records)).most_common(1)
        fitting = [k for k, line in enumerate(words) if len(dialect.divided(line)) == width > 1]
        names = fitting[-1] if fitting else -1
    kept = "".join((words[k] if k == names else "") + end for k, end in enumerate(ends))
    return kept + text[start:], sum(map(bool, lines)) - (names >= 0)


def _is_row(fields: list[str], records: list[list[str]]) -> bool:
    """Whether a marked line has as many fields as the rows below it, and a number wherever they all do."""
    alike = [record for record in records if len(record) == len(fields) > 1]
    numeric = [k for k in range(len(fields)) if alike and all(is_number(record[k]) for record in alike)]
    return 2 * len(alike) > len(records) and bool(numeric) and all(is_number(fields[k]) for k in numeric)


def _unmarked(line: str, *, is_alone: bool) -> str:
    """A remark without its mark; `#,name` and `%change,name` on top of a table are names as they stand."""
    words = line.lstrip(MARKS + BLANK)
    is_name = is_alone and (line.startswith("%") or not words[:1].isalnum()) and line[1:2] != " "
    return line if is_name else words


def _above(text: str) -> tuple[list[str], list[str], int]:
    """Remarks and blank lines that a text begins with, how each of them ends, and the place below them."""
    lines, ends, start = list[str](), list[str](), 0
    while (found := LINE.match(text, start)) and (not found[1].strip() or _is_remark(found[1])):
        lines.append(found[1].strip())
        ends.append(found[2])
        start = found.end()
    return lines, ends, start


def _is_remark(line: str) -> bool:
    return line.lstrip().startswith(REMARKS)


def _first_records(dialect: Dialect) -> list[list[str]]:
    records = list[list[str]]()
    with suppress(csv.Error):
        lines = iter(lines_of(dialect.text))
        records += islice((record for record in dialect.records(lines, strict=False) if record), MOST_RECORDS)
    return records
