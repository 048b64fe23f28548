import torch
from torch.testing import assert_close

from widenet.data.points import points_of
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.predict.loo import by_row, estimated_leave_one_out, leave_one_out, with_twins
from widenet.spectrum.gram import DenseGram
from widenet.testing import decaying_matrix, unit_rows


def test_leave_one_out_matches_refitting_without_the_row(generator):
    n, ridge = 12, 0.3
    X = torch.randn(n, 4, generator=generator, dtype=torch.float64)
    Y = torch.randn(n, 2, generator=generator, dtype=torch.float64)
    K = torch.exp(-torch.cdist(X, X))
    result = leave_one_out(K, Y, ridge)
    for i in range(n):
        rest = torch.arange(n) != i
        system = K[rest][:, rest] + ridge * torch.eye(n - 1, dtype=torch.float64)
        weights = torch.linalg.solve(system, K[rest, i])
        assert_close(result.predictions[i], weights @ Y[rest])
        assert_close(result.variances[i], K[i, i] + ridge - weights @ K[rest, i])
    assert_close(K, torch.exp(-torch.cdist(X, X)))  # the Gram matrix is left as it was


def test_estimate_agrees_with_the_closed_form(generator):
    K = decaying_matrix(200, generator=generator, smallest=0.05)
    Y = torch.randn(200, 2, generator=generator, dtype=torch.float64)
    exact = leave_one_out(K, Y, 0.5)
    estimate = estimated_leave_one_out(DenseGram(K), Y, 0.5, num_probes=400, rank=40, generator=generator)
    deviation = (exact.variances / estimate.variances - 1).abs() / estimate.precision_error
    assert (deviation < 5).all()
    assert (
        deviation.median() < 1.2
    )  # the error bars are not too wide either: a normal deviate's median is .67
    assert (estimate.precision_error < 0.2).all()
    torch.testing.assert_close(estimate.predictions, exact.predictions, rtol=0, atol=1.0)


def test_twins_may_tell_of_each_other(generator):
    """Each row predicted by a fit without that row alone, its twins in it, by brute force."""
    points = points_of(torch.tensor([0, 1, 2, 0, 3, 4, 4, 4, 5]))
    X = unit_rows(points.num, 3, generator=generator)
    K = gram_matrix(kernel_by_name("relu3-all"), X)
    rows = K[points.place][:, points.place]
    Y = torch.randn(9, 2, generator=generator, dtype=torch.float64)
    weights = points.counts.sqrt()[:, None]
    apart = by_row(leave_one_out(weights * K * weights.T, weights * points.means(Y), 0.3), points, 0.3)
    found, exact = with_twins(apart, points, Y, 0.3), leave_one_out(rows, Y, 0.3)
    assert_close(found.predictions, exact.predictions)
    assert_close(found.variances, exact.variances)
