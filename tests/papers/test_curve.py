"""Curves: the best of a whole one, where numbers are missing, and lines of reference."""

import math

import pytest

from widenet.base.errors import InputError
from widenet.papers.curve import Curve, Point, least, lowest, reference, series


def point(x, best, **more):
    return Point(x, best, best, **more)


def test_the_lowest_of_a_curve_is_that_of_each_seed():
    found = lowest("a", [point(1, (3.0, 1.0)), point(2, (2.0, 5.0))])
    assert found.best == found.last == (2.0, 1.0)
    assert found.validated == ()


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_missing_number_might_have_been_the_lowest(place):
    points = [point(x, (math.nan if x == place else 1.0, 2.0)) for x in range(3)]
    assert math.isnan(lowest("a", points).best[0])
    assert lowest("a", points).best[1] == 2.0


def test_validation_rows_choose_among_points_too():
    points = [
        point(1, (1.0,), validated=(4.0,), validation=(2.0,)),
        point(2, (3.0,), validated=(5.0,), validation=(1.0,)),
    ]
    assert lowest("a", points).validated == (5.0,)
    assert lowest("a", points).best == (1.0,)


def test_there_must_be_a_point():
    with pytest.raises(InputError, match="a has no points"):
        lowest("a", [])
    with pytest.raises(InputError, match="no point at 3"):
        Curve("a", (point(1, (1.0,)),)).at(3)


def test_series_and_references():
    assert series("a", (1, 2), [(3.0, 4.0), (5.0, 6.0)]).at(2).best == (4.0, 6.0)
    line = reference("b", (5, 1, 3), 2.0, seeds=3)
    assert [each.x for each in line.points] == [1, 5]
    assert line.points[0].best == (2.0, 2.0, 2.0)


def test_least():
    assert least((2.0, 1.0)) == 1.0
    assert math.isnan(least((1.0, math.nan)))
    assert math.isnan(least((math.nan, 1.0)))
