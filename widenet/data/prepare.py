"""The map from raw feature rows to inputs, kept so that new rows take the same way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.wording import counted, listed, shown
from widenet.data.columns import Column, NumericColumn, encode

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

Kind = Literal["unit", "standard", "raw"]

EXTREME = 1e150  # beyond it, and below its inverse, squares leave the range of float64


@dataclass(frozen=True)
class Preparation:
    """How raw rows become X.

    `unit` scales each row to norm 1 and does nothing else, as the papers do with images.

    `raw` leaves rows as they are, as the papers do with their concept classes. It is the one map that does
    not lead to the unit sphere.

    `standard` first gives every column of the table the same weight. A numeric column is centred and divided
    by its standard deviation; the one-hot columns of a category are centred and divided by one number, so
    that their variances add up to 1. A column that marks missing numbers is centred, and shares the weight of
    the numbers themselves: one standard deviation of these is as far as present is from missing. With q
    columns all of this is divided by √q, so that the feature vector z has mean squared norm 1. Then a
    constant coordinate 1 is appended, and the row (z, 1) is scaled to norm 1. The constant keeps z and 2z
    apart on the sphere, and it lets a network without biases shift its features. Its size is a choice: a
    small one would lose the length of z, a large one would crowd all rows around one point, where every
    kernel is close to a constant. At 1 both parts of a typical row weigh the same, and typical rows lie 45°
    from the pole.

    Attributes:
        kind: `unit`, `standard` or `raw`.
        columns: How each raw column becomes numbers.
        kept: Which of the encoded columns are used; constant ones are not under `standard`. Shape (k,).
        means: What is subtracted from each kept column, shape (k,); zeros but for `standard`.
        scales: What each is divided by, √q included, shape (k,); ones but for `standard`.
    """

    kind: Kind
    columns: tuple[Column, ...]
    kept: Tensor
    means: Tensor
    scales: Tensor

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each column of X."""
        encoded = [name for column in self.columns for name in column.names]
        constant = ["constant"] if self.kind == "standard" else []
        return tuple([encoded[index] for index in self.kept.tolist()] + constant)

    def apply(self, rows: Tensor | np.ndarray | pd.DataFrame) -> Tensor:
        """Inputs for raw rows.

        Args:
            rows: A table with the columns this map was fitted to (in any order, others are ignored), or an
                array of shape (n, columns) or (n, height, width[, 3]).

        Returns:
            float64, shape (n, d), rows of norm 1 unless they are left as they are.
        """
        return _place(encode(rows, self.columns), self)


def fit_preparation(
    rows: Tensor | np.ndarray | pd.DataFrame,
    columns: tuple[Column, ...],
    kind: Kind,
    numbers: Tensor | None = None,
) -> tuple[Preparation, Tensor, tuple[str, ...]]:
    """Fit the map to raw rows and apply it to them; see `prepare_encoded`."""
    return prepare_encoded(encode(rows, columns), columns, kind, numbers)


def prepare_encoded(
    encoded: Tensor, columns: tuple[Column, ...], kind: Kind, numbers: Tensor | None = None
) -> tuple[Preparation, Tensor, tuple[str, ...]]:
    """Fit the map to rows and apply it to them.

    Args:
        encoded: The rows as `encode` makes numbers of them; overwritten.
        columns: How each raw column became numbers.
        kind: Which map.
        numbers: The number by which the user knows each row, shape (n,); counted from 1 by default.

    Returns:
        The map, the prepared rows X of shape (n, d), and sentences that tell what was done.
    """
    preparation, notes = _fit_standard(encoded, columns) if kind == "standard" else _unfitted(columns, kind)
    return preparation, _place(encoded, preparation, numbers), notes


def _unfitted(columns: tuple[Column, ...], kind: Kind) -> tuple[Preparation, tuple[str, ...]]:
    width = sum(len(column.names) for column in columns)
    zeros = torch.zeros(width, dtype=torch.float64)
    preparation = Preparation(kind, columns, torch.arange(width), zeros, torch.ones_like(zeros))
    scaled = "Each row was scaled to norm 1; nothing else was changed."
    return preparation, ("Rows were left unchanged." if kind == "raw" else scaled,)


def _fit_standard(encoded: Tensor, columns: tuple[Column, ...]) -> tuple[Preparation, tuple[str, ...]]:
    variances, means = torch.var_mean(encoded, dim=0, correction=0)
    varies = encoded.amax(0) > encoded.amin(0)
    variances[~varies] = 0  # which rounding may have hidden
    _refuse_extreme(variances, varies, columns)
    scales = standard_scales(variances, columns)
    owner = column_owners(columns)
    used = torch.zeros(len(columns), dtype=torch.bool).index_fill_(0, owner[scales.isfinite()], True)
    if not used.any():
        raise InputError(
            "No feature column varies, so all rows are the same point: check which columns were given."
        )
    kept = scales.isfinite().nonzero()[:, 0]
    dropped = [column.name for column, is_used in zip(columns, used.tolist(), strict=True) if not is_used]
    preparation = Preparation("standard", columns, kept, means[kept], scales[kept])
    return preparation, _standard_notes(int(used.sum()), dropped)


def column_owners(columns: tuple[Column, ...]) -> Tensor:
    """The index of the raw column that each encoded one comes from, int64."""
    return torch.tensor([index for index, column in enumerate(columns) for _ in column.names])


def gap_marks(columns: tuple[Column, ...]) -> Tensor:
    """Which encoded columns mark missing numbers, bool."""
    marks = [
        k == 1 and isinstance(column, NumericColumn) for column in columns for k in range(len(column.names))
    ]
    return torch.tensor(marks)


def standard_scales(variances: Tensor, columns: tuple[Column, ...], kept: Tensor | None = None) -> Tensor:
    """What each encoded column is divided by under `standard`, √q included; infinite for what is not used.

    Args:
        variances: Of the encoded columns, 0 where one is constant, shape (k,).
        columns: The raw columns.
        kept: Which of their encoded columns these are; all by default.
    """
    kept = torch.arange(len(variances)) if kept is None else kept
    owner, is_mark = column_owners(columns)[kept], gap_marks(columns)[kept]
    zeros = torch.zeros(len(columns), dtype=variances.dtype)
    values = zeros.index_add(0, owner[~is_mark], variances[~is_mark])
    marks = zeros.index_add(0, owner[is_mark], variances[is_mark])
    # One standard deviation of the numbers is as far as present is from missing.
    whole = torch.where(values > 0, 1 + marks, marks).sqrt()
    unit = torch.where(is_mark, torch.ones_like(variances), values.sqrt()[owner])
    num_used = int((values + marks > 0).sum())
    scales = unit * whole[owner] * num_used**0.5
    return torch.where(scales > 0, scales, torch.inf)


def _refuse_extreme(variances: Tensor, varies: Tensor, columns: tuple[Column, ...]) -> None:
    owner = column_owners(columns)
    spreads = torch.zeros(len(columns), dtype=variances.dtype).index_add(0, owner, variances).sqrt().tolist()
    is_spread = torch.zeros(len(columns), dtype=torch.bool).index_fill_(0, owner[varies], True).tolist()
    for column, scale, has_spread in zip(columns, spreads, is_spread, strict=True):
        if has_spread and not 1 / EXTREME < scale < EXTREME:
            raise InputError(
                f"Column {shown(column.name)} spreads over {scale:.0e}, which cannot be standardised in "
                "float64: rescale or drop it."
            )


def _standard_notes(num_used: int, dropped: list[str]) -> tuple[str, ...]:
    constant = (
        f"Dropped {counted(len(dropped), 'column')} that never {'vary' if len(dropped) > 1 else 'varies'}: "
        f"{listed(dropped)}."
    )
    standard = (
        f"{counted(num_used, 'column').capitalize()} standardised and weighted equally to mean squared norm "
        "1, a constant coordinate 1 appended, then each row scaled to norm 1."
    )
    return ((constant,) if dropped else ()) + (standard,)


def _place(encoded: Tensor, preparation: Preparation, numbers: Tensor | None = None) -> Tensor:
    """Apply the numeric part of the map; overwrites `encoded`."""
    if preparation.kind != "standard":
        return encoded if preparation.kind == "raw" else _on_sphere(encoded, numbers)
    placed = encoded.new_ones(len(encoded), len(preparation.kept) + 1)
    features = placed[:, :-1]
    features.copy_(encoded[:, preparation.kept])
    features.sub_(preparation.means).div_(preparation.scales)
    return _on_sphere(placed, numbers)


def _on_sphere(points: Tensor, numbers: Tensor | None) -> Tensor:
    """Scale rows to norm 1, in place, whatever their size."""
    peaks = torch.linalg.vector_norm(points, ord=torch.inf, dim=1, keepdim=True)
    zero = (peaks[:, 0] == 0).nonzero()
    if len(zero):
        others = f" (and {counted(len(zero) - 1, 'row')} more)" if len(zero) > 1 else ""
        first = int(zero[0]) + 1 if numbers is None else int(numbers[int(zero[0])])
        raise InputError(
            f"Row {first}{others} is all zeros and has no direction, so it cannot be scaled to "
            "norm 1: remove it, or set `prepare=standard`."
        )
    extreme = ((peaks > EXTREME) | (peaks < 1 / EXTREME))[:, 0]
    if extreme.any():
        points[extreme] /= peaks[extreme]
    return points.div_(torch.linalg.vector_norm(points, dim=1, keepdim=True))
