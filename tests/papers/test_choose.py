"""The best of a grid: on test rows, at the last epoch, on validation rows, and at its edge."""

import math

from widenet.papers.choose import GridRun, best_point


def run(rate, test, validation=None):
    return GridRun({"rate": rate}, tuple(test), tuple(validation or test))


def test_best_last_and_validated():
    grid = [
        run(0.1, (3.0, 1.0, 2.5), (3.0, 2.0, 2.5)),
        run(0.2, (4.0, 1.5, 2.0), (4.0, 1.0, 2.0)),
        run(0.5, (5.0, 5.0, 5.0)),
    ]
    point = best_point(7.0, [grid])
    assert point.x == 7.0
    assert point.best == (1.0,)
    assert point.last == (2.0,)  # of another setting than the best epoch's
    assert point.validated == (1.5,)  # where the validation error is 1.0
    assert point.chosen == ({"rate": 0.1},)


def test_a_best_at_the_edge_is_marked():
    inside = [run(0.1, (3.0,)), run(0.2, (1.0,)), run(0.5, (2.0,))]
    outside = [run(0.1, (3.0,)), run(0.2, (2.0,)), run(0.5, (1.0,))]
    assert best_point(0.0, [inside, inside]).at_edge == ()
    assert best_point(0.0, [inside, outside]).at_edge == ("rate",)


def test_zero_and_a_grid_of_one_value_have_no_edge():
    assert best_point(0.0, [[run(0.0, (1.0,)), run(0.1, (2.0,))]]).at_edge == ()
    assert best_point(0.0, [[run(0.1, (1.0,))]]).at_edge == ()


def test_runs_that_diverged_are_infinite_and_missing_ones_are_not_numbers():
    point = best_point(0.0, [[run(0.1, ())], [], [run(0.1, (1.0,))]])
    assert point.best[0] == point.last[0] == point.validated[0] == math.inf
    assert math.isnan(point.best[1])
    assert math.isnan(point.last[1])
    assert point.best[2] == 1.0
