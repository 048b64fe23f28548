"""Rows that were read or drawn become a `Dataset`: targets encoded, inputs prepared, all of it told."""

from __future__ import annotations

from itertools import product

import numpy as np
import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.wording import counted, listed, shown
from widenet.data.builtin import Pixels
from widenet.data.columns import CategoricalColumn, Column, NumericColumn, fit_array_columns, fit_column
from widenet.data.concept_names import CONCEPTS, TEST, TRAIN, Draw, parse_draw
from widenet.data.dataset import Dataset
from widenet.data.leaks import Leak, find_leaks
from widenet.data.prepare import Kind, Preparation, fit_preparation
from widenet.data.tables import Table, refuse_missing
from widenet.data.targets import Targets, class_targets, encode_like, encode_targets


def read_dataset(
    name: str,
    rows: Pixels | Table,
    kind: Kind | None,
    classes: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
    *,
    impute: bool,
) -> Dataset:
    """The data set of images or of a table, as it was read.

    Args:
        name: What the user called it.
        rows: What was read.
        kind: How to prepare the rows; by default `unit` for images and `standard` for tables.
        classes: Names of the classes of images.
        notes: What to tell of it first.
        impute: Whether to replace missing values of a table.
    """
    if isinstance(rows, Table):
        return _table_dataset(name, rows, kind or "standard", notes, impute=impute)
    columns: tuple[Column, ...] = tuple(NumericColumn(pixel) for pixel in pixel_names(rows.raw.shape[1:]))
    preparation, X, prepared = fit_preparation(rows.raw, columns, kind or "unit")
    targets = _pixel_targets(rows, classes)
    return _assemble(name, X, targets, preparation, _drawn(rows), (*notes, targets.note, *prepared))


def held_out_rows(name: str, rows: Pixels | Table, classes: tuple[str, ...], like: Dataset) -> Dataset:
    """The data set of test rows, prepared and encoded as the training rows in `like` were."""
    images, raw = None, rows.features if isinstance(rows, Table) else rows.raw
    if isinstance(rows, Table):
        targets = encode_like(rows.target, like.classes, like.target_scale)
    else:
        targets, images = _pixel_targets(rows, classes), _drawn(rows)
    note = f"{counted(len(raw), 'row')} held out from {name}, prepared like those of {like.name}."
    X = like.preparation.apply(raw)
    return _assemble(f"{name} (held out)", X, targets, like.preparation, images, (note,))


def concept_dataset(source: str, kind: Kind) -> Dataset:
    """The rows that the name of a concept class, with its options, stands for."""
    draw = parse_draw(source)
    rows, Y = draw.rows(draw.n, TRAIN)
    columns: tuple[Column, ...] = tuple(NumericColumn(f"x{j + 1}") for j in range(draw.concept.d))
    preparation, X, notes = fit_preparation(rows, columns, kind)
    targets = _number_targets(Y)
    before = () if kind == "raw" else ("The targets were computed before that.",)
    provenance = (CONCEPTS[draw.name].description, _drawn_note(draw, draw.n), targets.note, *notes, *before)
    return _assemble(source, X, targets, preparation, None, provenance)


def held_out_concept(draw: Draw, like: Dataset, n: int) -> Dataset:
    """Rows of a concept class that no training set has, prepared as those in `like` were."""
    if n < 1:
        raise InputError(f"{n} rows cannot be held out from {shown(draw.name)}: give at least one.")
    rows, Y = draw.rows(n, TEST)
    note = f"{_drawn_note(draw, n)} They were prepared like those of {like.name}."
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


def array_dataset(
    name: str,
    X_raw: np.ndarray,
    y_raw: np.ndarray,
    notes: tuple[str, ...],
    kind: Kind | None,
    *,
    impute: bool,
) -> Dataset:
    """The data set of arrays: X of shape (n, d), or images in uint8, and y of shape (n,)."""
    import pandas as pd

    _refuse_few_rows(len(X_raw), name)
    is_image = X_raw.ndim > 2
    names = pixel_names(X_raw.shape[1:]) if is_image else tuple(f"x{k + 1}" for k in range(X_raw.shape[1]))
    targets = encode_targets(pd.Series(_decoded(y_raw), name="y"))
    with np.errstate(over="ignore"):  # longer floats may become infinite, and are refused then
        native = X_raw.astype(np.uint8 if X_raw.dtype == np.uint8 else np.float64)
    columns = fit_array_columns(native, names, impute=impute)
    preparation, X, prepared = fit_preparation(native, columns, kind or ("unit" if is_image else "standard"))
    images = torch.from_numpy(np.ascontiguousarray(native)) if is_image else None
    leaks = () if is_image else find_leaks(native, columns, targets)  # no pixel gives a picture away
    provenance = (*notes, targets.note, *_imputed_note(columns), *prepared)
    return _assemble(name, X, targets, preparation, images, provenance, leaks)


def _table_dataset(name: str, table: Table, kind: Kind, notes: tuple[str, ...], *, impute: bool) -> Dataset:
    _refuse_few_rows(len(table.target), name)
    targets = encode_targets(table.target)
    if not impute:
        refuse_missing(table.features)
    columns = tuple(fit_column(table.features[column], impute=impute) for column in table.features.columns)
    preparation, X, prepared = fit_preparation(table.features, columns, kind)
    leaks = find_leaks(table.features, columns, targets)
    encodings = (*_encoding_note(columns), *_imputed_note(columns))
    provenance = (*notes, *table.notes, targets.note, *encodings, *prepared)
    return _assemble(name, X, targets, preparation, None, provenance, leaks)


def _assemble(
    name: str,
    X: Tensor,
    targets: Targets,
    preparation: Preparation,
    images: Tensor | None,
    provenance: tuple[str, ...],
    leaks: tuple[Leak, ...] = (),
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
        target_scale=targets.units,
        leaks=leaks,
    )


def pixel_names(shape: tuple[int, ...]) -> tuple[str, ...]:
    """Names of flattened pixels of images of shape (height, width) or (height, width, 3), counted from 1."""
    colours = ("",) if len(shape) == 2 else (" red", " green", " blue")
    rows, columns = (range(1, size + 1) for size in shape[:2])
    return tuple(f"pixel {i},{j}{colour}" for i, j, colour in product(rows, columns, colours))


def _pixel_targets(pixels: Pixels, classes: tuple[str, ...]) -> Targets:
    return class_targets(torch.from_numpy(pixels.labels.astype(np.int64)), classes)


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


def _refuse_few_rows(num_rows: int, name: str) -> None:
    if num_rows < 2:
        raise InputError(
            f"{shown(name)} has {counted(num_rows, 'row')}: at least two are needed to learn from."
        )
