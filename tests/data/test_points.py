import itertools
import math
from fractions import Fraction

import torch

from widenet.data.points import every_row, points_of


def test_points_collect_their_rows(generator):
    points = points_of(torch.tensor([0, 1, 0, 3, 1, 0]))
    values = torch.randn(6, 2, generator=generator, dtype=torch.float64)
    assert points.place.tolist() == [0, 1, 0, 2, 1, 0]
    assert points.first.tolist() == [0, 1, 3]
    assert points.counts.tolist() == [3, 2, 1]
    assert (points.num, points.num_repeated) == (3, 3)
    expected = torch.stack([values[[0, 2, 5]].mean(0), values[[1, 4]].mean(0), values[3]])
    torch.testing.assert_close(points.means(values), expected)


def test_without_repeated_rows_the_mean_has_its_usual_error(generator):
    values = torch.randn(50, generator=generator, dtype=torch.float64)
    assert math.isclose(every_row(50).mean_error(values), float(values.std()) / math.sqrt(50))


def test_the_error_of_a_mean_does_not_shrink_when_every_row_is_copied(generator):
    """The true deviation of such means, by drawing them again and again."""
    place = torch.arange(40).repeat(3)
    points = points_of(place)
    draws = torch.randn(4000, 40, generator=generator, dtype=torch.float64).repeat(1, 3)
    errors = torch.tensor([points.mean_error(values) for values in draws[:400]])
    assert math.isclose(float(errors.square().mean().sqrt()), float(draws.mean(1).std()), rel_tol=0.05)


def test_means_are_off_by_less_than_is_told(generator):
    """Also where large targets cancel, against exact fractions."""
    place = torch.cat([torch.arange(4), torch.randint(3, (300,), generator=generator)])
    points = points_of(place)
    values = torch.randn(304, 2, generator=generator, dtype=torch.float64)
    values -= points.means(values)[place]
    means, off = points.means(values), points.rounding_of_means(values)
    for i, c in itertools.product(range(4), range(2)):
        own = [Fraction(value) for value in values[place == i, c].tolist()]
        assert abs(Fraction(float(means[i, c])) - sum(own) / len(own)) <= Fraction(float(off[i, c]))
    assert off[:3].min() > 0
    assert off[3].tolist() == [0, 0]


def test_means_of_signs_that_cancel_are_exact():
    points, signs = points_of(torch.arange(3).repeat(4)), torch.tensor([[1.0], [-1.0]]).double().repeat(6, 1)
    assert points.means(signs).tolist() == [[0.0]] * 3
    assert points.rounding_of_means(signs).tolist() == [[0.0]] * 3
