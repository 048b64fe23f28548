"""Figures whose points are the best of a grid: every curve, place and seed is a cell of trials."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from widenet.base.errors import InputError
from widenet.papers.choose import best_point
from widenet.papers.curve import Curve, Style
from widenet.papers.figure import Done
from widenet.papers.grid_run import GridRun
from widenet.runs.trial import Record

Reading = Callable[[Mapping[str, Any]], Sequence[GridRun]]


@dataclass(frozen=True)
class Cell:
    """The grid behind one point of one curve, for one seed.

    Attributes:
        curve: Name of the curve.
        x: Where the point is.
        seed: Which of its numbers this is.
        trials: Its trials, best computed together.
        reading: From the record of a trial to runs of the grid.
        style: Of the curve.
    """

    curve: str
    x: float
    seed: int
    trials: tuple[Record, ...]
    reading: Reading
    style: Style = "line"


def plan_of(cells: Sequence[Cell]) -> list[tuple[Record, ...]]:
    """The plan: a batch for each cell."""
    return [cell.trials for cell in cells]


def curves_of(cells: Sequence[Cell], done: Sequence[Done]) -> list[Curve]:
    """A curve for each name, in the order in which they first occur; cells of one point are its seeds."""
    grids: dict[str, dict[float, dict[int, Sequence[GridRun]]]] = {}
    for cell, runs in zip(cells, _runs(cells, done), strict=True):
        by_seed = grids.setdefault(cell.curve, {}).setdefault(cell.x, {})
        if cell.seed in by_seed:
            raise InputError(f"{cell.curve} has two grids for seed {cell.seed} at {cell.x:g}.")
        by_seed[cell.seed] = runs
    styles = {cell.curve: cell.style for cell in cells}
    return [
        Curve(name, tuple(best_point(x, list(by_x[x].values())) for x in sorted(by_x)), styles[name])
        for name, by_x in grids.items()
    ]


def _runs(cells: Sequence[Cell], done: Sequence[Done]) -> Iterator[Sequence[GridRun]]:
    """The runs of each cell; none where a trial of it failed."""
    results = iter(done)
    for cell in cells:
        records = [next(results).result for _ in cell.trials]
        whole = [each.record for each in records if each is not None]
        yield [run for record in whole for run in cell.reading(record)] if len(whole) == len(records) else ()
