"""Regression on landmarks against refitting without a row, and against the kernel itself."""

import pytest
import torch
from torch.testing import assert_close

from widenet.data.points import every_row, points_of
from widenet.kernels import cross_matrix, gram_matrix, kernel_by_name
from widenet.predict import landmarks
from widenet.predict.landmarks import landmark_leave_one_out
from widenet.predict.loo import by_row, leave_one_out
from widenet.testing import unit_rows

RIDGE = 0.2
KERNEL = kernel_by_name("relu3-all")


@pytest.fixture
def rows(generator):
    """Inputs (60, 4) at 45 points, and targets (60, 2)."""
    points = unit_rows(45, 4, generator=generator)
    group = torch.cat([torch.arange(45), torch.randint(45, (15,), generator=generator)])
    return points[group], torch.randn(60, 2, generator=generator).double(), points_of(group)


def fitted(rows, num_landmarks, ridge=RIDGE, **options):
    generator = torch.Generator().manual_seed(1)
    return landmark_leave_one_out(
        KERNEL, *rows, ridge, num_landmarks=num_landmarks, generator=generator, **options
    )


def exactly(rows, ridge=RIDGE):
    """The same with the kernel itself."""
    X, Y, points = rows
    weights = points.counts.sqrt()[:, None]
    K = weights * gram_matrix(KERNEL, X[points.first]) * weights.T
    return by_row(leave_one_out(K, weights * points.means(Y), ridge), points, ridge)


def test_it_is_the_regression_fitted_without_the_point(rows, monkeypatch):
    """A Gaussian process of the points with the features' covariance, and the kernel's on the diagonal."""
    monkeypatch.setattr(landmarks, "BLOCK", 7)
    X, Y, points = rows
    found = fitted(rows, 12)
    inputs, means = X[points.first], points.means(Y)
    places = inputs[torch.randperm(45, generator=torch.Generator().manual_seed(1))[:12]]
    cross = cross_matrix(KERNEL, inputs, places)
    shared = cross @ torch.linalg.solve(gram_matrix(KERNEL, places), cross.T)
    diagonal = KERNEL.diag(inputs)
    covariance = shared.clone()
    covariance.diagonal().copy_(diagonal + RIDGE / points.counts)
    for i in range(60):
        rest, own = torch.arange(45) != points.place[i], int(points.place[i])
        inverse = torch.linalg.inv(covariance[rest][:, rest])
        assert_close(found.loo.predictions[i], shared[own, rest] @ inverse @ means[rest])
        variance = diagonal[own] - shared[own, rest] @ inverse @ shared[rest, own] + RIDGE
        assert_close(found.loo.variances[i], variance)
    missed = (diagonal - shared.diagonal())[points.place].sum() / diagonal[points.place].sum()
    assert found.missed == pytest.approx(float(missed), rel=1e-6)
    assert found.num_landmarks == 12


def test_with_every_point_a_landmark_it_is_the_kernel_itself(rows):
    found, exact = fitted(rows, 1000), exactly(rows)
    assert_close(found.loo.predictions, exact.predictions, rtol=1e-6, atol=1e-7)
    assert_close(found.loo.variances, exact.variances, rtol=1e-6, atol=1e-7)
    assert found.missed < 1e-8
    assert found.num_landmarks == rows[2].num


def test_points_of_very_many_rows(generator):
    """Leverages within 10⁻⁷ of 1, whose distance from it is what counts."""
    place = torch.arange(20).repeat_interleave(20_000)
    X = unit_rows(20, 4, generator=generator)[place]
    Y = torch.randn(len(place), 1, generator=generator).double()
    rows = X, Y, points_of(place)
    found, exact = fitted(rows, 100, ridge=1e-3), exactly(rows, ridge=1e-3)
    assert_close(found.loo.predictions, exact.predictions, rtol=1e-4, atol=1e-6)
    assert_close(found.loo.variances, exact.variances, rtol=1e-4, atol=1e-6)


def test_more_landmarks_come_closer_and_err_more_than_the_kernel(generator):
    X = unit_rows(600, 5, generator=generator)
    Y = (X[:, :1] * X[:, 1:2]).sign() + 0.3 * torch.randn(600, 1, generator=generator).double()
    rows = X, Y, every_row(600)
    exact = float((exactly(rows).predictions - Y).square().mean())
    found = [float((fitted(rows, num).loo.predictions - Y).square().mean()) for num in (40, 160, 400, 600)]
    assert found == sorted(found, reverse=True)
    assert found[-1] == pytest.approx(exact, rel=1e-6)


def test_progress_tells_every_point_twice(rows, monkeypatch):
    monkeypatch.setattr(landmarks, "BLOCK", 20)
    told = []
    fitted(rows, 5, progress=told.append)
    assert told == [20, 40, 45, 65, 85, 90]
