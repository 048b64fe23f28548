"""The data set that every part of widenet works on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor

from widenet.data.deciding import LeftOut
from widenet.data.leaks import Leak
from widenet.data.origin import Origin
from widenet.data.prepare import Preparation
from widenet.data.targets import OWN_UNITS, TargetScale, Task

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class UsedColumns:
    """What became of the columns that a person sees in the data.

    Attributes:
        used: Features, by the names that the file gave them; a date or a category is one of them.
        dropped: Columns that are not used, each with the reason.
        imputed: Those of the features that had missing values.
        texts: Those of the features that are text, read by the words or parts of words that rows share.
    """

    used: tuple[str, ...] = ()
    dropped: tuple[LeftOut, ...] = ()
    imputed: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dataset:
    """Inputs as they were prepared, and targets as the columns that a network is asked to fit.

    Attributes:
        name: What the user called it: a built-in name or a file name.
        X: Prepared inputs, float64, shape (n, d); rows of norm 1 unless the preparation is `raw`.
        Y: Targets, float64, shape (n, c): ±1 in one column (binary, +1 for the first class), one-hot columns
            (multiclass), one column of mean 0 and variance 1 (regression on a file), or the columns of a
            concept class in their own units (regression).
        labels: Index of each row's class, int64, shape (n,); None for regression.
        classes: Names of the classes, in the order of their indices; empty for regression.
        task: What is to be learned.
        names: Name of each column of X.
        rows: The number by which the user knows each row (first data row is 1), int64, shape (n,).
        given: The target of each row as the user wrote it, length n; several numbers have commas between.
        images: Pixels to draw each row with, uint8, shape (n, height, width) or (n, height, width, 3);
            None where rows are not images.
        preparation: The map from raw feature rows to X, so that new rows go through the same one.
        provenance: Sentences that tell what was read and which encodings were made.
        target_scale: From Y back to the user's units; the same for a subset of the rows.
        origin: How to load these rows again; None where they did not come from `load`.
        columns: What became of the columns of the data.
        files: The file that each row was read from; empty where they share one.
        leaks: Columns of the file that give its target away; they do so in any subset of the rows, and are
            not looked for in images, in what a concept class draws, and under other labels.
        target: Name of the target's column; empty where it has none.
        cells: Every column of the table as it was read, the target among them, a row for each of these;
            None where rows are no table.
        drawn_from: Rows of the set that these were drawn from at random; None where they are all.
        without_target: Rows that were left out because their target is missing.
    """

    name: str
    X: Tensor
    Y: Tensor
    labels: Tensor | None
    classes: tuple[str, ...]
    task: Task
    names: tuple[str, ...]
    rows: Tensor
    given: tuple[str, ...]
    images: Tensor | None
    preparation: Preparation
    provenance: tuple[str, ...]
    target_scale: TargetScale = OWN_UNITS
    origin: Origin | None = None
    leaks: tuple[Leak, ...] = ()
    columns: UsedColumns = UsedColumns()
    files: tuple[str, ...] = ()
    target: str = ""
    cells: pd.DataFrame | None = None
    drawn_from: int | None = None
    without_target: int = 0

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.X.shape[0]

    @property
    def d(self) -> int:
        """Number of columns of X."""
        return self.X.shape[1]
