"""A store of trials in one SQLite file: it survives being killed, and several processes share it."""

import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple
from pathlib import Path
from typing import Any

from widenet.base.errors import InputError, WidenetError
from widenet.runs import tables
from widenet.runs.owner import Owner
from widenet.runs.records import unpack_json
from widenet.runs.tables import Row, TrialState, row_id
from widenet.runs.trial import Arrays, Record, Trial, TrialResult

APPLICATION = int.from_bytes(b"wnet", "big")  # marks the file as ours, where `file` and SQLite look for it
SCHEMA = 2  # that of 1 has no states
BUSY = 60.0  # seconds to wait for another process's transaction, which takes milliseconds
BEAT = 15.0  # seconds between two signs of life of a process that holds claims
LEASE = 120.0  # seconds without one after which a process on another machine counts as gone


class Store:
    """Finished trials, the states of others, and claims on those that are being run.

    A trial is there whole or not at all, and so is a state, with a checksum over every byte. Opening a store
    judges all of them; what is damaged is set aside, listed in `damaged`, and counts as not run. The file
    keeps a rollback journal, not a write-ahead log, so that at rest it is one file that can be copied, and
    read where nothing can be written. On a file system shared by several machines their clocks must agree to
    within a minute. An open store belongs to the thread that opened it.

    Attributes:
        path: The file.
        damaged: In words, each trial or part of a state that was found damaged since the store was opened.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.damaged: tuple[str, ...] = ()
        self._owner = Owner.new()
        self._closing = threading.Event()
        self._heart: threading.Thread | None = None
        with _explained(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = _connect(self.path)
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Give all claims of this store back and close the file."""
        self._closing.set()
        if self._heart is not None:
            self._heart.join()
            self._heart = None
            with suppress(WidenetError), self._transaction() as connection:
                connection.execute("DELETE FROM claims WHERE token = ?", (self._owner.token,))
        self._connection.close()

    def get(self, trial: Trial) -> TrialResult | None:
        """The result of a finished trial; None if it has none or its row turned out damaged."""
        row = self._read("trials", row_id(trial.identity))
        if row is None:
            return None
        if row.identity != trial.identity:
            raise WidenetError(f"{self.path} holds another trial under the same number; choose another file.")
        return row.result()

    def claim(self, trials: Iterable[Trial]) -> list[Trial]:
        """Take on those of the trials that nobody has finished or is running, and return them.

        A claim ends when its process does: at once on the same machine, else when its lease is over.
        """
        now = time.time()
        with self._transaction() as connection:
            free = [trial for trial in trials if self._is_free(row_id(trial.identity), now)]
            connection.executemany(
                "INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?, ?)",
                [(row_id(trial.identity), *astuple(self._owner), now) for trial in free],
            )
        if free and self._heart is None:
            arguments = (self.path, self._owner.token, self._closing)
            self._heart = threading.Thread(target=_beat, args=arguments, daemon=True)
            self._heart.start()
        return free

    def commit(self, rows: Sequence[Row]) -> list[TrialResult]:
        """Store results in one transaction, end the claims on them, and return what is stored.

        Where another process was quicker, that is the result of the other one. How far a trial had come is
        forgotten in the same transaction: at every moment the store has its result or its state.
        """
        has_states = tables.has_table(self._connection, "states")
        with self._transaction() as connection:
            for row in rows:
                tables.insert_row(connection, "trials", row)
                if has_states:
                    tables.delete_state(connection, row.identity)
            connection.executemany("DELETE FROM claims WHERE id = ?", [(row.id,) for row in rows])
        return [(self._read("trials", row.id) or row).result() for row in rows]

    def release(self, trials: Iterable[Trial]) -> None:
        """Give the claims of this store on some trials back."""
        with self._transaction() as connection:
            connection.executemany(
                "DELETE FROM claims WHERE id = ? AND token = ?",
                [(row_id(trial.identity), self._owner.token) for trial in trials],
            )

    def save_state(self, trial: Trial, arrays: Arrays, notes: Record, *, finished: bool = False) -> None:
        """Keep how far a trial has come, in one transaction, in place of what was kept of it before.

        Args:
            trial: The trial.
            arrays: Named arrays of numbers.
            notes: What else is known, as `pack_json` takes it.
            finished: Whether it has come to its end, and waits only for its result to be written elsewhere.
        """
        self._upgrade()
        with self._transaction() as connection:
            tables.delete_state(connection, trial.identity)
            for row in tables.state_rows(trial, TrialState(arrays, notes, finished)):
                tables.insert_row(connection, "states", row)

    def load_state(self, trial: Trial) -> TrialState | None:
        """How far a trial has come; None if nothing is kept of it, or what was kept turned out damaged."""
        first = self._part(trial, 0)
        if first is None:
            return None
        head = unpack_json(first.record)
        return tables.state_of(head, (self._part(trial, part + 1) for part in range(head["num_parts"])))

    def drop_state(self, trial: Trial) -> None:
        """Forget how far a trial has come."""
        if tables.has_table(self._connection, "states"):
            with self._transaction() as connection:
                tables.delete_state(connection, trial.identity)

    def is_empty(self) -> bool:
        """Whether it holds nothing that anybody would miss."""
        return self._number("SELECT count(*) FROM trials") == 0 and not self._states()

    def is_used_elsewhere(self) -> bool:
        """Whether another open store holds claims on trials of this file."""
        others = "SELECT count(*) FROM claims WHERE token != ?"
        return self._connection.execute(others, (self._owner.token,)).fetchone()[0] > 0

    def num_unfinished(self) -> int:
        """Trials whose state is kept because they have not come to their end."""
        return sum(not head["finished"] for head in self._states())

    def _states(self) -> list[dict[str, Any]]:
        """What the first part of each state tells of it."""
        if not tables.has_table(self._connection, "states"):
            return []
        heads = self._connection.execute("SELECT record FROM states WHERE length(record) > 0")
        return [unpack_json(record) for (record,) in heads]

    def _part(self, trial: Trial, part: int) -> Row | None:
        if not tables.has_table(self._connection, "states"):
            return None
        return self._read("states", row_id(tables.part_identity(trial, part)))

    def _is_free(self, number: int, now: float) -> bool:
        if self._connection.execute("SELECT 1 FROM trials WHERE id = ?", (number,)).fetchone():
            return False
        query = "SELECT token, place, pid, started, beat FROM claims WHERE id = ?"
        claim = self._connection.execute(query, (number,)).fetchone()
        if claim is None:
            return True
        *fields, beat = claim
        owner = Owner(*fields)  # this very one, if an earlier run on this store could not give its claim back
        return owner.token == self._owner.token or abs(now - beat) > LEASE or owner.is_gone()

    def _read(self, table: str, number: int) -> Row | None:
        """A sound row; a damaged one is set aside and counts as not there."""
        with _explained(self.path):
            try:
                row = tables.read_row(self._connection, table, number)
            except (sqlite3.Error, MemoryError) as error:
                if not tables.is_damage(error):
                    raise
            else:
                if row is None or row.sound:
                    return row
        self._repair()
        return None

    def _prepare(self) -> None:
        """Refuse what is no store, make one of an empty file, and judge every trial of one that is there."""
        with _explained(self.path):
            if self._number("SELECT count(*) FROM sqlite_master") == 0:
                self._create()
            if self._number("PRAGMA application_id") != APPLICATION:
                raise InputError(f"{self.path} is not a store of trials; choose another file.")
            schema = self._number("PRAGMA user_version")
            if schema > SCHEMA:
                raise InputError(
                    f"{self.path} was written by a newer widenet (store format {schema}, this one reads "
                    f"{SCHEMA}): update widenet or choose another file."
                )
            self.damaged = tuple(
                words for table in tables.KEPT for words in tables.find_damage(self._connection, table)
            )
            whole = not self.damaged and tables.is_whole(self._connection, "claims")
        with suppress(WidenetError):  # where nothing can be written, sound trials can still be read
            if not whole:
                self._repair()
            self._upgrade()

    def _create(self) -> None:
        with self._transaction() as connection:
            if self._number("SELECT count(*) FROM sqlite_master") == 0:  # else another process was quicker
                for table in tables.KEPT:
                    tables.create_table(connection, table)
                connection.execute(tables.CLAIMS)
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {SCHEMA}")

    def _upgrade(self) -> None:
        """Make a store of an earlier schema one of this."""
        if not tables.has_table(self._connection, "states"):
            with self._transaction() as connection:
                tables.create_table(connection, "states")
                connection.execute(f"PRAGMA user_version = {SCHEMA}")

    def _repair(self) -> None:
        """Carry sound rows over into a new table, unless another process was quicker."""
        found: list[str] = []
        with self._transaction() as connection, closing(_connect(self.path)) as reader:
            if not tables.is_whole(reader, "claims"):
                tables.renew_claims(connection)
            for table in tables.KEPT:
                damaged = tables.find_damage(reader, table)
                if damaged:
                    tables.carry_over(reader, connection, table)
                found += damaged
        self.damaged = tuple(dict.fromkeys((*self.damaged, *found)))

    def _number(self, query: str) -> int:
        return int(self._connection.execute(query).fetchone()[0])

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        connection = self._connection
        with _explained(self.path):
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # SQLite may have done so, or whoever opens the file next will
                    connection.execute("ROLLBACK")
                raise


def beside(out: Path) -> Path:
    """The store of a run that ends in the folder `out`, for as long as that is not written."""
    place = out.resolve()
    return place.with_name(f"{place.name}.store")


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path.absolute(), timeout=BUSY, isolation_level=None)
    connection.text_factory = lambda text: text.decode(errors="replace")
    connection.execute("PRAGMA synchronous = EXTRA")  # what is committed is on the disk, and so is its folder
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def _beat(path: Path, token: str, closed: threading.Event) -> None:
    """Show every now and then that this process lives, until the store is closed."""
    address = f"{path.absolute().as_uri()}?mode=rw"  # a file that somebody removed must not come back empty
    while not closed.wait(BEAT):
        with (
            suppress(sqlite3.Error),  # the next beat may reach the disk
            closing(sqlite3.connect(address, uri=True, timeout=BUSY, isolation_level=None)) as connection,
        ):
            connection.execute("UPDATE claims SET beat = ? WHERE token = ?", (time.time(), token))


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Say what an error of SQLite or of the system means for the store."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be opened ({error.strerror}); choose another file.") from error
    except (sqlite3.Error, tables.TornError, MemoryError) as error:
        raise _explanation(path, error) from error


def _explanation(path: Path, error: Exception) -> WidenetError:
    kept = "its trials are kept and can be read"
    if tables.is_damage(error):
        return WidenetError(
            f"{path} is damaged in a place on which all else depends ({error}); move it away to start afresh."
        )
    match tables.primary_code(error):
        case sqlite3.SQLITE_NOTADB:
            return InputError(f"{path} is not a store of trials, or no longer one; choose another file.")
        case sqlite3.SQLITE_CANTOPEN:
            return InputError(f"{path} cannot be opened ({error}); choose another file.")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return InputError(f"{path} is not writable: {kept}; make it writable to add others.")
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR:
            return WidenetError(
                f"{path} cannot be written ({error}): {kept}; free some disk space and start again."
            )
        case sqlite3.SQLITE_BUSY:
            return WidenetError(f"{path} was in use by another process for {BUSY:.0f} s; try again later.")
    return WidenetError(f"{path} cannot be used ({error}).")
