"""A name, a file, a folder or data in memory becomes a `Dataset`."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from widenet.base.errors import InputError
from widenet.base.wording import column_name, column_names, encodable, listed, near_names, shown
from widenet.data.arrays import read_npz
from widenet.data.assembling import (
    array_dataset,
    concept_dataset,
    held_out_concept,
    held_out_rows,
    picture_dataset,
    read_dataset,
    table_dataset,
)
from widenet.data.builtin import BUILTINS, builtin_names, get_builtin
from widenet.data.concept_names import CONCEPTS, NUM_HELD_OUT, is_concept, parse_draw
from widenet.data.dataset import Dataset
from widenet.data.deciding import Choice, Wanted
from widenet.data.frames import Arrays, ArrowTable, IndexedRows, InterchangeTable, rows_in_memory
from widenet.data.origin import Origin
from widenet.data.prepare import Kind
from widenet.files.opening import (
    ARRAYS,
    FORMATS,
    checked_path,
    ending_of,
    looks_like_path,
    opened,
    stored_file,
)
from widenet.files.pictures import folder_hash, read_pictures
from widenet.files.table import table_of

# Tables of pandas are such ones, too.
Source = str | Path | ArrowTable | InterchangeTable | Mapping[Any, Any] | IndexedRows


def load(
    source: Source,
    y: Any = None,
    *,
    target: Hashable | None = None,
    task: Wanted | None = None,
    prepare: Kind | None = None,
    drop: Sequence[Hashable] = (),
    keep: Sequence[Hashable] = (),
    categorical: Sequence[Hashable] = (),
) -> Dataset:
    """Load a built-in data set, a file, or data in memory.

    >>> dataset = load("resnet-cube:n=100,d=10,seed=1")
    >>> dataset.n, dataset.d, dataset.task, dataset.Y.shape
    (100, 10, 'regression', torch.Size([100, 5]))
    >>> load([[0.5, 2.0], [1.0, 3.0], [2.5, 1.0]], ["a", "b", "a"]).classes
    ('a', 'b')

    Args:
        source: A name of `builtin_names()`, those of concept classes with options if wanted
            (`resnet-cube:n=1000,seed=1`); a path to a .csv, .tsv, .xlsx, .xls, .parquet, .json, .arff,
            .dta, .xpt or .npz file (arrays X and y), to a .zip with one of these, or to a folder
            with a folder of images for each class; a table of pandas, polars
            or Arrow; columns by name; an array or tensor of rows; or a torch `Dataset` of pairs.
        y: Targets of a table or array of rows, one for each; leave it out where they are in the source.
        target: Name of a table's target column. By default the column called target, label, y or class, else
            the last one that can be learned.
        task: `classification` takes numbers in the target for classes, `regression` takes whole numbers for
            numbers. By default whole numbers are classes where few of them are common, and other numbers are
            not.
        prepare: `unit` scales rows to norm 1 and does nothing else (the default for images); `standard` (the
            default for tables) is told in `Preparation`; `raw` leaves rows as they are (the default for
            concept classes).
        drop: Columns to leave out.
        keep: Columns to use although they look like identifiers or free text.
        categorical: Columns whose numbers are codes of categories.
    """
    choice = Choice(column_names(drop), column_names(keep), column_names(categorical), task)
    target = None if target is None else column_name(target)
    if not isinstance(source, str | Path):
        return _load_rows(source, y, target, prepare, choice)
    if y is not None:
        raise InputError("A name or a file has its own targets: leave `y` out, or name a column as `target`.")
    dataset = _load_named(str(source), target, prepare, choice)
    origin = Origin(
        source=str(source),
        target=target,
        prepare=dataset.preparation.kind,
        drop=choice.drop,
        keep=choice.keep,
        categorical=choice.categorical,
        file_sha256=file_hash(str(source)),
        task=task,
    )
    return replace(dataset, origin=origin)


def _load_named(source: str, target: str | None, prepare: Kind | None, choice: Choice) -> Dataset:
    if is_concept(source) or _is_builtin(source):
        _refuse_table_options(source, target, choice)
        if is_concept(source):
            return concept_dataset(source, prepare or "raw")
        known = get_builtin(source)
        return read_dataset(source, known.train(), prepare, known.classes, (known.description,))
    with opened(_path(source)) as file:
        dataset = _load_path(file.path, target, prepare, choice)
    return replace(dataset, provenance=(*dataset.provenance, *file.notes))


def _load_path(path: Path, target: str | None, prepare: Kind | None, choice: Choice) -> Dataset:
    name = encodable(path.name)
    if path.is_dir():
        _refuse_table_options(name, target, choice)
        return picture_dataset(encodable(path.resolve().name), read_pictures(path), prepare)
    if ending_of(path) == ARRAYS:
        _refuse_table_options(name, target, replace(choice, task=None))
        return array_dataset(name, *read_npz(path), prepare, choice.task)
    sheet = FORMATS[ending_of(path)].read(path)
    return table_dataset(name, table_of(sheet, target), prepare, choice, header=sheet.header)


def _load_rows(source: Any, y: Any, target: str | None, prepare: Kind | None, choice: Choice) -> Dataset:
    rows = rows_in_memory(source, y, target)
    if isinstance(rows, Arrays):
        _refuse_table_options(rows.name, target, replace(choice, task=None))
        return array_dataset(rows.name, rows.X, rows.y, (), prepare, choice.task)
    return table_dataset(type(source).__name__, rows, prepare, choice)


def file_hash(source: str) -> str | None:
    """SHA-256 of the file that `load` would read, every bit of it; None for what is built in."""
    if is_concept(source) or _is_builtin(source):
        return None
    path = stored_file(_path(source))
    if path.is_dir():
        return folder_hash(path)
    with path.open("rb") as file:
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


def _refuse_table_options(name: str, target: str | None, choice: Choice) -> None:
    if target is not None:
        raise InputError(f"{shown(name)} has its own targets, so `target` does not apply: leave it out.")
    if choice.task is not None:
        raise InputError(f"{shown(name)} has its own targets, so `task` does not apply: leave it out.")
    if choice != Choice():
        raise InputError(
            f"{shown(name)} has no columns with names, so `drop`, `keep` and `categorical` do not apply."
        )


def _path(source: str) -> Path:
    if not looks_like_path(source):
        name = source.partition(":")[0]  # what follows may hold points, as in alpha=0.3
        raise InputError(
            f"There is no file {shown(source)}, nor a built-in data set of that name; "
            f"{near_names(name, builtin_names())}"
        )
    return checked_path(source)
