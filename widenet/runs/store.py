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
from widenet.base.wording import counted
from widenet.runs import tables
from widenet.runs.owner import BEAT, LEASE, Owner
from widenet.runs.pages import sound_rows
from widenet.runs.salvage import salvage
from widenet.runs.tables import APPLICATION, SCHEMA, Row, TrialState, row_id
from widenet.runs.trial import Arrays, Record, Trial, TrialResult, whole_of

BUSY = 60.0  # seconds to wait for another process's transaction, which takes milliseconds


class DamagedError(WidenetError):
    """A store of which SQLite cannot make sense."""


class Store:
    """Finished trials, the states of others, and claims on those that are being run.

    A trial is there whole or not at all, and so is a state, with a checksum over every byte. Opening a store
    judges all of them; what is damaged is set aside, listed in `damaged`, and counts as not run. A file that
    SQLite no longer reads, such as one that was cut short, is built again from what is whole in it. The file
    keeps a rollback journal, not a write-ahead log, so that at rest it is one file that can be copied, and
    read where nothing can be written. On a file system shared by several machines their clocks must agree to
    within a minute. An open store belongs to the thread that opened it.

    Attributes:
        path: The file.
        damaged: In words, each trial or part of a state that was found damaged since the store was opened.
        aside: Where a file is kept that this store was salvaged from; None where that was not needed.
        unused: Identities that were here before and that no run has asked for yet; None before the first run.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.damaged: tuple[str, ...] = ()
        self.aside: Path | None = None
        self.unused: set[bytes] | None = None
        self._asked: set[bytes] = set()  # identities of whole trials whose states were saved or asked for
        self._owner = Owner.new()
        self._closing = threading.Event()
        self._heart: threading.Thread | None = None
        with _explained(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._open()
        except DamagedError as error:
            self._salvage(error)

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

        A claim ends when its process does, at once on the same machine, or when its lease is over: a trial of
        a stopped process is not waited for, since of two results one is stored.
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
        has_states = self._has_states()
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
        self._asked.add(whole_of(trial.identity))
        self._upgrade()
        with self._transaction() as connection:
            tables.delete_state(connection, trial.identity)
            for row in tables.state_rows(trial, TrialState(arrays, notes, finished)):
                tables.insert_row(connection, "states", row)

    def load_state(self, trial: Trial) -> TrialState | None:
        """How far a trial has come; None if nothing is kept of it, or what was kept turned out damaged."""
        self._asked.add(whole_of(trial.identity))
        first = self._part(trial, 0)
        head = None if first is None else tables.head_of(first)
        if head is None:
            return None
        parts: list[Row] = []
        while len(parts) < head["num_parts"]:
            part = self._part(trial, len(parts) + 1)
            if part is None:
                return None
            parts.append(part)
        return tables.state_of(head, parts)

    def drop_state(self, trial: Trial) -> None:
        """Forget how far a trial has come."""
        if self._has_states():
            with self._transaction() as connection:
                tables.delete_state(connection, trial.identity)

    def drop_done(self) -> None:
        """Forget states of what was run with this open store and is done: ends of trials, and all stages."""
        done = []
        for state, head in self._states():
            whole = whole_of(state)
            if whole in self._asked and (head["finished"] or whole != state):
                done.append(state)
        if done:
            with self._transaction() as connection:
                for state in done:
                    tables.delete_state(connection, state)

    def identities(self) -> set[bytes]:
        """Identities of all trials that are finished, or of which a state is kept."""
        rows = ["SELECT id, identity FROM trials"]
        rows += ["SELECT id, identity FROM states WHERE length(record) > 0"] if self._has_states() else []
        with _explained(self.path):
            found = (fields for query in rows for fields in self._connection.execute(query))
            sound = (each for number, each in found if isinstance(each, bytes) and row_id(each) == number)
            return {identity.removesuffix(b" part 0") for identity in sound}

    def damage_told(self) -> str:
        """In one sentence what was found damaged since the store was opened; empty where nothing was."""
        if not self.damaged:
            return ""
        torn = tables.TORN in self.damaged
        lost = "a part of it cannot be read" if torn else counted(len(self.damaged), "row")
        kept = "" if self.aside is None else f"; the damaged file is kept as {self.aside}"
        return f"{self.path} was damaged ({lost}): what is whole in it is used, the rest starts afresh{kept}."

    def is_empty(self) -> bool:
        """Whether it holds nothing that anybody would miss."""
        return self._number("SELECT count(*) FROM trials") == 0 and not self.num_states()

    def is_used_elsewhere(self) -> bool:
        """Whether another open store holds claims on trials of this file."""
        others = "SELECT count(*) FROM claims WHERE token != ?"
        with _explained(self.path):
            return bool(self._connection.execute(others, (self._owner.token,)).fetchone()[0])

    def num_unfinished(self) -> int:
        """Trials whose state is kept because they have not come to their end."""
        return sum(not head["finished"] for _, head in self._states())

    def num_states(self) -> int:
        """Trials and stages whose state is kept, be it that of their end."""
        return len(self._states())

    def _states(self) -> list[tuple[bytes, dict[str, Any]]]:
        """Identity and head of each state; one that was damaged meanwhile is left out."""
        if not self._has_states():
            return []
        with _explained(self.path):
            heads = self._connection.execute("SELECT * FROM states WHERE length(record) > 0")
            sound = [row for fields in heads if (row := Row(*fields)).sound]
        told = [(row.identity.removesuffix(b" part 0"), tables.head_of(row)) for row in sound]
        return [(identity, head) for identity, head in told if head is not None]

    def _has_states(self) -> bool:
        with _explained(self.path):
            return tables.has_table(self._connection, "states")

    def _part(self, trial: Trial, part: int) -> Row | None:
        if not self._has_states():
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
            except tables.DAMAGING as error:
                if not tables.is_damage(error):
                    raise
            else:
                if row is None or row.sound:
                    return row
        self._repair()
        return None

    def _open(self) -> None:
        with _explained(self.path):
            self._connection = _connect(self.path)
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

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
                tables.create_tables(connection)

    def _upgrade(self) -> None:
        """Make a store of an earlier schema one of this."""
        if not self._has_states():
            with self._transaction() as connection:
                tables.create_table(connection, "states")
                connection.execute(f"PRAGMA user_version = {SCHEMA}")

    def _salvage(self, error: "DamagedError") -> None:
        """Go on with a store that holds what is still whole in this one; the error where nothing is."""
        try:
            aside = salvage(self.path)
        except (OSError, sqlite3.Error, MemoryError):  # where nothing can be written, the file stays as it is
            raise error from None
        if aside is None:
            raise error
        self._open()
        if aside != self.path:
            self.aside, self.damaged = aside, (tables.TORN,)

    def _found_in_pages(self) -> list[Row]:
        """Sound rows of the file, also those that SQLite has lost the way to."""
        try:
            return list(sound_rows(memoryview(self._connection.serialize())))
        except (sqlite3.Error, MemoryError):
            return []

    def _repair(self) -> None:
        """Carry sound rows over into a new table, unless another process was quicker."""
        found: list[str] = []
        rows = self._found_in_pages()
        with self._transaction() as connection, closing(_connect(self.path)) as reader:
            if not tables.is_whole(reader, "claims"):
                tables.renew_claims(connection)
            for table in tables.KEPT:
                damaged = tables.find_damage(reader, table)
                if damaged:
                    tables.carry_over(reader, connection, table, rows)
                found += damaged
        self.damaged = tuple(dict.fromkeys((*self.damaged, *found)))

    def _number(self, query: str) -> int:
        with _explained(self.path):
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
    try:
        connection.execute("PRAGMA synchronous = EXTRA")  # what is committed is on disk, and so is its folder
        connection.execute("PRAGMA cell_size_check = ON")
    except BaseException:
        connection.close()
        raise
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
    except (*tables.DAMAGING, tables.TornError) as error:
        raise _explanation(path, error) from error


def _explanation(path: Path, error: Exception) -> WidenetError:
    kept = "its trials are kept and can be read"
    if tables.is_damage(error):
        return DamagedError(
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
