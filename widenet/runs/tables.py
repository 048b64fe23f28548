"""Tables of a store: rows judged one by one, and carried over into a new table where some are damaged."""

import hashlib
import sqlite3
from collections.abc import Iterator
from dataclasses import astuple, dataclass

from widenet.runs.records import checksum, pack_arrays, pack_json, unpack_arrays, unpack_json
from widenet.runs.trial import Trial, TrialResult

# The number of a row comes from the hash of its trial, so that the table itself is the only index: there is
# no second tree that damage could bring out of step. Of a million trials two share a number once in 4·10⁷.
TRIALS = """CREATE TABLE trials
    (id INTEGER PRIMARY KEY, identity BLOB, record BLOB, arrays BLOB, checksum BLOB)"""
CLAIMS = """CREATE TABLE claims
    (id INTEGER PRIMARY KEY, token TEXT, place TEXT, pid INTEGER, started INTEGER, beat REAL)"""
LOWEST, HIGHEST = -(2**63), 2**63 - 1  # of the numbers of rows
RANGES_PER_PAGE = 64  # how finely rows that can be read are looked for around those that cannot
TORN = "a part of the file that cannot be read"


@dataclass(frozen=True)
class Row:
    """A finished trial as it is stored; where bytes were flipped, any field may be anything."""

    id: int
    identity: bytes
    record: bytes
    arrays: bytes
    checksum: bytes

    @classmethod
    def of(cls, trial: Trial, result: TrialResult) -> "Row":
        """The row of a result."""
        identity = trial.identity
        record, arrays = pack_json(result.record).encode(), pack_arrays(result.arrays)
        return cls(row_id(identity), identity, record, arrays, checksum(identity, record, arrays))

    @property
    def sound(self) -> bool:
        """Whether it is byte for byte what was stored, under the number that belongs to it."""
        parts = (self.identity, self.record, self.arrays)
        return (
            all(isinstance(part, bytes) for part in parts)
            and checksum(*parts) == self.checksum
            and row_id(self.identity) == self.id
        )

    def result(self) -> TrialResult:
        """The result of a sound row."""
        return TrialResult(record=unpack_json(self.record), arrays=unpack_arrays(self.arrays))

    def told(self) -> str:
        """The trial in words, as far as they can still be read."""
        return self.identity.decode(errors="replace") if isinstance(self.identity, bytes) else TORN


def row_id(identity: bytes) -> int:
    """The number of a trial's row: the first 64 bits of its key."""
    return int.from_bytes(hashlib.sha256(identity).digest()[:8], "big", signed=True)


def read_row(connection: sqlite3.Connection, number: int) -> Row | None:
    """The row with this number, sound or not; None if there is none."""
    fields = connection.execute("SELECT * FROM trials WHERE id = ?", (number,)).fetchone()
    return None if fields is None else Row(*fields)


def insert_row(connection: sqlite3.Connection, row: Row) -> None:
    """Store a row, unless there is one with its number already."""
    connection.execute("INSERT OR IGNORE INTO trials VALUES (?, ?, ?, ?, ?)", astuple(row))


class TornError(Exception):
    """Not a single trial of a store can be read."""


def find_damage(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Each damaged trial in words; empty where every byte of every trial is as it was stored."""
    damaged: list[str] = []
    num_sound = 0
    # Checksums tell that rows are sound; that none is missing, only the tree of pages can tell.
    torn = not is_whole(connection, "trials")
    for row in _rows(connection):
        if row is None:
            torn = True
        elif row.sound:
            num_sound += 1
        else:
            damaged.append(row.told())
    if torn and num_sound == 0:
        raise TornError("no trial can be read")
    return (*damaged, TORN) if torn and not damaged else tuple(damaged)


def carry_over(reader: sqlite3.Connection, writer: sqlite3.Connection) -> None:
    """Copy sound trials into a new table and set the old one aside.

    Nothing is deleted from a damaged table: a broken link between its pages could free one that belongs to a
    sound trial.

    Args:
        reader: Reads the old table; a transaction that has met damage can no longer write.
        writer: Another connection, within a transaction.
    """
    _set_aside(writer, "trials")
    writer.execute(TRIALS)
    for row in _rows(reader):
        if row is not None and row.sound:
            insert_row(writer, row)


def is_whole(connection: sqlite3.Connection, table: str) -> bool:
    """Whether the pages of a table are in order."""
    try:
        return connection.execute(f"PRAGMA quick_check({table})").fetchall() == [("ok",)]
    except (sqlite3.Error, MemoryError) as error:
        if not is_damage(error):
            raise
        return False


def renew_claims(connection: sqlite3.Connection) -> None:
    """Start a new table of claims; at worst, what somebody runs right now is run twice."""
    _set_aside(connection, "claims")
    connection.execute(CLAIMS)


def is_damage(error: BaseException) -> bool:
    """Whether bytes were met that nobody wrote, such as a link to nowhere or an absurd length."""
    damage = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_TOOBIG)
    return isinstance(error, TornError | MemoryError) or primary_code(error) in damage


def primary_code(error: BaseException) -> int:
    """The kind of an error of SQLite, without the part that says where it happened; 0 for other errors."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _set_aside(connection: sqlite3.Connection, table: str) -> None:
    names = "SELECT count(*) FROM sqlite_master WHERE name GLOB 'damaged_*'"
    number = connection.execute(names).fetchone()[0] + 1
    connection.execute(f"ALTER TABLE {table} RENAME TO damaged_{table}_{number}")


def _rows(connection: sqlite3.Connection) -> Iterator[Row | None]:
    """All trials that can be read, and None for each stretch that cannot."""
    num_pages = connection.execute("PRAGMA page_count").fetchone()[0]
    return _rows_between(connection, LOWEST, HIGHEST, 2**64 // (RANGES_PER_PAGE * num_pages))


def _rows_between(connection: sqlite3.Connection, low: int, high: int, finest: int) -> Iterator[Row | None]:
    """Trials numbered from `low` to `high`; what cannot be read is halved until it is `finest` long."""
    query = "SELECT * FROM trials WHERE id BETWEEN ? AND ?"
    # A cursor reads one row ahead, so that an error also takes the row before it: that one is read alone.
    for limit in ("", " LIMIT 1"):
        try:
            for fields in connection.execute(query + limit, (low, high)):
                row = Row(*fields)
                low = max(low, row.id + 1)
                yield row
            if not limit:
                return
        except (sqlite3.Error, MemoryError) as error:
            if not is_damage(error):
                raise
    if high - low <= finest:
        yield None
        return
    middle = (low + high) // 2
    yield from _rows_between(connection, low, middle, finest)
    yield from _rows_between(connection, middle + 1, high, finest)
