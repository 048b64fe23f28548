"""Tables of a store: rows judged one by one, and carried over into a new table where some are damaged."""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from typing import Any

from widenet.runs.records import checksum, pack_arrays, pack_json, unpack_arrays, unpack_json
from widenet.runs.trial import Arrays, Record, Trial, TrialResult

APPLICATION = int.from_bytes(b"wnet", "big")  # marks the file as ours, where `file` and SQLite look for it
SCHEMA = 2  # that of 1 has no states
KEPT = ("trials", "states")  # tables whose rows are judged
# The number of a row comes from the hash of its trial, so that the table itself is the only index: there is
# no second tree that damage could bring out of step. Of a million trials two share a number once in 4·10⁷.
COLUMNS = "(id INTEGER PRIMARY KEY, identity BLOB, record BLOB, arrays BLOB, checksum BLOB)"
CLAIMS = """CREATE TABLE claims
    (id INTEGER PRIMARY KEY, token TEXT, place TEXT, pid INTEGER, started INTEGER, beat REAL)"""
LOWEST, HIGHEST = -(2**63), 2**63 - 1  # of the numbers of rows
RANGES_PER_PAGE = 64  # how finely rows that can be read are looked for around those that cannot
TORN = "a part of the file that cannot be read"
DAMAGING = (sqlite3.Error, MemoryError, UnicodeDecodeError)  # errors that damage may lead to, among others
PART = 2**28  # bytes of a state in one row: SQLite allows no row beyond 10⁹


@dataclass(frozen=True)
class Row:
    """A finished trial, or a part of a state, as it is stored; after damage any field may be anything."""

    id: int
    identity: bytes
    record: bytes
    arrays: bytes
    checksum: bytes

    @classmethod
    def of(cls, trial: Trial, result: TrialResult) -> "Row":
        """The row of a result."""
        return cls.packed(trial.identity, pack_json(result.record).encode(), pack_arrays(result.arrays))

    @classmethod
    def packed(cls, identity: bytes, record: bytes, arrays: bytes) -> "Row":
        """The row of these bytes, under the number and with the checksum that belong to them."""
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

    @property
    def table(self) -> str:
        """Which of `KEPT` a sound row belongs to: the identity of a trial ends with a brace."""
        return "trials" if self.identity.endswith(b"}") else "states"

    def result(self) -> TrialResult:
        """The result of a sound row."""
        return TrialResult(record=unpack_json(self.record), arrays=unpack_arrays(self.arrays))

    def told(self) -> str:
        """The trial in words, as far as they can still be read."""
        return self.identity.decode(errors="replace") if isinstance(self.identity, bytes) else TORN


def row_id(identity: bytes) -> int:
    """The number of a trial's row: the first 64 bits of its key."""
    return int.from_bytes(hashlib.sha256(identity).digest()[:8], "big", signed=True)


@dataclass(frozen=True)
class TrialState:
    """How far a trial has come.

    Attributes:
        arrays: Named arrays of numbers.
        notes: What else is known, as `pack_json` takes it.
        finished: Whether the trial has come to its end, from which its result can be made at once.
    """

    arrays: Arrays
    notes: Record
    finished: bool = False


def state_rows(trial: Trial, state: TrialState) -> Iterator[Row]:
    """A state in parts, each a row: the first has the notes and tells what all the others are together."""
    packed = pack_arrays(state.arrays)
    num_parts = -(-len(packed) // PART)
    head = {"notes": state.notes, "finished": state.finished, "num_parts": num_parts}
    head |= {"checksum": checksum(packed).hex()}
    yield Row.packed(part_identity(trial, 0), pack_json(head).encode(), b"")
    for part in range(num_parts):
        yield Row.packed(part_identity(trial, part + 1), b"", packed[part * PART : (part + 1) * PART])


def head_of(row: Row) -> dict[str, Any] | None:
    """What the first, sound row of a state tells of it; None where it is nothing that `state_rows` writes."""
    try:
        head = unpack_json(row.record)
    except (ValueError, RecursionError):
        return None
    kinds = {"notes": dict, "finished": bool, "num_parts": int, "checksum": str}
    if not isinstance(head, dict) or any(type(head.get(name)) is not kind for name, kind in kinds.items()):
        return None
    return head


def state_of(head: Record, parts: Iterable[Row]) -> TrialState | None:
    """The state of a first row's record and the rows after it; None where they are not what it tells."""
    packed = b"".join(row.arrays for row in parts)
    if checksum(packed).hex() != head["checksum"]:
        return None
    return TrialState(unpack_arrays(packed), head["notes"], head["finished"])


def part_identity(trial: Trial, part: int) -> bytes:
    """What tells a part of a trial's state from all other rows."""
    return b"%s part %d" % (trial.identity, part)


def delete_state(connection: sqlite3.Connection, identity: bytes) -> None:
    """Remove all parts of the state of the trial with this identity, those of an earlier, longer one too."""
    prefix = identity + b" part "
    connection.execute("DELETE FROM states WHERE substr(identity, 1, ?) = ?", (len(prefix), prefix))


def read_row(connection: sqlite3.Connection, table: str, number: int) -> Row | None:
    """The row with this number, sound or not; None if there is none."""
    fields = connection.execute(f"SELECT * FROM {table} WHERE id = ?", (number,)).fetchone()
    return None if fields is None else Row(*fields)


def insert_row(connection: sqlite3.Connection, table: str, row: Row) -> None:
    """Store a row, unless there is one with its number already."""
    connection.execute(f"INSERT OR IGNORE INTO {table} VALUES (?, ?, ?, ?, ?)", astuple(row))


def create_tables(connection: sqlite3.Connection) -> None:
    """Make an empty database a store."""
    for table in KEPT:
        create_table(connection, table)
    connection.execute(CLAIMS)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {SCHEMA}")


def create_table(connection: sqlite3.Connection, table: str) -> None:
    """Make one of `KEPT`, unless it is there."""
    connection.execute(f"CREATE TABLE IF NOT EXISTS {table} {COLUMNS}")


def has_table(connection: sqlite3.Connection, table: str) -> bool:
    """Whether there is such a table; stores of schema 1 have no states."""
    query = "SELECT count(*) FROM sqlite_master WHERE name = ?"
    return bool(connection.execute(query, (table,)).fetchone()[0])


class TornError(Exception):
    """Not a single trial of a store can be read."""


def find_damage(connection: sqlite3.Connection, table: str) -> tuple[str, ...]:
    """Each damaged row of a table in words; empty where every byte of every row is as it was stored."""
    if not has_table(connection, table):
        return ()
    damaged: list[str] = []
    num_sound = 0
    # Checksums tell that rows are sound; that none is missing, only the tree of pages can tell.
    torn = not is_whole(connection, table)
    for row in _rows(connection, table):
        if row is None:
            torn = True
        elif row.sound:
            num_sound += 1
        else:
            damaged.append(row.told())
    if torn and num_sound == 0 and table == "trials":
        raise TornError("no trial can be read")
    return (*damaged, TORN) if torn and not damaged else tuple(damaged)


def carry_over(
    reader: sqlite3.Connection, writer: sqlite3.Connection, table: str, found: Iterable[Row] = ()
) -> None:
    """Copy sound rows into a new table and set the old one aside.

    Nothing is deleted from a damaged table: a broken link between its pages could free one that belongs to a
    sound trial.

    Args:
        reader: Reads the old table; a transaction that has met damage can no longer write.
        writer: Another connection, within a transaction.
        table: One of `KEPT`.
        found: Sound rows that were found in other ways; those of other tables are passed over.
    """
    _set_aside(writer, table)
    create_table(writer, table)
    for row in _rows(reader, table):
        if row is not None and row.sound:
            insert_row(writer, table, row)
    for row in found:
        if row.table == table:
            insert_row(writer, table, row)


def is_whole(connection: sqlite3.Connection, table: str) -> bool:
    """Whether the pages of a table are in order."""
    try:
        return connection.execute(f"PRAGMA quick_check({table})").fetchall() == [("ok",)]
    except DAMAGING as error:
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
    # SQLite quotes names of tables in its messages, and where these are no text, Python cannot read them.
    torn = TornError | MemoryError | UnicodeDecodeError
    return isinstance(error, torn) or primary_code(error) in damage


def primary_code(error: BaseException) -> int:
    """The kind of an error of SQLite, without the part that says where it happened; 0 for other errors."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _set_aside(connection: sqlite3.Connection, table: str) -> None:
    names = "SELECT count(*) FROM sqlite_master WHERE name GLOB 'damaged_*'"
    number = connection.execute(names).fetchone()[0] + 1
    connection.execute(f"ALTER TABLE {table} RENAME TO damaged_{table}_{number}")


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[Row | None]:
    """All rows of a table that can be read, and None for each stretch that cannot."""
    num_pages = connection.execute("PRAGMA page_count").fetchone()[0]
    return _rows_between(connection, table, LOWEST, HIGHEST, 2**64 // (RANGES_PER_PAGE * num_pages))


def _rows_between(
    connection: sqlite3.Connection, table: str, low: int, high: int, finest: int
) -> Iterator[Row | None]:
    """Rows numbered from `low` to `high`; what cannot be read is halved until it is `finest` long."""
    query = f"SELECT * FROM {table} WHERE id BETWEEN ? AND ?"
    # A cursor reads one row ahead, so that an error also takes the row before it: that one is read alone.
    for limit in ("", " LIMIT 1"):
        try:
            for fields in connection.execute(query + limit, (low, high)):
                row = Row(*fields)
                low = max(low, row.id + 1)
                yield row
            if not limit:
                return
        except DAMAGING as error:
            if not is_damage(error):
                raise
    if high - low <= finest:
        yield None
        return
    middle = (low + high) // 2
    yield from _rows_between(connection, table, low, middle, finest)
    yield from _rows_between(connection, table, middle + 1, high, finest)
