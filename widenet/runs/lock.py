"""One run at a time for each folder: whoever comes second is refused at once, not after the work."""

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO

from widenet.base.errors import InputError
from widenet.runs.owner import BEAT, LEASE, Owner, current_place


def lock_of(out: Path) -> Path:
    """The file beside a folder that says who is about to write it."""
    place = out.resolve()
    return place.with_name(f".{place.name}.lock")


@contextmanager
def only_run(out: Path) -> Iterator[None]:
    """Keep other runs from the folder `out`; where one is at it, refuse and say which.

    The lock is a file with its owner in it. It ends with that process: at once on the same machine, where a
    stopped one keeps it, on another one when no sign of life has come for a while. Where no lock can be made,
    as on some network drives, the run goes on without: folders are written whole all the same.
    """
    path, owner, ended = lock_of(out), Owner.new(), threading.Event()
    made = [folder for folder in path.parents if not folder.exists()]
    heart = threading.Thread(target=_beat, args=(path, ended), daemon=True)
    try:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            _take(path, owner, out)
            heart.start()
        yield
    finally:
        ended.set()
        with suppress(OSError):
            _give_back(path, owner)
        for folder in made:
            with suppress(OSError):  # something was written there
                folder.rmdir()


def _take(path: Path, owner: Owner, out: Path) -> None:
    with _held(path) as file:
        first = _owner_in(file)
        silence = abs(time.time() - os.fstat(file.fileno()).st_mtime)
        if first is not None and (first.is_there() or (silence < LEASE and not first.is_gone())):
            told = f"{_told(first)} is writing {out}"
            raise InputError(f"{told}: wait until it ends, or choose another `out`.")
        file.seek(0)
        file.truncate()
        file.write(json.dumps(asdict(owner)))


def _give_back(path: Path, owner: Owner) -> None:
    if path.exists():
        with _held(path) as file:
            if _owner_in(file) == owner:
                path.unlink()


def _owner_in(file: IO[str]) -> Owner | None:
    """Who a lock names; None where that is nobody or cannot be read."""
    try:
        return Owner(**json.loads(file.read()))
    except (ValueError, TypeError):
        return None


@contextmanager
def _held(path: Path) -> Iterator[IO[str]]:
    """The lock's file, which nobody else reads, changes or removes meanwhile."""
    while True:
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+", errors="replace") as file:
            with suppress(ImportError):  # a system without such locks: two would have to begin at once
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX)  # gone with the file's closing
            if _has_name(file, path):
                yield file
                return
        # The one who held it before has removed it: there is another file of this name, or none.


def _has_name(file: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _beat(path: Path, ended: threading.Event) -> None:
    """Show every now and then that this process lives, until the lock is given back."""
    while not ended.wait(BEAT):
        with suppress(OSError):
            os.utime(path)


def _told(owner: Owner) -> str:
    host, began = owner.place.partition(" ")[0], owner.began()
    where = "" if owner.place == current_place() else f" on {host}"
    since = "" if began is None else f", started at {began:%H:%M:%S on %d %b %Y}"
    return f"Another run (process {owner.pid}{where}{since})"
