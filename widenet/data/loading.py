"""A name or a file becomes a `Dataset`."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.wording import counted, listed, near_names, shown
from widenet.data.arrays import read_npz
from widenet.data.builtin import BUILTINS, Pixels, builtin_names, get_builtin
from widenet.data.columns import (
    CategoricalColumn,
    Column,
    NumericColumn,
    fit_array_columns,
    fit_column,
    numbers,
)
from widenet.data.concept_names import CONCEPTS, NUM_HELD_OUT, TEST, TRAIN, Draw, is_concept, parse_draw
from widenet.data.dataset import OWN_UNITS, Dataset, TargetScale
from widenet.data.origin import Origin
from widenet.data.prepare import Kind, Preparation, fit_preparation
from widenet.data.tables import DELIMITERS, Table, read_delimited, read_parquet, refuse_missing
from widenet.data.targets import Targets, class_targets, encode_targets

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (*DELIMITERS, ".parquet", ".npz")


def load(
    source: str, *, target: str | None = None, prepare: Kind | None = None, impute: bool = False
) -> Dataset:
    """Load a built-in data set or a file.

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
        return _concept_dataset(source, prepare or "raw")
    if source.partition(":")[0] in BUILTINS:
        _refuse_target(target, source)
        return _builtin_dataset(source, prepare or "unit")
    path = _checked_path(source)
    if path.suffix.lower() == ".npz":
        _refuse_target(target, path.name)
        return _array_dataset(path, prepare, impute=impute)
    table = (read_parquet if path.suffix.lower() == ".parquet" else read_delimited)(path, target)
    return _table_dataset(path.name, table, prepare or "standard", impute=impute)


def file_hash(source: str) -> str | None:
    """SHA-256 of the file that `load` would read, every bit of it; None for what is built in."""
    if is_concept(source) or source.partition(":")[0] in BUILTINS:
        return None
    with _checked_path(source).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def held_out(name: str, like: Dataset, *, n: int | None = None) -> Dataset:
    """The test rows of a built-in set, prepared as the training rows in `like` were.

    Args:
        name: `mnist`, `mnist-2`, `cifar10-2`, or a concept class with the options of the training set, whose
            rows are then drawn from another random stream than those of any training set.
        like: The loaded training set.
        n: Rows to draw of a concept class, 10,000 unless told; other sets have rows of their own.
    """
    if is_concept(name):
        return _held_out_concept(parse_draw(name), like, NUM_HELD_OUT if n is None else n)
    known = get_builtin(name)
    if known.test is None:
        having = [*(other for other, entry in BUILTINS.items() if entry.test), *CONCEPTS]
        raise InputError(f"{shown(name)} has no held-out rows: {listed(having)} have.")
    if n is not None:
        raise InputError(f"{shown(name)} has held-out rows of its own: leave n out.")
    pixels = known.test()
    targets = class_targets(torch.from_numpy(pixels.labels.astype(np.int64)), known.classes)
    num_rows = counted(len(pixels.labels), "row")
    note = f"{num_rows} held out of {name}, prepared as those of {like.name} were."
    X = like.preparation.apply(pixels.raw)
    return _assemble(f"{name} (held out)", X, targets, like.preparation, _drawn(pixels), (note,))


def _builtin_dataset(name: str, kind: Kind) -> Dataset:
    known = get_builtin(name)
    pixels = known.train()
    columns: tuple[Column, ...] = tuple(NumericColumn(pixel) for pixel in pixel_names(pixels.raw.shape[1:]))
    preparation, X, notes = fit_preparation(pixels.raw, columns, kind)
    targets = class_targets(torch.from_numpy(pixels.labels.astype(np.int64)), known.classes)
    return _assemble(name, X, targets, preparation, _drawn(pixels), (known.description, targets.note, *notes))


def _concept_dataset(source: str, kind: Kind) -> Dataset:
    draw = parse_draw(source)
    rows, Y = draw.rows(draw.n, TRAIN)
    columns: tuple[Column, ...] = tuple(NumericColumn(f"x{j + 1}") for j in range(draw.concept.d))
    preparation, X, notes = fit_preparation(rows, columns, kind)
    targets = _number_targets(Y)
    before = () if kind == "raw" else ("The targets are those of the rows before that.",)
    provenance = (CONCEPTS[draw.name].description, _drawn_note(draw, draw.n), targets.note, *notes, *before)
    return _assemble(source, X, targets, preparation, None, provenance)


def _held_out_concept(draw: Draw, like: Dataset, n: int) -> Dataset:
    if n < 1:
        raise InputError(f"{n} rows cannot be held out of {shown(draw.name)}: give at least one.")
    rows, Y = draw.rows(n, TEST)
    note = f"{_drawn_note(draw, n)} They were prepared as those of {like.name} were."
    X = like.preparation.apply(rows)
    return _assemble(f"{draw.name} (held out)", X, _number_targets(Y), like.preparation, None, (note,))


def _number_targets(Y: Tensor) -> Targets:
    """Numbers (n, k) as targets in their own units."""
    given = tuple(", ".join(f"{value:.6g}" for value in row) for row in Y.tolist())
    note = f"The target is {counted(Y.shape[1], 'number')} for each row, not standardised."
    return Targets(Y, None, (), "regression", given, note)


def _drawn_note(draw: Draw, n: int) -> str:
    values = ", ".join(f"{key}={value:g}" for key, value in draw.options.items() if value is not None)
    function = f"{draw.name} ({values})" if values else draw.name
    noise = draw.concept.noise
    added = f", with Gaussian noise of standard deviation {noise:g} on each target" if noise else ""
    return f"Drew {counted(n, 'row')} of {function} with seed {draw.seed}{added}."


def _array_dataset(path: Path, prepare: Kind | None, *, impute: bool) -> Dataset:
    import pandas as pd

    X_raw, y_raw, read_notes = read_npz(path)
    _refuse_few_rows(len(X_raw), path.name)
    is_image = X_raw.ndim > 2
    names = pixel_names(X_raw.shape[1:]) if is_image else tuple(f"x{k + 1}" for k in range(X_raw.shape[1]))
    values = pd.Series(_decoded(y_raw), name="y")
    targets = encode_targets(values)
    with np.errstate(over="ignore"):  # longer floats may become infinite, and are refused then
        native = X_raw.astype(np.uint8 if X_raw.dtype == np.uint8 else np.float64)
    columns = fit_array_columns(native, names, impute=impute)
    preparation, X, notes = fit_preparation(native, columns, prepare or ("unit" if is_image else "standard"))
    images = torch.from_numpy(np.ascontiguousarray(native)) if is_image else None
    provenance = (*read_notes, targets.note, *_imputed_note(columns), *notes)
    scale = _target_scale(values, targets)
    return _assemble(path.name, X, targets, preparation, images, provenance, scale)


def _table_dataset(name: str, table: Table, kind: Kind, *, impute: bool) -> Dataset:
    _refuse_few_rows(len(table.target), name)
    targets = encode_targets(table.target)
    if not impute:
        refuse_missing(table.features)
    columns = tuple(fit_column(table.features[column], impute=impute) for column in table.features.columns)
    preparation, X, notes = fit_preparation(table.features, columns, kind)
    encodings = (*_counting_note(table), *_encoding_note(columns), *_imputed_note(columns))
    provenance = (*table.notes, targets.note, *encodings, *notes)
    scale = _target_scale(table.target, targets)
    return _assemble(name, X, targets, preparation, None, provenance, scale)


def _target_scale(values: pd.Series, targets: Targets) -> TargetScale:
    """The mean and standard deviation by which a column of numbers was standardised."""
    if targets.task != "regression":
        return OWN_UNITS
    parsed = torch.from_numpy(numbers(values))
    return TargetScale(parsed.mean()[None], parsed.std(correction=0)[None])


def _assemble(
    name: str,
    X: Tensor,
    targets: Targets,
    preparation: Preparation,
    images: Tensor | None,
    provenance: tuple[str, ...],
    target_scale: TargetScale = OWN_UNITS,
) -> Dataset:
    return Dataset(
        name=name,
        X=X,
        Y=targets.Y,
        labels=targets.labels,
        classes=targets.classes,
        task=targets.task,
        names=preparation.names,
        rows=torch.arange(1, len(X) + 1),
        given=targets.given,
        images=images,
        preparation=preparation,
        provenance=provenance,
        target_scale=target_scale,
    )


def pixel_names(shape: tuple[int, ...]) -> tuple[str, ...]:
    """Names of flattened pixels of images of shape (height, width) or (height, width, 3), counted from 1."""
    colours = ("",) if len(shape) == 2 else (" red", " green", " blue")
    height, width = shape[:2]
    return tuple(
        f"pixel {i},{j}{colour}"
        for i in range(1, height + 1)
        for j in range(1, width + 1)
        for colour in colours
    )


def _drawn(pixels: Pixels) -> Tensor:
    return torch.from_numpy(pixels.images.copy())  # the bytes of a file are read-only, and tensors are not


def _decoded(y: np.ndarray) -> np.ndarray:
    """Targets of an array in a form that a column of a table can have."""
    if y.dtype.kind == "S":
        try:
            return np.char.decode(y, "utf-8").astype(object)
        except UnicodeDecodeError as error:
            raise InputError("Array 'y' holds text that is not UTF-8: save it as numpy strings.") from error
    return y.astype(object) if y.dtype.kind == "U" else y.astype(y.dtype.newbyteorder("="))


def _counting_note(table: Table) -> tuple[str, ...]:
    """A warning of columns that only number the rows; they cannot be told from a measurement for certain."""
    whole = table.features.select_dtypes("integer")
    counting = [name for name in whole if (np.diff(whole[name]) == 1).all() and whole[name].iloc[0] in (0, 1)]
    if not counting:
        return ()
    return (f"{listed(counting)} counts the rows: drop it if it is only an identifier.",)


def _encoding_note(columns: tuple[Column, ...]) -> tuple[str, ...]:
    one_hot = [column for column in columns if isinstance(column, CategoricalColumn)]
    if not one_hot:
        return ()
    width = sum(len(column.categories) for column in one_hot)
    return (f"One-hot encoded into {width:,} columns: {listed(column.name for column in one_hot)}.",)


def _imputed_note(columns: tuple[Column, ...]) -> tuple[str, ...]:
    filled = [column.name for column in columns if column.fill is not None]
    if not filled:
        return ()
    return (f"Missing values were replaced by the median or the most frequent category in {listed(filled)}.",)


def _refuse_target(target: str | None, name: str) -> None:
    if target is not None:
        raise InputError(f"{shown(name)} has its own targets, so --target does not apply: leave it out.")


def _refuse_few_rows(num_rows: int, name: str) -> None:
    if num_rows < 2:
        raise InputError(
            f"{shown(name)} has {counted(num_rows, 'row')}: at least two are needed to learn from."
        )


def _checked_path(source: str) -> Path:
    path = Path(source)
    known = ", ".join(SUFFIXES)
    try:
        if path.is_dir():
            raise InputError(f"{shown(source)} is a folder: give a file of the kinds {known}.")
        if not path.exists():
            raise InputError(f"There is no file {shown(source)}{_name_hint(source)}")
        if path.suffix.lower() not in SUFFIXES:
            raise InputError(f"{shown(source)} is of no known kind: give a file that ends in one of {known}.")
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
