"""The map from raw feature rows to inputs, kept so that new rows take the same way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.wording import counted, listed, shown
from widenet.data.columns import Column, encode

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
    that their variances add up to 1. With q columns all of this is divided by √q, so that the feature vector
    z has mean squared norm 1. Then a constant coordinate 1 is appended, and the row (z, 1) is scaled to norm
    1. The constant keeps z and 2z apart on the sphere, and it lets a network without biases shift its
    features. Its size is a choice: a small one would lose the length of z, a large one would crowd all rows
    around one point, where every kernel is close to a constant. At 1 both parts of a typical row weigh the
    same, and typical rows lie 45° from the pole.

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
    rows: Tensor | np.ndarray | pd.DataFrame, columns: tuple[Column, ...], kind: Kind
) -> tuple[Preparation, Tensor, tuple[str, ...]]:
    """Fit the map to rows and apply it to them.

    Returns:
        The map, the prepared rows X of shape (n, d), and sentences that tell what was done.
    """
    encoded = encode(rows, columns)
    preparation, notes = _fit_standard(encoded, columns) if kind == "standard" else _unfitted(columns, kind)
    return preparation, _place(encoded, preparation), notes


def _unfitted(columns: tuple[Column, ...], kind: Kind) -> tuple[Preparation, tuple[str, ...]]:
    width = sum(len(column.names) for column in columns)
    zeros = torch.zeros(width, dtype=torch.float64)
    preparation = Preparation(kind, columns, torch.arange(width), zeros, torch.ones_like(zeros))
    scaled = "Each row was scaled to norm 1; nothing else was changed."
    return preparation, ("Rows were left unchanged." if kind == "raw" else scaled,)


def _fit_standard(encoded: Tensor, columns: tuple[Column, ...]) -> tuple[Preparation, tuple[str, ...]]:
    variances, means = torch.var_mean(encoded, dim=0, correction=0)
    varies = encoded.amax(0) > encoded.amin(0)  # a rounded variance of a constant column need not be 0
    kept, scales, dropped, start = [], [], [], 0
    for column in columns:
        block = range(start, start + len(column.names))
        start = block.stop
        if not varies[block.start : block.stop].any():
            dropped.append(column.name)
            continue
        scale = float(variances[block.start : block.stop].sum().sqrt())
        if not 1 / EXTREME < scale < EXTREME:
            raise InputError(
                f"Column {shown(column.name)} spreads over {scale:.0e}, which cannot be standardised in "
                "float64: rescale or drop it."
            )
        kept += list(block)
        scales += [scale] * len(block)
    num_used = len(columns) - len(dropped)
    if not num_used:
        raise InputError(
            "No feature column varies, so all rows are the same point: check which columns were given."
        )
    index = torch.tensor(kept)
    scaled = torch.tensor(scales, dtype=torch.float64) * num_used**0.5
    return Preparation("standard", columns, index, means[index], scaled), _standard_notes(num_used, dropped)


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


def _place(encoded: Tensor, preparation: Preparation) -> Tensor:
    """Apply the numeric part of the map; overwrites `encoded`."""
    if preparation.kind != "standard":
        return encoded if preparation.kind == "raw" else _on_sphere(encoded)
    placed = encoded.new_ones(len(encoded), len(preparation.kept) + 1)
    features = placed[:, :-1]
    features.copy_(encoded[:, preparation.kept])
    features.sub_(preparation.means).div_(preparation.scales)
    return _on_sphere(placed)


def _on_sphere(points: Tensor) -> Tensor:
    """Scale rows to norm 1, in place, whatever their size."""
    peaks = torch.linalg.vector_norm(points, ord=torch.inf, dim=1, keepdim=True)
    zero = (peaks[:, 0] == 0).nonzero()
    if len(zero):
        others = f" (and {counted(len(zero) - 1, 'row')} more)" if len(zero) > 1 else ""
        raise InputError(
            f"Row {int(zero[0]) + 1}{others} is all zeros and has no direction, so it cannot be scaled to "
            "norm 1: remove it, or set `prepare=standard`."
        )
    extreme = ((peaks > EXTREME) | (peaks < 1 / EXTREME))[:, 0]
    if extreme.any():
        points[extreme] /= peaks[extreme]
    return points.div_(torch.linalg.vector_norm(points, dim=1, keepdim=True))
