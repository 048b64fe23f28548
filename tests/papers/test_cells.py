"""Cells: grids of points and seeds, where a trial failed, and where two would be one seed."""

import math

import pytest

from widenet.base.errors import InputError
from widenet.papers.cells import Cell, curves_of, plan_of
from widenet.papers.figure import Done
from widenet.papers.grid_run import GridRun
from widenet.runs.trial import TrialResult


def reading(record):
    return [GridRun({"rate": record["rate"]}, (record["error"],), (record["error"],))]


def cell(curve, x, seed, *rates):
    return Cell(curve, x, seed, tuple({"rate": rate} for rate in rates), reading)


def done(cells, error):
    return [Done(trial, error(trial)) for each in cells for trial in each.trials]


def result(error):
    return lambda trial: TrialResult({"rate": trial["rate"], "error": error * trial["rate"]})


def test_cells_of_a_point_are_its_seeds():
    cells = [
        cell("b", 2, 0, 1, 2),
        cell("b", 2, 1, 3),
        cell("b", 1, 0, 4),
        cell("b", 1, 1, 5),
        cell("a", 1, 0, 6),
    ]
    assert [len(batch) for batch in plan_of(cells)] == [2, 1, 1, 1, 1]
    curves = curves_of(cells, done(cells, result(1.0)))
    assert [curve.name for curve in curves] == ["b", "a"]
    assert [(point.x, point.best) for point in curves[0].points] == [(1, (4.0, 5.0)), (2, (1.0, 3.0))]


def test_a_failed_trial_leaves_no_number_of_its_seed():
    cells = [cell("a", 1, 0, 1, 2), cell("a", 1, 1, 3)]
    failed = done(cells, lambda trial: None if trial["rate"] == 2 else result(1.0)(trial))
    (curve,) = curves_of(cells, failed)
    assert math.isnan(curve.at(1).best[0])
    assert curve.at(1).best[1] == 3.0


def test_two_grids_cannot_be_one_seed():
    cells = [cell("a", 1, 0, 1), cell("a", 1, 0, 2)]
    with pytest.raises(InputError, match="two grids for seed 0"):
        curves_of(cells, done(cells, result(1.0)))
