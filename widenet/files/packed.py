"""Packed files opened without trust: what they unpack to is bounded before memory is taken."""

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.wording import shown

MAX_RATIO = 500  # unpacked bytes for each stored byte; more is nearly all zeros, or made to fill the memory
RATIO_MATTERS = 2**26  # bytes below which any ratio is harmless
CHUNK = 2**22  # bytes that are unpacked at a time
OPENERS: dict[str, Callable[..., IO[Any]]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
UNREADABLE = (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError)
COPIES = 20  # bytes that a table takes for each byte of its text, while it is read


def read_bytes(path: Path) -> bytes:
    """The content of a file, unpacked where its name says that it is packed."""
    num_bytes = path.stat().st_size
    require_memory(COPIES * num_bytes, f"A file of {num_bytes:,} bytes")
    if path.suffix.lower() not in OPENERS:
        return path.read_bytes()
    try:
        return _unpacked(path, num_bytes)
    except UNREADABLE as error:
        raise _damaged(path, error) from error


def read_start(path: Path, num_bytes: int) -> bytes:
    """The first bytes of a file, unpacked where its name says that it is packed."""
    try:
        with OPENERS.get(path.suffix.lower(), open)(path, "rb") as file:
            return bytes(file.read(num_bytes))
    except UNREADABLE as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> InputError:
    ending = path.suffix.lower()
    return InputError(f"{shown(path.name)} is not a valid {ending} file ({error}): pack it again.")


def _unpacked(path: Path, num_packed: int) -> bytes:
    """All that is packed, piece by piece, so that a bomb is noticed while it is small."""
    content = io.BytesIO()
    with path.open("rb") as packed, OPENERS[path.suffix.lower()](packed, "rb") as file:
        while piece := file.read(CHUNK):
            content.write(piece)
            refuse_bomb(path.name, content.tell(), min(packed.tell(), num_packed))  # of what was read so far
            require_memory(COPIES * content.tell(), f"What is packed in {shown(path.name)}")
    return content.getvalue()


def refuse_bomb(what: str, num_unpacked: int, num_packed: int) -> None:
    """Refuse what unpacks to so much that it was made to fill the memory."""
    if num_unpacked > RATIO_MATTERS and num_unpacked > MAX_RATIO * max(num_packed, 1):
        raise InputError(
            f"{shown(what)} unpacks to more than {num_unpacked / max(num_packed, 1):,.0f} times its size, as "
            "a file made to fill the memory would: save it unpacked."
        )


def check_archive(path: Path, copies: int) -> None:
    """Refuse a zip archive that is none, or whose members would not fit into memory.

    Args:
        path: The archive.
        copies: Bytes that reading it takes for each byte that is packed in it.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise InputError(f"{shown(path.name)} is damaged or another kind of file ({error}).") from error
    num_unpacked = sum(member.file_size for member in members)
    refuse_bomb(path.name, num_unpacked, path.stat().st_size)
    require_memory(copies * num_unpacked, f"What is packed in {shown(path.name)}")
