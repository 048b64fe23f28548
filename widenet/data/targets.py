"""What is to be learned: the task read off the target column, and its encoding as columns of Y."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.wording import counted, listed, natural_key, shown
from widenet.data.columns import few_codes, missing, refuse_first, texts
from widenet.data.dates import DateStyle
from widenet.data.deciding import Wanted, column_dates, is_text, number_style, style_notes
from widenet.data.written import PLAIN, NumberStyle, plain_numbers

if TYPE_CHECKING:
    import pandas as pd

Task = Literal["binary", "multiclass", "regression"]

WHOLE = re.compile(r"([+-]?\d{1,4000})(\.0*)?", re.ASCII)  # Python makes no numbers of more digits
LARGEST_WHOLE = 2.0**53  # from here on, float64 does not tell whole numbers apart


@dataclass(frozen=True)
class TargetScale:
    """The units of the targets: what the user wrote is offset + scale · Y.

    Attributes:
        offset: Shape (c,), or (1,) where it is the same for all columns.
        scale: Of the same shape.
    """

    offset: Tensor
    scale: Tensor

    def in_units(self, Y: Tensor) -> Tensor:
        """Targets or predictions of them, shape (..., c), in the user's units."""
        return self.offset + self.scale * Y


OWN_UNITS = TargetScale(torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64))


@dataclass(frozen=True)
class Targets:
    """Targets in every form that a data set keeps; see `Dataset` for the fields."""

    Y: Tensor
    labels: Tensor | None
    classes: tuple[str, ...]
    task: Task
    given: tuple[str, ...]
    note: str
    units: TargetScale = OWN_UNITS


def class_columns(labels: Tensor, num_classes: int) -> Tensor:
    """Y of class indices: ±1 in one column for two classes (+1 for the first), else one-hot, shape (n, c)."""
    if num_classes == 2:
        return 1.0 - 2.0 * labels.to(torch.float64)[:, None]
    return torch.nn.functional.one_hot(labels, num_classes).to(torch.float64)


def class_targets(labels: Tensor, classes: tuple[str, ...], given: tuple[str, ...] | None = None) -> Targets:
    """Targets of class indices, shape (n,), with the classes' names."""
    task: Task = "binary" if len(classes) == 2 else "multiclass"
    note = f"The target has {len(classes)} classes: {listed(classes, limit=12)}"
    note += f"; {shown(classes[0])} is +1 and {shown(classes[1])} is -1." if task == "binary" else "."
    given = given or tuple(classes[label] for label in labels.tolist())
    return Targets(class_columns(labels, len(classes)), labels, classes, task, given, note)


def encode_targets(values: pd.Series, decimal: str = ".", task: Wanted | None = None) -> Targets:
    """Read the task off a target column and encode it.

    Text, booleans and categories are classes. So are whole numbers with two distinct values, or with at most
    20 distinct values, at least five rows for each on average and half of them repeated; they keep all their
    digits. Everything else is regression. Classes are in natural order (2 before 10), and of two classes the
    first is +1.

    Args:
        values: The column, without missing values, its index the numbers of the rows.
        decimal: The decimal sign of the file.
        task: What people decide that the target is; None where its values do.
    """
    import pandas as pd

    if task not in (None, *get_args(Wanted)):
        raise InputError(f"There is no task {shown(task)}: choose {listed(get_args(Wanted))}.")
    given = tuple(texts(values).tolist())
    nominal = isinstance(values.dtype, pd.CategoricalDtype) or pd.api.types.is_bool_dtype(values.dtype)
    style: NumberStyle | DateStyle | None = None if nominal else number_style(values, decimal)
    if style is None and not nominal:
        style = _durations(values)
    if style is None and task == "regression":
        style = _plain_style(values)
    if style is None:
        return _text_classes(given, values)
    parsed = style.numbers(values)
    if task == "classification":
        return _number_classes(given, values, parsed, style)
    wrong = np.isnan(parsed)
    most = f"{len(values) - int(wrong.sum()):,} of {len(values):,}"
    advice = f"is not a number, as {most} targets are: correct it, drop the row, or choose another `target`."
    refuse_first(wrong, values, advice, numbered=True)
    refuse_first(np.isinf(parsed), values, "is infinite: correct it or drop the row.", numbered=True)
    whole = whole_numbers(values, parsed, style)
    distinct, index, counts = np.unique(
        parsed if whole is None else whole, return_inverse=True, return_counts=True
    )
    if len(distinct) == 1:
        _refuse_single(values)
    are_repeated = 2 * int((counts > 1).sum()) >= len(distinct)  # mostly 0, and a few amounts, are no codes
    is_free = task is None and whole is not None
    if is_free and (len(distinct) == 2 or (few_codes(len(distinct), len(parsed)) and are_repeated)):
        return class_targets(torch.from_numpy(index), tuple(str(value) for value in distinct), given)
    return _regression(parsed, given, values, style)


def _plain_style(values: pd.Series) -> NumberStyle:
    """The style of numbers that look like codes; words are refused."""
    advice = "is not a number, which a regression needs: leave `task` out, or choose another `target`."
    refuse_first(np.isnan(plain_numbers(values)), values, advice, numbered=True)
    return PLAIN


def _number_classes(
    given: tuple[str, ...], values: pd.Series, parsed: np.ndarray, style: NumberStyle | DateStyle
) -> Targets:
    """Numbers as classes: whole ones with all their digits, others as they are written."""
    whole = whole_numbers(values, parsed, style) if np.isfinite(parsed).all() else None
    if whole is None:
        return _text_classes(given, values)
    distinct, index = np.unique(whole, return_inverse=True)
    _refuse_many_classes(len(distinct), values)
    return class_targets(torch.from_numpy(index), tuple(str(value) for value in distinct), given)


def whole_numbers(values: pd.Series, parsed: np.ndarray, style: NumberStyle | DateStyle) -> np.ndarray | None:
    """Values as whole numbers of shape (n,), all digits kept; None where some are not whole for certain.

    Args:
        values: The column.
        parsed: The same as float64, which rounds whole numbers beyond 2^53.
        style: How they are written.
    """
    if values.dtype.kind in "iu":
        return values.to_numpy(np.uint64 if values.dtype.kind == "u" else np.int64)
    if style == PLAIN and is_text(values):
        found = [WHOLE.fullmatch(word) for word in values]
        if all(found):
            return np.array([int(each[1]) for each in found if each], dtype=object)
    if not is_text(values) and all(isinstance(value, int) for value in values):
        return np.array([int(value) for value in values], dtype=object)
    is_whole = (parsed == np.rint(parsed)) & (np.abs(parsed) < LARGEST_WHOLE)
    return parsed.astype(np.int64) if is_whole.all() else None


def _durations(values: pd.Series) -> DateStyle | None:
    """The style of targets that are durations, written as text; other times are refused."""
    style = column_dates(values)
    if style is not None and style.is_duration:
        return style
    if style is not None or values.dtype.kind == "m":
        raise InputError(
            f"The target column {shown(values.name)} holds dates or times, such as "
            f"{shown(values.iloc[0])}: choose another `target`, or turn them into numbers or classes."
        )
    return None


def encode_like(values: pd.Series, classes: tuple[str, ...], units: TargetScale) -> Targets:
    """Encode targets of held-out rows as those of the training rows were.

    Args:
        values: The target column.
        classes: Classes of the training rows; empty where their targets are numbers.
        units: From the training rows' targets back to the numbers that were given.
    """
    refuse_first(missing(values), values, "is missing, and targets are never imputed: drop the row.")
    given, parsed = tuple(texts(values).tolist()), plain_numbers(values)
    if not classes:
        refuse_first(~np.isfinite(parsed), values, "is not a finite number: correct it or drop the row.")
        Y = (torch.from_numpy(parsed)[:, None] - units.offset) / units.scale
        note = "The target is a number, scaled as that of the training rows."
        return Targets(Y, None, (), "regression", given, note, units)
    index = {name: k for k, name in enumerate(classes)}
    whole = [  # 1.0 is the class 1
        f"{value:.0f}" if value == np.rint(value) and abs(value) < LARGEST_WHOLE else "" for value in parsed
    ]
    words = [word if word in index else number for word, number in zip(given, whole, strict=True)]
    unknown = np.array([word not in index for word in words])
    refuse_first(unknown, values, "is a class that no training row has: drop the row.")
    return class_targets(torch.tensor([index[word] for word in words]), classes, given)


def _refuse_single(values: pd.Series) -> None:
    raise InputError(
        f"The target column {shown(values.name)} holds the single value {shown(values.iloc[0])}, so there "
        "is nothing to learn: choose another `target`."
    )


def _text_classes(given: tuple[str, ...], values: pd.Series) -> Targets:
    classes = tuple(sorted(set(given), key=natural_key))
    _refuse_many_classes(len(classes), values)
    index = {name: k for k, name in enumerate(classes)}
    return class_targets(torch.tensor([index[name] for name in given]), classes, given)


def _refuse_many_classes(num_classes: int, values: pd.Series) -> None:
    """Refuse classes of which there is one, or more than half as many as rows."""
    if num_classes == 1:
        _refuse_single(values)
    if num_classes > max(2, len(values) / 2):
        kind = "is text with" if number_style(values, ".") is None else "has"
        raise InputError(
            f"The target column {shown(values.name)} {kind} {num_classes:,} distinct values in "
            f"{counted(len(values), 'row')}, too many to learn as classes: choose another `target`, or "
            "`task=regression` where they are numbers."
        )


def _regression(
    parsed: np.ndarray, given: tuple[str, ...], values: pd.Series, style: NumberStyle | DateStyle
) -> Targets:
    with np.errstate(over="ignore", invalid="ignore"):  # refused below
        mean, deviation = float(parsed.mean()), float(parsed.std())
    if not (0 < deviation < np.inf and np.isfinite(mean)):
        raise InputError(
            f"The target column {shown(values.name)} cannot be standardised in float64: its numbers are too "
            "large or too close together."
        )
    Y = torch.from_numpy((parsed - mean) / deviation)[:, None]
    spread = f"mean {mean:.6g}, standard deviation {deviation:.6g}"
    note = " ".join(
        [
            f"The target is a number ({spread}), standardised for regression.",
            *style_notes(style, [str(values.name)]),
        ]
    )
    numbers_given = torch.from_numpy(parsed)
    units = TargetScale(numbers_given.mean()[None], numbers_given.std(correction=0)[None])
    return Targets(Y, None, (), "regression", given, note, units)
