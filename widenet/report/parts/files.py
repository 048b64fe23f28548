"""Results on disk: a folder that is there whole or not at all."""

import csv
import io
import json
import math
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from widenet.base.errors import InputError
from widenet.base.exchange import exchange
from widenet.base.wording import listed

RESULT_FILE = "result.json"
ABANDONED = 3600.0  # seconds after which a folder that somebody began to write counts as left by a kill
# Where a spreadsheet would begin a formula: in front of a cell, or behind what some take for the end of one.
FORMULA = re.compile(r"(^|[;\n])(?=\s*[=+\-@＝＋－＠].)|^(?=[\t\r].)", re.DOTALL)  # review.js has the same
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", re.ASCII)  # review.js has the same
LEFT_BY_DESKTOPS = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})


def to_json(record: Mapping[str, Any]) -> str:
    """Strict JSON in the order of the record, floats in full; what is not finite becomes null."""
    return json.dumps(finite(record), indent=2, allow_nan=False) + "\n"


def finite(value: Any) -> Any:
    """The value with None in place of every float that is not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def csv_text(head: Iterable[str], rows: Iterable[Iterable[Any]], *, raw: bool = False) -> str:
    """A table with its header, numbers in full; text is never a formula, unless cells are to stay raw."""
    given = (tuple(head), *rows)
    return "".join(_csv_line(row if raw else map(inert, row)) for row in given)


def _csv_line(row: Iterable[Any]) -> str:
    """A record and its line end; the csv module quotes either half of one only where it writes both."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(row)
    return text.getvalue().removesuffix("\r\n") + "\n"


def inert(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: an apostrophe stands before one; numbers stay numbers.

    >>> [inert(cell) for cell in ("=1+1", "-1.5", "+3e5", "-a", "-", "cat", -2.5)]
    ["'=1+1", '-1.5', '+3e5', "'-a", '-', 'cat', -2.5]
    """
    if not isinstance(cell, str) or NUMBER.fullmatch(cell):
        return cell
    return FORMULA.sub(lambda found: f"{found[0]}'", cell)


def check_folder(out: Path, names: Iterable[str], *, force: bool) -> None:
    """Refuse a folder that must not be written, before anything is computed.

    Args:
        out: The folder to write.
        names: Names of the files that it will hold.
        force: Whether an earlier result may be replaced.
    """
    with _told(out):
        _check_folder(out, out.resolve(), names, force=force)


def write_folder(
    out: Path, files: Mapping[str, str | bytes], *, force: bool, replaceable: Iterable[str] = ()
) -> None:
    """Write a folder whole or not at all.

    The files are written to a sibling folder and flushed to disk; only then does that folder take the name
    `out`, from an earlier result in one step where the system can do that. The earlier one is then deleted.

    Args:
        out: The folder to write.
        files: Name to content; text is written as UTF-8.
        force: Whether an earlier result may be replaced; never anything else.
        replaceable: Files that an earlier result may have beside these.
    """
    restore_folder(out)
    check_folder(out, (*files, *replaceable), force=force)
    place = out.resolve()
    fresh = _fresh(place)
    try:
        with _told(out):
            place.parent.mkdir(parents=True, exist_ok=True)
            fresh.mkdir()
            for name, content in files.items():
                _write_file(fresh / name, content if isinstance(content, bytes) else content.encode())
            _flush_folder(fresh)
            _take_place(fresh, place)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)  # gone already where all went well


def write_file(path: Path, content: str | bytes) -> None:
    """Write one file whole or not at all, in place of an earlier one."""
    fresh = _fresh(path)
    with _told(path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_file(fresh, content if isinstance(content, bytes) else content.encode())
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)


def restore_folder(out: Path) -> bool:
    """Undo what a kill in the middle of `write_folder` left; whether an earlier result was brought back.

    Where folders cannot be exchanged in one step, a kill between two steps leaves the earlier result aside.
    """
    with _told(out):
        place = out.resolve()
        left = _left_beside(place)
        aside = [path for path in left if path.suffix == ".old"]
        restored = bool(aside) and not place.exists()
        if restored:
            aside.pop().rename(place)
        for path in left:
            if path in aside or path.suffix == ".gone" or _is_abandoned(path):
                shutil.rmtree(path, ignore_errors=True)
        return restored


def _fresh(place: Path) -> Path:
    """Where something is written before it takes its place."""
    return place.with_name(f".{place.name}.{uuid.uuid4().hex}.new")


@contextmanager
def _told(out: Path) -> Iterator[None]:
    """Let what the system refuses be a sentence on the place to write."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{out} cannot be written ({error.strerror}); choose another `out`.") from error


def _check_folder(out: Path, place: Path, names: Iterable[str], *, force: bool) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        _fresh(place).lstat()  # a name that is too long is refused now, not after the work
    if not place.exists():
        parent = next(parent for parent in place.parents if parent.exists())
        if not parent.is_dir():
            raise InputError(f"{out} cannot be created, because {parent} is a file; choose another `out`.")
        _check_writable(parent, out)
        return
    if not place.is_dir():
        raise InputError(f"{out} is a file, not a folder; choose another `out`.")
    if not force:
        raise InputError(
            f"The folder {out} already exists; choose another `out` or replace it with `force=True`."
        )
    _check_replaceable(place, out, names)
    _check_writable(place.parent, out)


def _is_abandoned(path: Path) -> bool:
    """Whether a folder that somebody began to write is so old that a kill has left it."""
    try:
        return path.suffix == ".new" and path.stat().st_mtime < time.time() - ABANDONED
    except FileNotFoundError:  # its writer is done
        return False


def _left_beside(place: Path) -> list[Path]:
    """Folders that `write_folder` began or put aside for this place, and none of a place `name.other`."""
    name = re.compile(rf"\.{re.escape(place.name)}\.[0-9a-f]{{32}}\.(new|old|gone)")
    beside = place.parent.iterdir() if place.parent.is_dir() else ()
    return sorted(path for path in beside if name.fullmatch(path.name))


def _take_place(fresh: Path, place: Path) -> None:
    """Give `fresh` the name `place`; an earlier folder of that name is `fresh` then, or gone."""
    if not place.exists():
        fresh.rename(place)
    elif not exchange(fresh, place):
        _replace_in_steps(fresh, place)
    _flush_folder(place.parent)


def _replace_in_steps(fresh: Path, place: Path) -> None:
    """Rename `fresh` to `place`; after an error one of old and new is there, after a kill one is aside."""
    old, gone = fresh.with_suffix(".old"), fresh.with_suffix(".gone")
    try:
        place.rename(old)
        fresh.rename(place)
    finally:
        if old.exists() and not place.exists():
            old.rename(place)
        if old.exists():
            old.rename(gone)  # what is called old is whole
        shutil.rmtree(gone, ignore_errors=True)


def _write_file(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    if not hasattr(os, "O_DIRECTORY"):  # systems that cannot open a folder flush names by themselves
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _check_writable(parent: Path, out: Path) -> None:
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"{out} cannot be written, because {parent} is not writable; choose another `out`.")


def _check_replaceable(place: Path, out: Path, names: Iterable[str]) -> None:
    """Only an empty folder or an earlier result may go, so that nobody loses anything else."""
    if Path.cwd().is_relative_to(place):
        raise InputError(f"{out} is the folder you are working in and is not replaced; choose another `out`.")
    found = {path.name for path in place.iterdir()} - LEFT_BY_DESKTOPS
    if found and RESULT_FILE not in found:
        raise InputError(
            f"The folder {out} holds no {RESULT_FILE}, so it is not an earlier result and `force` does not "
            "replace it; choose another `out`."
        )
    strangers = sorted(found - set(names) - {RESULT_FILE})
    if strangers:
        raise InputError(
            f"The folder {out} also holds {listed(strangers, limit=3)}, which `force` would delete; "
            "move them away or choose another `out`."
        )


def holds_result(folder: Path) -> bool:
    """Whether a folder holds the record of a study: its first key says so."""
    try:
        with (folder / RESULT_FILE).open("rb") as file:
            return re.match(rb'\s*\{\s*"schema":\s*"widenet/', file.read(200)) is not None
    except OSError:
        return False
