"""Limits that every reader keeps, so that a hostile file is refused in seconds and within little memory."""

from collections.abc import Iterable

from widenet.base.errors import InputError

MOST_COLUMNS = 100_000  # each is decided on by itself, which takes about a millisecond
LONGEST_CELL = 131_072  # characters, which is also the csv module's limit
LONGEST_LINE = 2**24  # bytes of a line of delimited text


def refuse_wide(num_columns: int, file_name: str) -> None:
    """Refuse a table with more columns than can be decided on one by one."""
    if num_columns > MOST_COLUMNS:
        raise InputError(
            f"{file_name} has more than the {MOST_COLUMNS:,} columns that are read: give fewer, or save X "
            "and y in an .npz file."
        )


def refuse_long_lines(content: bytes, file_name: str) -> None:
    """Refuse text with a line so long that it holds no rows."""
    for start in range(0, len(content) - LONGEST_LINE, LONGEST_LINE):
        stop = start + LONGEST_LINE
        if content.find(b"\n", start, stop) < 0 and content.find(b"\r", start, stop) < 0:
            raise InputError(
                f"{file_name} has a line of more than {LONGEST_LINE:,} bytes: give a row on each line."
            )


def refuse_long_cells(values: Iterable[object], name: str, file_name: str) -> None:
    """Refuse a column with a text that is no label, category or number."""
    longest = max((len(value) for value in values if isinstance(value, str)), default=0)
    if longest > LONGEST_CELL:
        raise InputError(
            f"Column {name} of {file_name} holds a text of {longest:,} characters, but at most "
            f"{LONGEST_CELL:,} are read: leave that column out of the file."
        )
