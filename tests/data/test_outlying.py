import numpy as np
import pytest

import widenet
from widenet.data.outlying import FEWEST_ROWS, ROWS_PER_OUTLYING, find_outlying


def numbers(n: int, **outlying: float) -> widenet.Dataset:
    """Rows whose targets are about 100, but for some of them."""
    draws = np.random.default_rng(0)
    X = draws.normal(size=(n, 3))
    y = 100 + X[:, 0] + draws.normal(size=n)
    for row, value in outlying.items():
        y[int(row[3:]) - 1] = value
    return widenet.load(X, y)


def test_a_target_that_drowns_the_others_is_named():
    found = find_outlying(numbers(300, row18=100_000.0))
    assert found.rows == (18,)
    assert 0.99 < found.share < 1


def test_as_few_as_have_most_of_the_variance_are_named_the_farthest_first():
    found = find_outlying(numbers(3 * ROWS_PER_OUTLYING, row7=10_000.0, row70=-11_000.0, row8=9_000.0))
    assert found.rows == (70, 7)
    assert 0.7 < found.share < 0.8


def test_many_rows_do_not_outlie():
    assert find_outlying(numbers(300)).rows == ()
    three = dict.fromkeys(("row1", "row2", "row3"), 5_000.0)
    assert find_outlying(numbers(300, **three)).rows == ()


def test_the_share_is_of_the_variance():
    data = numbers(300, row18=1_000.0)
    squares = (data.Y - data.Y.mean(0)).square()
    assert find_outlying(data).share == pytest.approx(float(squares[17] / squares.sum()))


def test_few_rows_have_none():
    assert find_outlying(numbers(FEWEST_ROWS, row3=10_000.0)).rows == (3,)
    assert find_outlying(numbers(FEWEST_ROWS - 1, row3=10_000.0)).rows == ()


def test_classes_have_none():
    assert find_outlying(widenet.load("digits")).rows == ()
