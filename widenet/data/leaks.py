"""Columns that give the target away, found before anything is learned from them.

Any column that has a value of its own in every row determines any target, so that alone is no evidence. A
column is named only where it would not do the same for these targets shuffled among the rows: the share of
shuffles that it would determine as well, times the number of columns, is below `CHANCE`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
from scipy.special import gammaln
from torch import Tensor

from widenet.data.columns import FEW, CategoricalColumn, Column, NumericColumn
from widenet.data.sums import find_linear
from widenet.data.targets import Targets

CHANCE = 1e-4  # share of tables with shuffled targets in which some column may be named
MOST_ROWS = 10_000  # that all columns are searched on; those found are then checked on all rows
LEAST_BLOCK = 5  # rows that must share a class beside each other, or a category, to tell it
NEARLY = 0.01  # share of each class that a column may miss
BETWEEN_TIES = 1e-2  # share of the targets' variance that a rounded copy of them may miss


class LeakKind(Enum):
    """How columns give the target away."""

    COUNTS = "counts the rows"
    SORTED = "grows with the rows, which are sorted by the target"
    DETERMINES = "determines the target"
    ORDERS = "sorts the rows as the target does"
    SUM = "adds up to the target"
    LINEAR = "has the target as a linear function"


@dataclass(frozen=True)
class Leak:
    """Columns that give the target away, or may.

    Attributes:
        kind: How.
        columns: Their names in the table; one, but for sums and linear functions.
        share: Share of the rows whose target they tell; 0 where they only count the rows.
    """

    kind: LeakKind
    columns: tuple[str, ...]
    share: float = 1.0


@dataclass(frozen=True)
class _Target:
    """The target of some rows, as classes or distinct numbers, and as numbers where it is those."""

    rows: np.ndarray  # position of each row in the table, ascending, shape (n,)
    codes: np.ndarray  # index of each row's class or distinct number, shape (n,)
    numbers: np.ndarray | None  # in the user's units, shape (n,); None for classes

    @cached_property
    def ties(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows in the order of their codes, shape (n,), and where each code begins."""
        order = np.argsort(self.codes, kind="stable")
        return order, np.flatnonzero(np.diff(self.codes[order], prepend=-1))

    def __getitem__(self, index: np.ndarray) -> _Target:
        codes = np.unique(self.codes[index], return_inverse=True)[1]
        return _Target(self.rows[index], codes, None if self.numbers is None else self.numbers[index])


def find_leaks(encoded: Tensor, columns: tuple[Column, ...], targets: Targets) -> tuple[Leak, ...]:
    """Columns of a table that give its target away.

    Args:
        encoded: Features as `columns` make numbers of them, in the order of the file, shape (n, encoded).
        columns: How each raw column became numbers.
        targets: The targets of these rows, one number or class each.
    """
    values, target = encoded.numpy(), _target(targets)
    n = len(values)
    some = np.arange(n)
    if n > MOST_ROWS:
        some = np.sort(np.random.default_rng(0).choice(n, MOST_ROWS, replace=False))  # any rows will do
    own = some[_without_copies(values[some], columns, target[some].codes)]
    leaks = _search(values[own], columns, target[own])
    if n <= MOST_ROWS:
        return leaks
    found = {name for leak in leaks for name in leak.columns}
    if not found:
        return ()
    suspected = tuple(column for column in columns if column.name in found)
    is_kept = np.repeat([column in suspected for column in columns], [len(each.names) for each in columns])
    return _search(values[:, is_kept], suspected, target)


def _without_copies(encoded: np.ndarray, columns: tuple[Column, ...], codes: np.ndarray) -> np.ndarray:
    """Indices of the rows that are no copy of an earlier one, target included.

    Copies of a row tell its target with any column, which is no evidence. Rows of a few discrete columns are
    alike without being copies: they count as such only where a column of many numbers repeats with them.
    """
    own = np.sort(np.unique(np.column_stack([encoded, codes]), axis=0, return_index=True)[1])
    widths = [len(column.names) for column in columns]
    numeric = np.repeat([isinstance(column, NumericColumn) for column in columns], widths)
    most = max((len(np.unique(values)) for values in encoded[own][:, numeric].T), default=0)
    return own if most > FEW and 2 * most > len(own) else np.arange(len(encoded))


def _target(targets: Targets) -> _Target:
    rows = np.arange(len(targets.Y))
    if targets.labels is not None:
        return _Target(rows, np.unique(targets.labels.numpy(), return_inverse=True)[1], None)
    numbers = targets.units.in_units(targets.Y)[:, 0].numpy()
    return _Target(rows, np.unique(targets.Y[:, 0].numpy(), return_inverse=True)[1], numbers)


def _search(encoded: np.ndarray, columns: tuple[Column, ...], target: _Target) -> tuple[Leak, ...]:
    """Leaks of single columns, then a linear function of the numeric ones that are none."""
    most = float(np.log(CHANCE / max(len(columns), 1)))  # logarithm of the chance that one column may have
    found: list[Leak] = []
    names: list[str] = []
    places: list[int] = []
    start = 0
    for column in columns:
        stop, leak = start + len(column.names), None
        if isinstance(column, NumericColumn):
            leak = _numeric_leak(column.name, encoded[:, start], target, most)
            if leak is None and stop > start + 1:  # that it is missing may tell the target
                leak = _category_leak(column.name, encoded[:, start + 1].astype(int), target, most)
        elif isinstance(column, CategoricalColumn):
            leak = _category_leak(column.name, encoded[:, start:stop].argmax(1), target, most)
        if leak is not None:
            found.append(leak)
        if isinstance(column, NumericColumn) and (leak is None or leak.kind is LeakKind.COUNTS):
            names.append(column.name)
            places.append(start)
        start = stop
    if target.numbers is not None:
        linear = _linear_leak(names, encoded[:, places], target.numbers)
        found += [] if linear is None else [linear]
    return tuple(found)


def _category_leak(name: str, values: np.ndarray, target: _Target, most: float) -> Leak | None:
    cells = np.unique(values, return_inverse=True)[1]
    told = _told(_majorities(cells, target.codes), target.codes, most)
    return None if told is None else Leak(LeakKind.DETERMINES, (name,), told[0])


def _numeric_leak(name: str, values: np.ndarray, target: _Target, most: float) -> Leak | None:
    distinct, cells = np.unique(values, return_inverse=True)
    if len(distinct) == 1:
        return None
    grows = 2 * len(distinct) > len(values) and _is_monotone(values)
    told = _told(_merged(*_majorities(cells, target.codes)), target.codes, most, merge=True)
    if told is not None:
        share, num_blocks = told
        is_sorted = grows and num_blocks == target.codes.max() + 1
        return Leak(LeakKind.SORTED if is_sorted else LeakKind.DETERMINES, (name,), share)
    if target.numbers is not None and _is_ordered(cells, target, most):
        return Leak(LeakKind.SORTED if grows else LeakKind.ORDERS, (name,))
    first = set((values - target.rows).tolist()) if grows else set()
    if first in ({0.0}, {1.0}) and -gammaln(len(values) + 1) < most:
        return Leak(LeakKind.COUNTS, (name,), 0.0)
    return None


def _is_monotone(values: np.ndarray) -> bool:
    steps = np.diff(values)
    return bool((steps >= 0).all() or (steps <= 0).all())


def _majorities(cells: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The most frequent class of the rows with each value of a column, in its order, and how many have it."""
    num_classes = int(codes.max()) + 1
    pairs, counts = np.unique(cells * num_classes + codes, return_counts=True)
    cell = pairs // num_classes
    order = np.lexsort((counts, cell))
    top = order[np.flatnonzero(np.diff(cell[order], append=-1))]
    return pairs[top] % num_classes, counts[top]


def _merged(classes: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours of the same class as one block."""
    starts = np.flatnonzero(np.diff(classes, prepend=-1))
    return classes[starts], np.add.reduceat(sizes, starts)


def _told(
    blocks: tuple[np.ndarray, np.ndarray], codes: np.ndarray, most: float, *, merge: bool = False
) -> tuple[float, int] | None:
    """The share of rows whose class is told by their block, and the number of blocks.

    None where some class has too many rows outside blocks of its own, or where chance would do the same.

    Args:
        blocks: Class of each block and its number of rows of that class.
        codes: Class of each row, shape (n,).
        most: Logarithm of the largest chance.
        merge: Whether blocks are neighbours, so that those on both sides of a stray row are one.
    """
    counts = np.bincount(codes)
    classes, sizes = blocks
    large = sizes >= np.minimum(LEAST_BLOCK, counts[classes])
    classes, sizes = classes[large], sizes[large]
    kept = np.bincount(classes, weights=sizes, minlength=len(counts))
    if (kept < (1 - NEARLY) * counts).any():
        return None
    if merge:
        classes, sizes = _merged(classes, sizes)
    num_strays = len(codes) - int(sizes.sum())
    if _log_chance(counts, np.bincount(classes, minlength=len(counts)), num_strays) >= most:
        return None
    return 1 - num_strays / len(codes), len(classes)


def _log_chance(counts: np.ndarray, num_blocks: np.ndarray, num_strays: int) -> float:
    """Logarithm of the share of shuffles with as few blocks of each class and as many strays, or a bound.

    There are (Σ b_c)! / Π b_c! orders of the blocks, Π C(n_c − 1, b_c − 1) ways to divide each class among
    its blocks, C(n, e) (c − 1)^e ways to place e strays, and n! / Π n_c! shuffles.
    """
    orders = _log_multinomial(num_blocks) + _log_binomial(counts - 1, num_blocks - 1).sum()
    strays = _log_binomial(counts.sum(), num_strays) + num_strays * np.log(max(len(counts) - 1, 1))
    return float(orders + strays - _log_multinomial(counts))


def _log_multinomial(counts: np.ndarray) -> float:
    return float(gammaln(counts.sum() + 1) - gammaln(counts + 1).sum())


def _log_binomial(n: np.ndarray, k: np.ndarray | int) -> np.ndarray:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def _is_ordered(cells: np.ndarray, target: _Target, most: float) -> bool:
    """Whether the target never falls as a column rises, or never rises, ties being a rounding of either.

    Of n! shuffles, at most 2 Π t! Π m! do so by chance, for ties of t rows in the column and m in the target.
    """
    order, starts = target.ties
    along = cells[order]
    low, high = np.minimum.reduceat(along, starts), np.maximum.reduceat(along, starts)
    if not ((high[:-1] <= low[1:]).all() or (low[:-1] >= high[1:]).all()):
        return False
    ties = gammaln(np.bincount(cells) + 1).sum() + gammaln(np.bincount(target.codes) + 1).sum()
    return bool(np.log(2) + ties - gammaln(len(cells) + 1) < most) and _is_fine(cells, target)


def _is_fine(cells: np.ndarray, target: _Target) -> bool:
    """Whether targets of rows with the same value differ by little more than a rounding."""
    assert target.numbers is not None
    means = np.bincount(cells, weights=target.numbers) / np.bincount(cells)
    return bool(np.square(target.numbers - means[cells]).mean() <= BETWEEN_TIES * target.numbers.var())


def _linear_leak(names: list[str], values: np.ndarray, numbers: np.ndarray) -> Leak | None:
    found = find_linear(values, numbers)
    if found is None:
        return None
    kind = LeakKind.SUM if found.is_sum else LeakKind.LINEAR
    return Leak(kind, tuple(names[index] for index in found.columns))
