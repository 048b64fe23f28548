"""From the runs of a grid to one point: the best on test rows, as the papers show it, and what stands beside.

A choice on test rows is too good; the test error of what validation rows choose stands beside it. A best that
lies at the end of its grid is marked, because a better one may lie outside.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from widenet.papers.curve import Point
from widenet.papers.grid_run import GridRun


def best_point(x: float, grids: Sequence[Sequence[GridRun]]) -> Point:
    """The point of a grid of runs for each seed; a seed without any runs has no numbers, nan."""
    chosen = [_smallest(runs, lambda run: run.test) for runs in grids]
    at_last = [_smallest(runs, lambda run: run.test[-1:]) for runs in grids]
    validated = [_validated(runs) for runs in grids]
    return Point(
        x=x,
        best=tuple(_error(run, runs, slice(None)) for run, runs in zip(chosen, grids, strict=True)),
        last=tuple(_error(run, runs, slice(-1, None)) for run, runs in zip(at_last, grids, strict=True)),
        validated=tuple(test for _, test in validated),
        validation=tuple(validation for validation, _ in validated),
        chosen=tuple({} if run is None else dict(run.tried) for run in chosen),
        at_edge=tuple(sorted(_edges(grids, [run for run in (*chosen, *at_last) if run is not None]))),
    )


def _smallest(runs: Sequence[GridRun], view: Callable[[GridRun], Sequence[float]]) -> GridRun | None:
    """The run with the smallest error in a view of it; None where none has any."""
    seen = [run for run in runs if math.isfinite(_lowest(view(run)))]
    return min(seen, key=lambda run: _lowest(view(run)), default=None)


def _error(run: GridRun | None, runs: Sequence[GridRun], part: slice) -> float:
    """The error of the chosen run: infinite where all runs diverged, nan where there are none."""
    if run is None:
        return math.inf if runs else math.nan
    return _lowest(run.test[part])


def _lowest(errors: Iterable[float]) -> float:
    """The smallest number; a run whose error is none has diverged."""
    return min((error for error in errors if not math.isnan(error)), default=math.inf)


def _validated(runs: Sequence[GridRun]) -> tuple[float, float]:
    """The smallest validation error over settings and epochs, and the test error there."""
    pairs = (pair for run in runs for pair in zip(run.validation, run.test, strict=True))
    missing = math.inf if runs else math.nan
    return min((pair for pair in pairs if not any(map(math.isnan, pair))), default=(missing, missing))


def _edges(grids: Sequence[Sequence[GridRun]], chosen: Sequence[GridRun]) -> Iterator[str]:
    """Names whose chosen value is an end of its grid; 0 is none, because nothing lies beyond it."""
    for name in sorted({name for run in chosen for name in run.tried}):
        tried = {run.tried[name] for runs in grids for run in runs if name in run.tried}
        ends = {min(tried), max(tried)} - {0}
        if len(tried) > 1 and any(run.tried.get(name) in ends for run in chosen):
            yield name
