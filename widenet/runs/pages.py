"""Rows of a store read from the pages of its file themselves, where SQLite no longer finds a way to them.

The file format is that of https://www.sqlite.org/fileformat2.html. Pages that hold rows are recognised one by
one, without the tree above them. Anything may be misread here: a row counts only if its checksum says so.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, pairwise

from widenet.runs.tables import APPLICATION, Row

MAGIC = b"SQLite format 3\0"
LEAF, LEAF_HEADER = 13, 8  # type of a page of rows, and bytes before the places of its cells
FILE_HEADER = 100  # bytes at the start of the first page
NUM_COLUMNS = 5
MOST_COPIES = 4  # bytes read for each byte of the file, at most: in a hostile one many rows may share pages
NULL, FIRST_BLOB = 0, 12  # types of values: from 12 on, even ones are blobs of (type − 12) / 2 bytes


class _NotThereError(Exception):
    """What was looked for is not in the file."""


def sound_rows(content: memoryview) -> Iterator[Row]:
    """All rows that are byte for byte what was stored, from pages that are in use; some may come twice."""
    if bytes(content[: len(MAGIC)]) != MAGIC or _number(content, 68) != APPLICATION:
        return
    size = int.from_bytes(content[16:18], "big")
    size = 65536 if size == 1 else size
    if size < 512 or size & (size - 1):
        return
    usable = size - content[20]  # each page may end with bytes for others
    free = _free_pages(content, size)
    left = MOST_COPIES * len(content)
    for page in range(len(content) // size + 1):  # the last one may be cut
        if page + 1 in free:
            continue
        for cell in _cells(content, page * size, usable):
            if cell.length > left:
                continue
            left -= cell.length
            with suppress(_NotThereError):
                row = _row(content, cell, size, usable)
                if row.sound:
                    yield row


@dataclass(frozen=True)
class _Cell:
    """Where a row begins, and what it says of itself."""

    number: int
    at: int  # of its payload
    length: int  # of its payload
    ends: tuple[int, ...]  # of the header and of each blob


def _cells(content: memoryview, start: int, usable: int) -> Iterator[_Cell]:
    """What looks like a row on one page."""
    header = start + FILE_HEADER if start == 0 else start
    if content[header : header + 1] != bytes([LEAF]):
        return
    places = content[header + LEAF_HEADER : start + usable]
    num_cells = int.from_bytes(content[header + 3 : header + 5], "big")
    pairs = range(min(num_cells, len(places) // 2))
    for place in {int.from_bytes(places[2 * pair : 2 * pair + 2], "big"): None for pair in pairs}:
        with suppress(_NotThereError):
            yield _cell(content, start + place)


def _cell(content: memoryview, at: int) -> _Cell:
    """The cell at some place: length, number, then the payload, whose header is on the page of the cell."""
    length, at = _varint(content, at)
    number, at = _varint(content, at)
    header_size, place = _varint(content, at)
    types: list[int] = []
    while place < at + header_size and len(types) < NUM_COLUMNS:
        kind, place = _varint(content, place)
        types.append(kind)
    if len(types) < NUM_COLUMNS or types[0] != NULL or any(t < FIRST_BLOB or t % 2 for t in types[1:]):
        raise _NotThereError
    ends = tuple(accumulate(((kind - FIRST_BLOB) // 2 for kind in types[1:]), initial=header_size))
    if ends[-1] != length:
        raise _NotThereError
    return _Cell(number - 2**64 if number >= 2**63 else number, at, length, ends)


def _row(content: memoryview, cell: _Cell, size: int, usable: int) -> Row:
    payload = memoryview(_payload(content, cell.at, cell.length, size, usable))
    return Row(cell.number, *(bytes(payload[begin:end]) for begin, end in pairwise(cell.ends)))


def _payload(content: memoryview, at: int, length: int, size: int, usable: int) -> bytes:
    """The bytes of a cell: as many as fit on its page, the others on a chain of pages."""
    most, least = usable - 35, (usable - 12) * 32 // 255 - 23
    local = length
    if length > most:
        local = least + (length - least) % (usable - 4)
        local = local if local <= most else least
    parts, left = [content[at : at + local]], length - local
    page = _number(content, at + local) if left else 0
    while left > 0:
        start = (page - 1) * size
        if page == 0 or start >= len(content):
            raise _NotThereError
        parts.append(content[start + 4 : start + min(usable, left + 4)])
        left -= usable - 4
        page = _number(content, start)
    return b"".join(parts)


def _free_pages(content: memoryview, size: int) -> set[int]:
    """Numbers of pages that hold nothing any more, as far as their list can be followed."""
    free: set[int] = set()
    trunk = _number(content, 32)
    while trunk and trunk not in free and trunk * size <= len(content):
        free.add(trunk)
        start = (trunk - 1) * size
        num_leaves = min(_number(content, start + 4), size // 4 - 2)
        free |= {_number(content, start + 8 + 4 * leaf) for leaf in range(num_leaves)}
        trunk = _number(content, start)
    return free


def _number(content: memoryview, at: int) -> int:
    return int.from_bytes(content[at : at + 4], "big")


def _varint(content: memoryview, at: int) -> tuple[int, int]:
    """A whole number of 1 to 9 bytes, and the place after it."""
    value = 0
    for place, byte in enumerate(content[at : at + 9]):
        if place == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    raise _NotThereError
