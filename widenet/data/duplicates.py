"""Rows that are the same point on the sphere, found without comparing all pairs.

Equal inputs make H∞ singular, and so do many opposite ones, which only its linear term tells apart (parallel
inputs, [fine-grained, Remark 5.1]); equal inputs with different targets cannot be fitted at all.
"""

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import torch
from torch import Tensor

from widenet.data.dataset import Dataset
from widenet.data.points import Points, points_of

COSINE_TOLERANCE = 1e-12
CHORD = (2 * COSINE_TOLERANCE) ** 0.5  # ‖x − z‖² = 2 (1 − cos) on the unit sphere
NUM_DIRECTIONS = 12
MAX_ROUNDS = 32  # enough unless many rows lie within a millionth of each other and are not the same
TILE = 8192


@dataclass(frozen=True)
class Duplicates:
    """Rows of a data set that coincide.

    Attributes:
        groups: Numbers (`Dataset.rows`) of rows that are the same point, a tuple for each such point.
        opposite: Numbers of two rows that are opposite points, the first row of a group standing for all of
            it.
        conflicts: Those of `groups` whose targets differ.
        group: For each row the index of the first row that is the same point, int64, shape (n,).
        unique: Indices of the rows that repeat no earlier one, int64, shape (number of distinct points,).
    """

    groups: tuple[tuple[int, ...], ...]
    opposite: tuple[tuple[int, int], ...]
    conflicts: tuple[tuple[int, ...], ...]
    group: Tensor
    unique: Tensor

    @property
    def points(self) -> Points:
        """The distinct points, those of `unique`."""
        return points_of(self.group)


def find_duplicates(dataset: Dataset) -> Duplicates:
    """Find equal and opposite rows, up to a cosine distance of 1e-12."""
    group = _first_of_same(dataset.X)
    unique = (group == torch.arange(len(group))).nonzero()[:, 0]
    members = _members(group)
    target = dataset.Y if dataset.labels is None else dataset.labels[:, None]
    numbers = dataset.rows.tolist()
    groups = tuple(tuple(numbers[index] for index in rows) for rows in members)
    conflicts = tuple(
        named for rows, named in zip(members, groups, strict=True) if (target[rows] != target[rows[0]]).any()
    )
    opposite = tuple((numbers[i], numbers[j]) for i, j in _opposite_pairs(dataset.X, unique))
    return Duplicates(groups, opposite, conflicts, group, unique)


def _members(group: Tensor) -> list[list[int]]:
    """Rows of each group of at least two, in order."""
    sizes = torch.bincount(group, minlength=len(group))
    found: dict[int, list[int]] = {}
    for row in (sizes[group] > 1).nonzero()[:, 0].tolist():
        found.setdefault(int(group[row]), []).append(row)
    return list(found.values())


def _opposite_pairs(X: Tensor, unique: Tensor) -> list[tuple[int, int]]:
    """Pairs of distinct points x, −x: equal points among the distinct ones and their mirror images."""
    if bool((X >= 0).all()):
        return []
    n = len(unique)
    points = X[unique]
    first = _first_of_same(torch.cat([points, -points]))[n:]  # of a mirror image: the point that it meets
    index = (first < torch.arange(n)).nonzero()[:, 0]
    return list(zip(unique[first[index]].tolist(), unique[index].tolist(), strict=True))


def _first_of_same(X: Tensor) -> Tensor:
    """For each row the index of the first row that is the same point, shape (n,)."""
    segment = torch.from_numpy(_candidates(X))
    group = torch.arange(len(X))
    waiting = _crowded(segment, group)
    group[waiting] = same = _first_of_copies(X, waiting)
    waiting = _crowded(segment, waiting[same == waiting])
    for _ in range(MAX_ROUNDS):
        if not len(waiting):
            break
        # The first waiting row of each segment leads; rows equal to it join it, the others wait for the next
        # round.
        where = segment[waiting]
        leader = torch.full_like(group, len(X)).scatter_reduce(0, where, waiting, "amin")[where]
        joins = _chords(X, waiting, leader) <= CHORD
        group[waiting[joins]] = leader[joins]
        waiting = _crowded(segment, waiting[~joins])
    return group[group]  # of copies: what the first of them has joined


def _first_of_copies(X: Tensor, rows: Tensor) -> Tensor:
    """For each of these rows, in order, the first with the same numbers, however many others are close."""
    first: dict[bytes, int] = {}
    return torch.tensor(
        [
            first.setdefault(blake2b(numbers, digest_size=16).digest(), row)
            for some in rows.split(TILE)
            for row, numbers in zip(some.tolist(), (X[some] + 0.0).numpy(), strict=True)  # no -0.0
        ],
        dtype=torch.int64,
    )


def _candidates(X: Tensor) -> np.ndarray:
    """Segments, shape (n,), such that equal points share one: rows split at gaps along random directions.

    Along a unit direction, points at distance τ are at most τ apart; so where sorted projections leave a
    larger gap, no equal points lie on both sides of it.
    """
    generator = torch.Generator().manual_seed(0)  # any directions will do; fixed ones make a run repeatable
    directions = torch.randn(X.shape[1], NUM_DIRECTIONS, dtype=X.dtype, generator=generator)
    projections = (X @ (directions / directions.norm(dim=0))).numpy()
    segment = np.zeros(len(X), dtype=np.int64)
    for along in projections.T:
        order = np.lexsort((along, segment))
        apart = (np.diff(segment[order]) > 0) | (np.diff(along[order]) > CHORD)
        segment[order] = np.concatenate([[0], np.cumsum(apart)])
    return segment


def _crowded(segment: Tensor, rows: Tensor) -> Tensor:
    """Those of the rows that share their segment with another of them."""
    sizes = torch.bincount(segment[rows], minlength=len(segment))
    return rows[sizes[segment[rows]] > 1]


def _chords(X: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """Distances between rows `left` and `right` of X, tile by tile."""
    tiles = zip(left.split(TILE), right.split(TILE), strict=True)
    return torch.cat([(X[i] - X[j]).norm(dim=1) for i, j in tiles])
