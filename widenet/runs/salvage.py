"""A store that SQLite no longer reads, built again from the rows that are still whole."""

import mmap
import os
import shutil
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO

from widenet.runs import tables
from widenet.runs.pages import sound_rows


def salvage(path: Path) -> Path | None:
    """Put a sound store in the place of a damaged one, which is kept aside.

    At every moment there is a store under the name, the damaged one or the new one.

    Returns:
        Where the damaged file is now; None where nothing in it could be salvaged, and it was left alone.
    """
    fresh = path.with_name(f".{path.name}.{uuid.uuid4().hex}.new")
    with path.open("rb") as file, _held(file):
        if not os.path.samestat(os.fstat(file.fileno()), path.stat()):
            return path  # another process was quicker
        try:
            if _rebuild(file, fresh) == 0:
                return None
            aside = _name_aside(path)
            _keep(path, aside)
            fresh.replace(path)
            return aside
        finally:
            fresh.unlink(missing_ok=True)


def _rebuild(file: IO[bytes], fresh: Path) -> int:
    """Write all rows of a file that are still whole to a new store; returns how many these are."""
    with (
        closing(sqlite3.connect(fresh, isolation_level=None)) as connection,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        memoryview(content) as view,
    ):
        connection.execute("BEGIN IMMEDIATE")
        tables.create_tables(connection)
        for row in sound_rows(view):
            tables.insert_row(connection, row.table, row)
        num_rows = connection.total_changes
        connection.execute("COMMIT")
    return num_rows


def _name_aside(path: Path) -> Path:
    names = (path.with_name(f"{path.name}.damaged{number or ''}") for number in range(1000))
    return next(name for name in names if not name.exists())


def _keep(path: Path, aside: Path) -> None:
    """Let the damaged file have another name too, and its journal, which must not meet the new store."""
    try:
        os.link(path, aside)
    except OSError:  # a file system without links
        shutil.copyfile(path, aside)
    journal = path.with_name(f"{path.name}-journal")
    if journal.exists():
        journal.replace(aside.with_name(f"{aside.name}-journal"))


@contextmanager
def _held(file: IO[bytes]) -> Iterator[None]:
    """Keep other processes from salvaging the same file, on systems that know such locks."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX)  # gone with the file's closing; SQLite's own locks are of another kind
    yield
