from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from widenet.base.errors import InputError
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.predict.loo import (
    SMALL_BLOCK,
    _known,
    estimated_leave_one_out,
    inverse_root,
    leave_one_out,
    left_out_by_probes,
)
from widenet.predict.nearby import nearby_precision, surroundings
from widenet.spectrum.gram import DenseGram
from widenet.spectrum.trace import rademacher
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


@pytest.mark.parametrize("n", [1, SMALL_BLOCK, SMALL_BLOCK + 1, 3 * SMALL_BLOCK])
def test_the_root_inverts_the_matrix_also_where_it_is_made_by_halves(n, generator):
    K = decaying_matrix(n, generator=generator, smallest=0.05)
    root = inverse_root(K, 0.1)
    assert_close(root.T @ root, torch.linalg.inv(K + 0.1 * torch.eye(n, dtype=torch.float64)))
    assert_close(root, root.tril())


def below(A, share, generator):
    """Numbers below diag(A⁻¹) by factors that grow with it, scattered by a share of themselves."""
    C = torch.linalg.inv(A).diagonal()
    scattered = 1 + share * torch.rand(len(A), generator=generator, dtype=torch.float64)
    return C / (1.2 + 0.3 * C / C.max()) / scattered


@pytest.mark.parametrize("share", [0.0, 0.1, 0.6])
def test_estimate_agrees_with_the_closed_form(share, generator):
    n, ridge = 400, 0.5
    K = decaying_matrix(n, generator=generator, smallest=0.05)
    Y = torch.randn(n, 2, generator=generator, dtype=torch.float64)
    exact = leave_one_out(K, Y, ridge)
    nearby = below(K + ridge * torch.eye(n, dtype=torch.float64), share, generator)
    found = estimated_leave_one_out(
        DenseGram(K), Y, ridge, nearby, num_probes=100, rank=40, generator=generator
    )
    deviation = exact.variances / found.variances - 1
    spread = float(deviation.square().mean().sqrt())
    told = float(found.precision_error[0])
    assert spread < 1.4 * told
    assert told < 1.4 * spread or share == 0  # of 400 rows the probes do not tell that nothing is scattered
    assert abs(float(deviation.mean())) < 0.01
    assert spread < {0.0: 0.02, 0.1: 0.06, 0.6: 0.11}[share]
    assert_close(found.predictions, exact.predictions, rtol=0, atol=10 * spread)


def test_it_is_no_worse_than_probes_alone_where_rows_nearby_tell_little(generator):
    A = decaying_matrix(300, generator=generator, smallest=0.05)
    Y = torch.randn(300, 1, generator=generator, dtype=torch.float64)
    probes = torch.randint(2, (300, 400), generator=generator).double() * 2 - 1
    alpha, solved = torch.linalg.solve(A, Y), torch.linalg.solve(A, probes)
    C = torch.linalg.inv(A).diagonal()
    nearby = C / (1 + 3 * torch.rand(300, generator=generator, dtype=torch.float64))
    found = left_out_by_probes(Y, alpha, probes, solved, A.diagonal(), nearby)
    together, alone = (
        float((each / C - 1).norm()) for each in (1 / found.variances, (probes * solved).mean(1))
    )
    assert together < 1.05 * alone


def test_too_few_probes_are_refused(generator):
    K, Y = torch.eye(9, dtype=torch.float64), torch.ones(9, 1, dtype=torch.float64)
    with pytest.raises(InputError, match="`num_probes` is 3, but must be at least 4"):
        estimated_leave_one_out(
            DenseGram(K), Y, 0.1, torch.ones(9), num_probes=3, rank=2, generator=generator
        )


def test_predictions_within_the_error_of_the_precision(generator):
    A = decaying_matrix(30, generator=generator, smallest=0.05)
    Y = torch.randn(30, 2, generator=generator, dtype=torch.float64)
    exact = leave_one_out(A, Y, 0.0)
    assert all(torch.equal(each, exact.predictions) for each in exact.within_error(Y))
    known = replace(exact, precision_error=torch.full((30,), 0.1, dtype=torch.float64))
    for found, factor in zip(known.within_error(Y), (1.1, 0.9), strict=True):
        assert_close(found, Y - torch.linalg.solve(A, Y) * exact.variances[:, None] / factor)


def test_repeated_rows_are_known_as_well_as_others(generator):
    """With D^½KD^½ in place of K, and no ridge, all that is known of a row is the same in its own units."""
    K = decaying_matrix(80, generator=generator, smallest=0.05)
    Y = torch.randn(80, 1, generator=generator, dtype=torch.float64)
    root = torch.randint(1, 5, (80,), generator=generator).double().sqrt()[:, None]
    C = torch.linalg.inv(K).diagonal()
    known = _known(torch.linalg.solve(K, Y), K.diagonal(), C / 2)
    A = root * K * root.T
    repeated = _known(torch.linalg.solve(A, root * Y), A.diagonal(), C / 2 / root[:, 0] ** 2)
    assert_close(repeated, known)


@pytest.mark.parametrize(("num_heavy", "times"), [(1, 300), (10, 30)])
def test_rows_that_repeat_often_are_known_as_well_as_is_told(num_heavy, times):
    """Their samples are far noisier than those of others, and so far away that a fit might follow them."""
    n, kernel, relative, told = 300, kernel_by_name("relu2-hidden"), [], []
    for seed in range(12):
        generator = torch.Generator().manual_seed(seed)
        X = unit_rows(n, 6, generator=generator)
        Y = X[:, :1] + X[:, 1:2] ** 2 + 0.1 * torch.randn(n, 1, generator=generator, dtype=torch.float64)
        heavy = torch.randperm(n, generator=generator)[:num_heavy]
        counts = torch.ones(n, dtype=torch.float64)
        counts[heavy] = times
        root = counts.sqrt()[:, None]
        inverse = torch.linalg.inv(root * gram_matrix(kernel, X) * root.T)
        nearby = nearby_precision(kernel, X, counts, 0.0, surroundings(X))
        probes = rademacher(n, 31, generator=generator, dtype=X.dtype, device=X.device)
        diagonal = counts * kernel.diag(X)
        found = left_out_by_probes(root * Y, inverse @ (root * Y), probes, inverse @ probes, diagonal, nearby)
        relative.append((1 / found.variances / inverse.diagonal() - 1)[heavy])
        told.append(found.precision_error[heavy])
    spread, expected = (float(torch.cat(each).square().mean().sqrt()) for each in (relative, told))
    assert spread < 0.13
    assert spread < 1.4 * expected


def test_an_estimate_is_never_called_exact(generator):
    """Also where the samples of rows happen to differ from their fit by less than their noise."""
    ones = torch.ones(50, 1, dtype=torch.float64)
    samples = 1 + 0.2 * torch.randn(50, 8, generator=generator, dtype=torch.float64)
    samples += 1 - samples.mean(1, keepdim=True)
    found = left_out_by_probes(ones, ones, torch.ones_like(samples), samples, 2 * ones[:, 0], ones[:, 0] / 2)
    assert float(found.precision_error[0]) > 0.005
    assert_close(found.sampling_error, samples.std(1) / 8**0.5)
