"""Arrays in `.npz` files, read without trust: headers checked before memory is taken, nothing unpickled."""

from __future__ import annotations

import lzma
import math
import re
import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO

import numpy as np

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.wording import listed, shown
from widenet.files.packed import MAX_RATIO, RATIO_MATTERS

PAIRS = (  # what people call rows and targets, in small letters; the first pair that is there is read
    ("x", "y"),
    ("x_train", "y_train"),
    ("train_images", "train_labels"),
    ("data", "target"),
    ("data", "labels"),
    ("images", "labels"),
    ("features", "labels"),
    ("arr_0", "arr_1"),  # as numpy.savez(file, X, y) calls them
)
MAX_HEADER = 10_000  # characters; numpy writes about 120
UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,  # encrypted, or packed in a way that is not known
    ValueError,
)


def read_npz(path: Path) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """X and y of an `.npz` file.

    Returns:
        X of shape (n, d), or of (n, height, width[, 3]) in uint8; y of shape (n,); sentences that tell what
        was read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = [info.filename for info in archive.infolist()]
            keys = [name.removesuffix(".npy") for name in names if name.endswith(".npy")]
            pair = _pair(keys, path)
            X = _read_member(archive.getinfo(f"{pair[0]}.npy"), archive, path)
            y = _read_member(archive.getinfo(f"{pair[1]}.npy"), archive, path, is_target=True)
    except UNREADABLE as error:
        raise InputError(
            f"{shown(path.name)} is not a valid .npz file: {error or type(error).__name__}."
        ) from error
    X, y = checked_shapes(X, y, pair)
    shape = _times(X.shape)
    notes = [
        f"Read {pair[0]} of shape {shape} ({X.dtype}) and {pair[1]} ({y.dtype}) from {shown(path.name)}."
    ]
    others = [key for key in keys if key not in pair]
    if others:
        notes.append(f"Other arrays in the file were not read: {listed(others)}.")
    return X, y, tuple(notes)


def _pair(keys: list[str], path: Path) -> tuple[str, str]:
    """The names of the rows and of the targets among those of all arrays; X and y come first."""
    if keys.count("X") == keys.count("y") == 1:
        return "X", "y"
    folded = [key.lower() for key in keys]
    pair = next((pair for pair in PAIRS if set(pair) <= set(folded)), None)
    if pair is None or any(folded.count(key) > 1 for key in pair):
        what = (
            "no arrays X and y, only" if pair is None else f"more than one array {pair[0]} or {pair[1]} among"
        )
        held = f"{what} {listed(keys)}" if keys else "no arrays"
        raise InputError(f"{shown(path.name)} holds {held}: save it with numpy.savez(file, X=X, y=y).")
    first, second = (keys[folded.index(key)] for key in pair)
    return first, second


def _times(shape: tuple[int, ...]) -> str:
    return " × ".join(f"{size:,}" for size in shape)


def _read_member(
    info: zipfile.ZipInfo, archive: zipfile.ZipFile, path: Path, *, is_target: bool = False
) -> np.ndarray:
    key = info.filename.removesuffix(".npy")
    packed = max(min(info.compress_size, path.stat().st_size), 1)
    if info.file_size > RATIO_MATTERS and info.file_size > MAX_RATIO * packed:
        raise InputError(
            f"Array {key!r} of {shown(path.name)} unpacks to {info.file_size / packed:,.0f} times its size, "
            "as a file made to fill the memory would: save it with numpy.savez."
        )
    with archive.open(info) as member:
        shape, fortran_order, dtype = _header(member, key, is_target=is_target)
        num_bytes = math.prod(shape) * dtype.itemsize
        held = info.file_size - member.tell()
        if num_bytes != held:
            raise InputError(
                f"Array {key!r} of {shown(path.name)} declares {num_bytes:,} bytes (shape {_times(shape)}) "
                f"and holds {held:,}: the file is damaged."
            )
        # As stored, as float64, and as prepared.
        require_memory(num_bytes + 2 * 8 * math.prod(shape), f"Array {key!r} of shape {_times(shape)}")
        buffer = member.read(num_bytes)
        if len(buffer) != num_bytes:
            raise InputError(f"Array {key!r} of {shown(path.name)} ends early: the file is damaged.")
    return np.frombuffer(buffer, dtype).reshape(shape, order="F" if fortran_order else "C")


def _header(member: IO[bytes], key: str, *, is_target: bool) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, order and type that an `.npy` header declares; only plain numbers and text are let through.

    The header is the text of a Python dictionary. It is matched, not evaluated.
    """
    damaged = InputError(f"Array {key!r} has a damaged .npy header: save it again with numpy.savez.")
    prefix = member.read(8)
    size_bytes = {b"\x93NUMPY\x01\x00": 2, b"\x93NUMPY\x02\x00": 4}.get(prefix)
    if size_bytes is None:
        raise damaged
    num_chars = int.from_bytes(member.read(size_bytes), "little")
    if num_chars > MAX_HEADER:
        raise damaged
    text = member.read(num_chars).decode("latin-1")
    descr = re.search(r"'descr': *('[^']*'|\[)", text)
    order = re.search(r"'fortran_order': *(True|False)", text)
    shape = re.search(r"'shape': *\(([0-9, ]{0,200})\)", text)
    if not (descr and order and shape):
        raise damaged
    sizes = tuple(int(size) for size in shape[1].split(",") if size.strip())
    return sizes, order[1] == "True", _plain_dtype(descr[1].strip("'"), key, is_target=is_target)


def _plain_dtype(descr: str, key: str, *, is_target: bool) -> np.dtype:
    if descr.endswith("O"):
        raise InputError(
            f"Array {key!r} holds pickled Python objects, which are never loaded: save plain numbers."
        )
    wanted = "numbers or text" if is_target else "numbers"
    try:
        dtype = np.dtype(descr if re.fullmatch(r"[<>|=]?[A-Za-z][0-9]{0,6}", descr) else "V")
    except TypeError:  # letters that name no type
        dtype = np.dtype("V")
    if dtype.kind not in ("biufUS" if is_target else "biuf") or not dtype.itemsize:
        known = "structured records" if descr == "[" else f"type {shown(descr)}"
        raise InputError(f"Array {key!r} holds {known}, and plain {wanted} are needed: convert it first.")
    return dtype


def checked_shapes(
    X: np.ndarray, y: np.ndarray, names: tuple[str, str] = ("X", "y")
) -> tuple[np.ndarray, np.ndarray]:
    """X of shape (n, d), or of images (n, height, width[, 3]), and y of shape (n,); others are refused.

    Images may have their colours first, as torch has them: (n, 3, height, width), or 1 in place of 3.
    """
    rows, targets = names
    if X.ndim == 4 and X.shape[1] in (1, 3) and X.shape[3] not in (1, 3):
        X = np.moveaxis(X, 1, 3)
    if X.ndim == 4 and X.shape[3] == 1:
        X = X[..., 0]
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    is_image = X.ndim == 3 or (X.ndim == 4 and X.shape[3] == 3)
    if X.ndim != 2 and not is_image:
        raise InputError(
            f"Array {rows!r} has shape {_times(X.shape) or '()'} and type {X.dtype}: give rows × columns, or "
            "images of rows × height × width or rows × height × width × 3."
        )
    if y.ndim != 1:
        raise InputError(
            f"Array {targets!r} has shape {_times(y.shape) or '()'}: give one target for each row of {rows}."
        )
    if len(X) != len(y):
        raise InputError(
            f"Array {rows!r} has {len(X):,} rows and array {targets!r} has {len(y):,}: give one target for "
            "each row."
        )
    if not math.prod(X.shape[1:]):
        raise InputError(
            f"Array {rows!r} has shape {_times(X.shape)}, so its rows are empty: give at least one column."
        )
    return X, y
