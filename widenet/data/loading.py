"""A name or a file becomes a `Dataset`."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from widenet.base.errors import InputError
from widenet.base.wording import listed, near_names, shown
from widenet.data.arrays import read_npz
from widenet.data.assembling import (
    array_dataset,
    concept_dataset,
    held_out_concept,
    held_out_rows,
    read_dataset,
)
from widenet.data.builtin import BUILTINS, builtin_names, get_builtin
from widenet.data.concept_names import CONCEPTS, NUM_HELD_OUT, is_concept, parse_draw
from widenet.data.dataset import Dataset
from widenet.data.origin import Origin
from widenet.data.prepare import Kind
from widenet.data.tables import DELIMITERS, read_delimited, read_parquet

SUFFIXES = (*DELIMITERS, ".parquet", ".npz")


def load(
    source: str, *, target: str | None = None, prepare: Kind | None = None, impute: bool = False
) -> Dataset:
    """Load a built-in data set or a file.

    >>> dataset = load("resnet-cube:n=100,d=10,seed=1")
    >>> dataset.n, dataset.d, dataset.task, dataset.Y.shape
    (100, 10, 'regression', torch.Size([100, 5]))

    Args:
        source: A name of `builtin_names()`, those of concept classes with options if wanted
            (`resnet-cube:n=1000,seed=1`), or a path to a .csv, .tsv, .parquet or .npz file (arrays X and y).
        target: Name of a table's target column. By default the column called target, label, y or class, else
            the last one.
        prepare: `unit` scales rows to norm 1 and does nothing else (the default for images); `standard` (the
            default for tables) is told in `Preparation`; `raw` leaves rows as they are (the default for
            concept classes).
        impute: Replace missing feature values by the column's median or most frequent category, instead of
            refusing.
    """
    dataset = _load(source, target, prepare, impute=impute)
    origin = Origin(source, target, dataset.preparation.kind, impute, file_hash(source))
    return replace(dataset, origin=origin)


def _load(source: str, target: str | None, prepare: Kind | None, *, impute: bool) -> Dataset:
    if is_concept(source):
        _refuse_target(target, source)
        return concept_dataset(source, prepare or "raw")
    if _is_builtin(source):
        _refuse_target(target, source)
        known = get_builtin(source)
        return read_dataset(
            source, known.train(), prepare, known.classes, (known.description,), impute=impute
        )
    path = _checked_path(source)
    if path.suffix.lower() == ".npz":
        _refuse_target(target, path.name)
        return array_dataset(path.name, *read_npz(path), prepare, impute=impute)
    read = read_parquet if path.suffix.lower() == ".parquet" else read_delimited
    return read_dataset(path.name, read(path, target), prepare, impute=impute)


def file_hash(source: str) -> str | None:
    """SHA-256 of the file that `load` would read, every bit of it; None for what is built in."""
    if is_concept(source) or _is_builtin(source):
        return None
    with _checked_path(source).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def held_out(name: str, like: Dataset, *, n: int | None = None) -> Dataset:
    """The test rows of a built-in set, prepared as the training rows in `like` were.

    Args:
        name: A built-in set that has such rows, as `mnist` has, or a concept class with the options of the
            training set, whose rows are then drawn from another random stream than those of any training set.
        like: The loaded training set.
        n: Rows to draw of a concept class, 10,000 by default; other sets have rows of their own.
    """
    if is_concept(name):
        return held_out_concept(parse_draw(name), like, NUM_HELD_OUT if n is None else n)
    known = get_builtin(name)
    if known.test is None:
        having = [*(other for other, entry in BUILTINS.items() if entry.test), *CONCEPTS]
        raise InputError(f"{shown(name)} has no held-out rows; {listed(having)} do.")
    if n is not None:
        raise InputError(f"{shown(name)} has held-out rows of its own: leave `n` out.")
    return held_out_rows(name, known.test(), known.classes, like)


def _is_builtin(source: str) -> bool:
    return source.partition(":")[0] in BUILTINS


def _refuse_target(target: str | None, name: str) -> None:
    if target is not None:
        raise InputError(f"{shown(name)} has its own targets, so `target` does not apply: leave it out.")


def _checked_path(source: str) -> Path:
    path = Path(source)
    known = ", ".join(SUFFIXES)
    try:
        if path.is_dir():
            raise InputError(f"{shown(source)} is a folder: give a file that ends in one of {known}.")
        if not path.exists():
            raise InputError(f"There is no file {shown(source)}{_name_hint(source)}")
        if path.suffix.lower() not in SUFFIXES:
            raise InputError(f"{shown(source)} has an unknown type: give a file that ends in one of {known}.")
        if not path.is_file():
            raise InputError(f"{shown(source)} is not a plain file: copy its content into one.")
        if not path.stat().st_size:
            raise InputError(f"{shown(source)} is empty: give a file with at least two rows.")
        path.open("rb").close()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no such name"
        raise InputError(f"{shown(source)} cannot be opened ({reason}): check the path.") from error
    return path


def _name_hint(source: str) -> str:
    name = source.partition(":")[0]  # what follows may hold points, as in alpha=0.3
    if Path(name).suffix or "/" in source:
        return ": check the path."
    return f", nor a built-in data set of that name; {near_names(name, builtin_names())}"
