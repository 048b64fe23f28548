"""Rows that were read or drawn become a `Dataset`: targets encoded, inputs prepared, all of it told."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.problems import Problems
from widenet.base.wording import counted, shown
from widenet.data.builtin import Pixels
from widenet.data.columns import (
    Column,
    NumericColumn,
    encode,
    fit_array_columns,
    missing,
    placeholders,
    texts,
    without_infinities,
)
from widenet.data.concept_names import CONCEPTS, TEST, TRAIN, Draw, parse_draw
from widenet.data.dataset import Dataset, UsedColumns
from widenet.data.deciding import (
    Choice,
    LeftOut,
    Wanted,
    decide_columns,
    file_habits,
    gap_notes,
    is_text,
    number_style,
    reading_notes,
)
from widenet.data.guessing import guessed_target
from widenet.data.leaks import Leak, find_leaks
from widenet.data.prepare import Kind, Preparation, column_owners, fit_preparation, prepare_encoded
from widenet.data.targets import Targets, class_targets, encode_like, encode_targets
from widenet.data.text import TextColumn
from widenet.files.header import Header, unique_names
from widenet.files.opening import check_columns
from widenet.files.pictures import Pictures
from widenet.files.table import Table
from widenet.files.words import settled

if TYPE_CHECKING:
    import pandas as pd

EMPTY = "(empty)"  # the class of targets that are missing where all others are alike
MOST_ROWS_PER_EMPTY = 10  # where more rows have a target than that, those without are gaps


def read_dataset(
    name: str,
    rows: Pixels | Table,
    kind: Kind | None,
    classes: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> Dataset:
    """The data set of images or of a table, as it was read.

    Args:
        name: What the user called it.
        rows: What was read.
        kind: How to prepare the rows; by default `unit` for images and `standard` for tables.
        classes: Names of the classes of images.
        notes: What to tell of it first.
    """
    if isinstance(rows, Table):
        return table_dataset(name, _numbered(rows), kind, Choice(), notes)
    columns: tuple[Column, ...] = tuple(NumericColumn(pixel) for pixel in pixel_names(rows.raw.shape[1:]))
    preparation, X, prepared = fit_preparation(rows.raw, columns, kind or "unit")
    targets = _pixel_targets(rows, classes)
    return _assemble(name, X, targets, preparation, (*notes, targets.note, *prepared), images=_drawn(rows))


def picture_dataset(name: str, pictures: Pictures, kind: Kind | None) -> Dataset:
    """The data set of a folder of images."""
    rows = Pixels(pictures.pixels, pictures.pixels, pictures.labels)
    dataset = read_dataset(name, rows, kind, pictures.classes, pictures.notes)
    return replace(dataset, files=pictures.files)


def held_out_rows(name: str, rows: Pixels | Table, classes: tuple[str, ...], like: Dataset) -> Dataset:
    """The data set of test rows, prepared and encoded as the training rows in `like` were."""
    images, raw = None, rows.features if isinstance(rows, Table) else rows.raw
    if isinstance(rows, Table):
        targets = encode_like(rows.target, like.classes, like.target_scale)
    else:
        targets, images = _pixel_targets(rows, classes), _drawn(rows)
    note = f"{counted(len(raw), 'row')} held out from {name}, prepared like those of {like.name}."
    X = like.preparation.apply(raw)
    return _assemble(f"{name} (held out)", X, targets, like.preparation, (note,), images=images)


def concept_dataset(source: str, kind: Kind) -> Dataset:
    """The rows that the name of a concept class, with its options, stands for."""
    draw = parse_draw(source)
    rows, Y = draw.rows(draw.n, TRAIN)
    columns: tuple[Column, ...] = tuple(NumericColumn(f"x{j + 1}") for j in range(draw.concept.d))
    preparation, X, notes = fit_preparation(rows, columns, kind)
    targets = _number_targets(Y)
    before = () if kind == "raw" else ("The targets were computed before that.",)
    provenance = (CONCEPTS[draw.name].description, _drawn_note(draw, draw.n), targets.note, *notes, *before)
    return _assemble(source, X, targets, preparation, provenance)


def held_out_concept(draw: Draw, like: Dataset, n: int) -> Dataset:
    """Rows of a concept class that no training set has, prepared as those in `like` were."""
    if n < 1:
        raise InputError(f"{n} rows cannot be held out from {shown(draw.name)}: give at least one.")
    rows, Y = draw.rows(n, TEST)
    note = f"{_drawn_note(draw, n)} They were prepared like those of {like.name}."
    X = like.preparation.apply(rows)
    return _assemble(f"{draw.name} (held out)", X, _number_targets(Y), like.preparation, (note,))


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
    task: Wanted | None = None,
) -> Dataset:
    """The data set of arrays: X of shape (n, d), or images (n, height, width[, 3]), and y of shape (n,)."""
    import pandas as pd

    is_image = X_raw.ndim > 2
    names = pixel_names(X_raw.shape[1:]) if is_image else tuple(f"x{k + 1}" for k in range(X_raw.shape[1]))
    target = settled(pd.Series(_decoded(y_raw), name="y", index=pd.RangeIndex(1, len(y_raw) + 1)))
    target, has_target, missed = _with_target(target)
    _refuse_few_rows(len(target), name)
    with np.errstate(over="ignore"):  # longer floats may become infinite, which is a gap
        native = X_raw.astype(np.uint8 if X_raw.dtype == np.uint8 else np.float64)
    problems, kind = Problems(), kind or ("unit" if is_image else "standard")
    columns = problems.attempt(lambda: fit_array_columns(native, names))
    targets = problems.attempt(lambda: encode_targets(target, task=task))
    problems.refuse(shown(name))
    assert columns is not None
    assert targets is not None
    native, numbers = native[has_target], torch.tensor(target.index.to_numpy(np.int64))
    encoded = encode(native, columns)
    leaks = () if is_image else find_leaks(encoded, columns, targets)  # no pixel gives a picture away
    preparation, X, prepared = prepare_encoded(encoded, columns, kind, numbers)
    infinite = _infinite_note(native)
    provenance = (*notes, targets.note, *missed, *infinite, *gap_notes(columns), *prepared)
    images = _shades(native) if is_image else None
    cells = None if is_image else pd.DataFrame(native, target.index, names).assign(y=target)
    dataset = _assemble(
        name, X, targets, preparation, provenance, leaks=leaks, images=images, numbers=numbers
    )
    return replace(dataset, target="y", cells=cells, without_target=int((~has_target).sum()))


def table_dataset(
    name: str,
    table: Table,
    kind: Kind | None,
    choice: Choice,
    notes: tuple[str, ...] = (),
    header: Header | None = None,
) -> Dataset:
    """The data set of a table; all that is wrong with its target and its columns is told at once.

    Args:
        name: What the user called it.
        table: What was read, its index the numbers of the rows.
        kind: How to prepare the rows; `standard` by default.
        choice: What the user decides about columns.
        notes: What to tell of it first.
        header: Names of all columns; by default those of the table.
    """
    table = guessed_target(table, choice.drop)
    names = unique_names([*table.features.columns, str(table.target.name)]) if header is None else header
    check_columns(names, str(table.target.name), choice.drop, choice.keep, choice.categorical)
    habits = file_habits(table)
    marked = None if choice.task == "regression" else _marked(table.target)
    target, has_target, missed = marked or _with_target(table.target, habits.decimal)
    _refuse_few_rows(len(target), name)
    table = replace(table, features=table.features[has_target], target=table.target[has_target])
    found = decide_columns(table, choice, habits)
    targets = found.problems.attempt(lambda: encode_targets(target, habits.decimal, choice.task))
    found.problems.refuse(shown(name))
    assert targets is not None
    columns = tuple(found.columns)
    if not columns:
        reasons = "; ".join(f"{shown(each.name)} {each.why}" for each in found.left_out[:5])
        raise InputError(
            f"No column is left to learn from in {shown(name)}: {reasons}. `keep` uses one anyway."
        )
    numbers = torch.tensor(target.index.to_numpy(np.int64))
    encoded = encode(table.features, columns)
    leaks = find_leaks(encoded, columns, targets)
    preparation, X, prepared = prepare_encoded(encoded, columns, kind or "standard", numbers)
    told = (*missed, *_left_out_note(found.left_out), *reading_notes(columns))
    why_target = (table.why_target,) if table.why_target else ()
    provenance = (*notes, *table.notes, *why_target, targets.note, *told, *prepared)
    dataset = _assemble(
        name,
        X,
        targets,
        preparation,
        provenance,
        leaks=leaks,
        left_out=tuple(found.left_out),
        numbers=numbers,
    )
    unlabelled = int((~has_target).sum())
    return replace(dataset, target=str(target.name), cells=_cells(table, names), without_target=unlabelled)


def _cells(table: Table, header: Header) -> pd.DataFrame:
    """Features and target side by side again, in the order of the header."""
    import pandas as pd

    whole = pd.concat([table.features, table.target.rename(str(table.target.name))], axis=1)
    return whole[[name for name in header.names if name in whole.columns]]


def _numbered(table: Table) -> Table:
    """A table that was made in Python, its rows numbered from 1 and its values settled."""
    import pandas as pd

    index = pd.RangeIndex(1, len(table.target) + 1)
    features = pd.DataFrame({str(name): settled(table.features[name]) for name in table.features.columns})
    target = settled(table.target).rename(table.target.name or "target")
    return replace(table, features=features.set_axis(index, axis=0), target=target.set_axis(index))


def _marked(target: pd.Series) -> tuple[pd.Series, np.ndarray, tuple[str, ...]] | None:
    """Targets of which one value is given and others are empty, as where people tick a box; None for others.

    What is empty is a class then, if it is a tenth of the rows: there is nothing else to tell apart.
    """
    import pandas as pd

    gaps = missing(target)
    if target.nunique() != 1 or MOST_ROWS_PER_EMPTY * gaps.sum() < len(gaps):
        return None
    words = pd.Series(np.where(gaps, EMPTY, texts(target)), target.index, name=target.name)
    note = f"Every target is {shown(target[~gaps].iloc[0])} or missing, so that missing ones are a class."
    return words, np.ones(len(target), dtype=bool), (note,)


def _with_target(target: pd.Series, decimal: str = ".") -> tuple[pd.Series, np.ndarray, tuple[str, ...]]:
    """The targets that there are, which rows have one, and a sentence on the others."""
    has_target = ~missing(target)
    if is_text(target) and number_style(target, decimal) is not None:
        has_target &= ~placeholders(target)  # a point or a dash is no number, but may be a class
    num_missed = int((~has_target).sum())
    if not num_missed:
        return target, has_target, ()
    if not has_target.any():
        raise InputError(f"Column {shown(target.name)} has no value in any row: choose another `target`.")
    verbs = ("has", "was") if num_missed == 1 else ("have", "were")
    left = f"{counted(num_missed, 'row')} of {len(target):,} {verbs[0]} no target and {verbs[1]} left out."
    return target[has_target], has_target, (left,)


def _assemble(
    name: str,
    X: Tensor,
    targets: Targets,
    preparation: Preparation,
    provenance: tuple[str, ...],
    *,
    leaks: tuple[Leak, ...] = (),
    images: Tensor | None = None,
    left_out: tuple[LeftOut, ...] = (),
    numbers: Tensor | None = None,
) -> Dataset:
    return Dataset(
        name=name,
        X=X,
        Y=targets.Y,
        labels=targets.labels,
        classes=targets.classes,
        task=targets.task,
        names=preparation.names,
        rows=torch.arange(1, len(X) + 1) if numbers is None else numbers,
        given=targets.given,
        images=images,
        preparation=preparation,
        provenance=provenance,
        target_scale=targets.units,
        leaks=leaks,
        columns=used_columns(preparation, left_out),
    )


def used_columns(preparation: Preparation, left_out: tuple[LeftOut, ...] = ()) -> UsedColumns:
    """What became of each column: those that a map uses, those that it does not, those that were left out."""
    used = set(column_owners(preparation.columns)[preparation.kept].tolist())
    kept = [column for index, column in enumerate(preparation.columns) if index in used]
    constant = tuple(
        LeftOut(column.name, "never varies")
        for index, column in enumerate(preparation.columns)
        if index not in used
    )
    imputed = tuple(column.name for column in kept if column.has_gaps)
    prose = tuple(column.name for column in kept if isinstance(column, TextColumn))
    return UsedColumns(tuple(column.name for column in kept), (*left_out, *constant), imputed, prose)


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


def _shades(images: np.ndarray) -> Tensor:
    """Images as uint8 to draw them with: as they are, or from their darkest to their brightest value."""
    if images.dtype == np.uint8:
        return torch.from_numpy(np.ascontiguousarray(images))
    images = without_infinities(images)
    low, high = float(np.nanmin(images)), float(np.nanmax(images))
    shades = np.nan_to_num((images - low) / (high - low or 1.0)) * 255
    return torch.from_numpy(np.rint(shades).astype(np.uint8))


def _infinite_note(array: np.ndarray) -> tuple[str, ...]:
    num_infinite = int(np.isinf(array).sum()) if array.dtype.kind == "f" else 0
    verb = "was" if num_infinite == 1 else "were"
    return (f"{counted(num_infinite, 'infinite value')} {verb} taken as missing.",) if num_infinite else ()


def _left_out_note(left_out: list[LeftOut]) -> tuple[str, ...]:
    return tuple(f"Column {shown(each.name)} {each.why}; it was left out." for each in left_out)


def _refuse_few_rows(num_rows: int, name: str) -> None:
    if num_rows < 2:
        raise InputError(
            f"{shown(name)} has {counted(num_rows, 'row')}: at least two are needed to learn from."
        )
