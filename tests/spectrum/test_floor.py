import pytest
import torch

from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.spectrum.floor import cholesky_floor, eigenvalue_floor
from widenet.testing import unit_rows


@pytest.mark.parametrize(
    "name", ["relu2-hidden", "relu3-all", "erf2-all", "gaussian", "laplacian", "resnet3-all"]
)
@pytest.mark.parametrize("d", [3, 30])
def test_floor_is_below_the_smallest_eigenvalue(name, d, generator):
    kernel, X = kernel_by_name(name), unit_rows(150, d, generator=generator)
    smallest = float(torch.linalg.eigvalsh(gram_matrix(kernel, X))[0])
    assert 0 <= eigenvalue_floor(kernel, X, tile=64) <= smallest


def test_floor_is_not_far_below_on_spread_out_rows(generator):
    kernel, X = kernel_by_name("relu2-hidden"), unit_rows(300, 30, generator=generator)
    smallest = float(torch.linalg.eigvalsh(gram_matrix(kernel, X))[0])
    assert eigenvalue_floor(kernel, X) > 0.2 * smallest


def test_parallel_rows_have_no_floor(generator):
    X = unit_rows(20, 5, generator=generator)
    assert eigenvalue_floor(kernel_by_name("relu2-hidden"), torch.cat([X, X[:1]])) == 0.0


def test_a_polynomial_of_low_degree_has_no_floor(generator):
    assert eigenvalue_floor(kernel_by_name("polynomial"), unit_rows(40, 2, generator=generator)) == 0.0


def test_cholesky_floor_certifies_where_rows_are_nearly_parallel(generator):
    kernel, X = kernel_by_name("relu2-hidden"), unit_rows(60, 5, generator=generator)
    close = X[:1] + 1e-5 * unit_rows(1, 5, generator=generator)
    H = gram_matrix(kernel, torch.cat([X, close / close.norm()]))
    smallest = float(torch.linalg.eigvalsh(H)[0])
    assert 0 < cholesky_floor(H) <= smallest


def test_a_singular_matrix_has_no_floor(generator):
    V = torch.randn(30, 10, generator=generator, dtype=torch.float64)
    assert cholesky_floor(V @ V.T) == 0.0
