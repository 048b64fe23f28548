"""Prose above rows that are aligned by spaces, as weather services write it: the names stand below it."""

import io

from widenet.files.dialect import SEPARATORS, START
from widenet.files.heading import is_number

NUM_ROWS = 10  # the last of the first lines, which show what rows are like
LEAST_WIDTH = 3  # fields of a row: two words are a line of prose by chance
MOST_BETWEEN = 2  # lines between the names and the rows, such as rulers
MOST_ALIKE = 0.25  # of the lines above the names that may look like rows


def below_prose(text: str) -> tuple[str, int]:
    r"""A text with blank lines for prose above aligned rows and around their names, and how many there were.

    It is left as it is where separators divide the rows, or no line above them has a word for each column.

    >>> rows = "".join(f"{k} 0.5 {k * k}\n" for k in range(12))
    >>> below_prose("Station: Bremen\nt  x y\n*****\n" + rows)[0].startswith("\nt  x y\n\n0 0.5 0\n")
    True
    """
    lines = list(io.StringIO(text[:START], newline=""))
    whole = lines if len(text) <= START else lines[:-1]
    width = _width([line for line in whole if line.strip()][-NUM_ROWS:])
    unlike = [k for k, line in enumerate(whole) if line.strip() and not _is_row(line, width)]
    if not (width and unlike):
        return text, 0
    first = unlike[-1] + 1
    names = [k for k in unlike[-1 - MOST_BETWEEN :] if _are_names(lines[k], width)]
    prose = {k for k in range(first) if lines[k].strip()} - set(names[-1:])
    num_alike = sum(_is_row(lines[k], width) for k in prose)
    if not names or not prose or num_alike > MOST_ALIKE * len(prose):
        return text, 0
    num_above = sum(map(len, lines[:first]))
    kept = "".join(_blank(line) if k in prose else line for k, line in enumerate(lines[:first]))
    return kept + text[num_above:], len(prose)


def _width(rows: list[str]) -> int:
    """Fields that spaces divide all of these lines into; 0 where they differ or are divided otherwise."""
    widths = {len(row.split()) for row in rows}
    width = widths.pop() if len(widths) == 1 and len(rows) == NUM_ROWS else 0
    is_divided = any(all(sign in row for row in rows) for sign in SEPARATORS)
    return (
        width if width >= LEAST_WIDTH and not is_divided and all(_is_row(row, width) for row in rows) else 0
    )


def _is_row(line: str, width: int) -> bool:
    """Whether a line has as many fields as rows have, at least half of them numbers."""
    fields = line.split()
    return len(fields) == width and 2 * sum(map(is_number, fields)) >= width


def _are_names(line: str, width: int) -> bool:
    fields = line.split()
    return len(fields) == width and not any(map(is_number, fields))


def _blank(line: str) -> str:
    """The end of a line, so that lines keep their numbers."""
    return line[len(line.rstrip("\r\n")) :]
