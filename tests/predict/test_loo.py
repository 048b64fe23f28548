import pytest
import torch
from torch.testing import assert_close

from widenet.predict.loo import (
    NUM_SPLITS,
    SMALL_BLOCK,
    estimated_leave_one_out,
    inverse_root,
    leave_one_out,
    left_out_by_probes,
)
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


@pytest.mark.parametrize("n", [1, SMALL_BLOCK, SMALL_BLOCK + 1, 3 * SMALL_BLOCK])
def test_the_root_inverts_the_matrix_also_where_it_is_made_by_halves(n, generator):
    K = decaying_matrix(n, generator=generator, smallest=0.05)
    root = inverse_root(K, 0.1)
    assert_close(root.T @ root, torch.linalg.inv(K + 0.1 * torch.eye(n, dtype=torch.float64)))
    assert_close(root, root.tril())


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


def test_halves_are_the_estimates_of_half_of_the_probes(generator):
    A = decaying_matrix(50, generator=generator, smallest=0.05)
    Y = torch.randn(50, 2, generator=generator, dtype=torch.float64)
    probes = torch.randint(2, (50, 12), generator=generator).double() * 2 - 1
    alpha, solved = torch.linalg.solve(A, Y), torch.linalg.solve(A, probes)
    whole = left_out_by_probes(Y, alpha, probes, solved, A.diagonal())
    halves = list(whole.by_halves(Y))
    assert len(halves) == 2 * NUM_SPLITS
    for half, found in ((slice(0, 6), halves[0]), (slice(6, 12), halves[1]), (slice(2, 8), halves[4])):
        alone = left_out_by_probes(Y, alpha, probes[:, half], solved[:, half], A.diagonal())
        assert_close(found, alone.predictions)
    exact = leave_one_out(A, Y, 0.0)
    for found in exact.by_halves(Y):
        assert torch.equal(found, exact.predictions)
