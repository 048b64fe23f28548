"""Where files of the built-in sets are: `$WIDENET_DATA`, then the cache, then the network."""

from __future__ import annotations

import gzip
import hashlib
import os
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from widenet.base.errors import InputError
from widenet.base.wording import shown

VARIABLE = "WIDENET_DATA"
RECORD = 3073  # bytes of a CIFAR-10 record: label, then three planes of 32 x 32
Fetch = Callable[[str, str, Path], Path]  # address, hash as pooch writes it, folder -> file


@dataclass(frozen=True)
class Part:
    """One gzip file of a built-in set.

    Attributes:
        path: Its place below a data folder.
        num_bytes: Size of what is packed in it.
        sha256: Hash of what is packed in it, so that a file that was packed again is still the same file.
        url: Where it, or the archive that it is taken from, is fetched.
        url_hash: Hash of what is fetched.
        members: Members of the archive whose records of the first two classes make the file; empty if `url`
            is the file itself.
    """

    path: str
    num_bytes: int
    sha256: str
    url: str
    url_hash: str
    members: tuple[str, ...] = ()


@dataclass(frozen=True)
class Place:
    """A place that a file is looked for in, in the order of looking."""

    kind: Literal["variable", "cache", "network"]
    text: str
    found: bool


def cache_folder() -> Path:
    """Where fetched files are kept."""
    import pooch

    return Path(pooch.os_cache("widenet"))


def places(part: Part) -> tuple[Place, ...]:
    """The three places of a file, and whether it is there; nothing is fetched."""
    folder = os.environ.get(VARIABLE)
    if folder:
        given = Path(folder) / part.path
        first = Place("variable", f"{given} (${VARIABLE})", given.is_file())
    else:
        first = Place("variable", f"${VARIABLE} (not set)", False)
    cached = cache_folder() / part.path
    return (first, Place("cache", f"{cached} (cache)", cached.is_file()), Place("network", part.url, False))


def content(part: Part, fetch: Fetch | None = None) -> bytes:
    """What is packed in a file, from the first place that has it, its hash checked.

    Args:
        part: The file.
        fetch: Called where neither folder has the file; pooch by default.
    """
    looked = places(part)
    folder = os.environ.get(VARIABLE)
    if looked[0].found and folder:
        return _unpack(Path(folder) / part.path, part)
    cached = cache_folder() / part.path
    if not looked[1].found:
        try:
            _fetch_into(cached, part, fetch or _fetch)
        except (OSError, ValueError, EOFError, KeyError, tarfile.TarError, zlib.error) as error:
            raise InputError(
                f"{shown(Path(part.path).name)} was found neither in {looked[0].text} nor in "
                f"{looked[1].text}, and fetching {part.url} failed ({type(error).__name__}): set "
                f"${VARIABLE} to a folder that holds {part.path}, or connect to the network."
            ) from error
    return _unpack(cached, part)


def _fetch(url: str, known_hash: str, folder: Path) -> Path:
    import pooch

    return Path(pooch.retrieve(url, known_hash=known_hash, path=folder, progressbar=False))


def _fetch_into(target: Path, part: Part, fetch: Fetch) -> None:
    """Fetch a file into the cache; it appears there whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fetched = fetch(part.url, part.url_hash, target.parent)
    if not part.members:
        fetched.replace(target)
        return
    partial = target.with_suffix(f".{os.getpid()}.partial")
    try:
        with tarfile.open(fetched) as archive:
            records = [_first_two_classes(archive, member) for member in part.members]
        partial.write_bytes(gzip.compress(b"".join(records), mtime=0))
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _first_two_classes(archive: tarfile.TarFile, member: str) -> bytes:
    import numpy as np

    file = archive.extractfile(member)
    if file is None:
        raise KeyError(member)
    records = np.frombuffer(file.read(), np.uint8).reshape(-1, RECORD)
    return records[records[:, 0] < 2].tobytes()


def _unpack(path: Path, part: Part) -> bytes:
    try:
        with gzip.open(path) as file:
            unpacked = file.read(part.num_bytes + 1)  # one more would show that it is not this file
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"{str(path)!r} cannot be unpacked ({error}): delete it, or put the original there."
        ) from error
    if len(unpacked) != part.num_bytes or hashlib.sha256(unpacked).hexdigest() != part.sha256:
        raise InputError(
            f"{str(path)!r} is not the expected file (its hash differs): delete it, or put the original "
            "there."
        )
    return unpacked
