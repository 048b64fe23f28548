import torch
from torch.testing import assert_close

from widenet.predict.loo import estimated_leave_one_out, leave_one_out
from widenet.spectrum.gram import DenseGram
from widenet.testing import decaying_matrix


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
