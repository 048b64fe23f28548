"""Results on disk: a folder that is there whole or not at all."""

import csv
import io
import json
import math
import os
import re
import shutil
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from widenet.base.errors import InputError
from widenet.base.wording import listed

RESULT_FILE = "result.json"
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


def csv_text(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table with its header, numbers in full."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()


def check_folder(out: Path, names: Iterable[str], *, force: bool) -> None:
    """Refuse a folder that must not be written, before anything is computed.

    Args:
        out: The folder to write.
        names: Names of the files that it will hold.
        force: Whether an earlier result may be replaced.
    """
    place = out.resolve()
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


def write_folder(
    out: Path, files: Mapping[str, str | bytes], *, force: bool, replaceable: Iterable[str] = ()
) -> None:
    """Write a folder whole or not at all.

    The files are written to a sibling folder and flushed to disk; only then does that folder take the name
    `out`. An earlier result is moved aside just before, and deleted just after.

    Args:
        out: The folder to write.
        files: Name to content; text is written as UTF-8.
        force: Whether an earlier result may be replaced; never anything else.
        replaceable: Files that an earlier result may have beside these.
    """
    check_folder(out, (*files, *replaceable), force=force)
    place = out.resolve()
    fresh = place.with_name(f".{place.name}.{uuid.uuid4().hex}.new")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh.mkdir()
        for name, content in files.items():
            _write_file(fresh / name, content if isinstance(content, bytes) else content.encode())
        _flush_folder(fresh)
        _take_place(fresh, place)
    except OSError as error:
        raise InputError(f"{out} cannot be written ({error.strerror}); choose another `out`.") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)  # gone already where all went well


def write_file(path: Path, content: str | bytes) -> None:
    """Write one file whole or not at all, in place of an earlier one."""
    fresh = path.with_name(f".{path.name}.{uuid.uuid4().hex}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_file(fresh, content if isinstance(content, bytes) else content.encode())
        fresh.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}); choose another `out`.") from error
    finally:
        fresh.unlink(missing_ok=True)


def _take_place(fresh: Path, place: Path) -> None:
    """Rename `fresh` to `place`; whatever happens, one of old and new is there."""
    old = fresh.with_suffix(".old")
    try:
        if place.exists():
            place.rename(old)
        fresh.rename(place)
        _flush_folder(place.parent)
    finally:
        if old.exists() and not place.exists():
            old.rename(place)
        shutil.rmtree(old, ignore_errors=True)


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
