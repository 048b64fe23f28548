import math

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
