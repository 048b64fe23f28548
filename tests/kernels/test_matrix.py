"""Dense matrices: equal to single tiles, symmetric, with an exact diagonal, positive semi-definite."""

import pytest
import torch

from widenet.base.errors import InputError
from widenet.kernels.classical import RandomFeatures
from widenet.kernels.matrix import cross_matrix, gram_matrix
from widenet.kernels.names import kernel_by_name, kernel_names


@pytest.mark.parametrize("name", kernel_names())
def test_gram_matrix_is_symmetric_psd_and_equals_one_tile(name: str, generator: torch.Generator) -> None:
    rows = torch.nn.functional.normalize(torch.randn(45, 6, dtype=torch.float64, generator=generator))
    kernel = kernel_by_name(name)
    gram = gram_matrix(kernel, rows, tile=16)
    assert torch.equal(gram, gram.T)
    assert torch.equal(gram.diagonal(), kernel.diag(rows))
    torch.testing.assert_close(gram, kernel.tile(rows, rows), rtol=1e-12, atol=1e-14)
    assert float(torch.linalg.eigvalsh(gram)[0]) > -1e-12


def test_diagonal_of_h_infinity_is_one_half_in_float32(generator: torch.Generator) -> None:
    rows = torch.nn.functional.normalize(torch.randn(100, 784, generator=generator))
    assert (gram_matrix(kernel_by_name("relu2-hidden"), rows).diagonal() == 0.5).all()


def test_cross_matrix_equals_one_tile(generator: torch.Generator) -> None:
    X, Z = torch.randn(2, 25, 4, dtype=torch.float64, generator=generator)
    kernel = kernel_by_name("relu3-all")
    torch.testing.assert_close(
        cross_matrix(kernel, X, Z[:20], tile=8), kernel.tile(X, Z[:20]), rtol=1e-12, atol=0
    )


def test_random_features_have_a_gram_matrix_too(generator: torch.Generator) -> None:
    weights = torch.randn(300, 4, dtype=torch.float64, generator=generator)
    kernel = RandomFeatures(lambda X, W: torch.cos(X @ W.T), weights)
    rows = torch.randn(20, 4, dtype=torch.float64, generator=generator)
    features = torch.cos(rows @ weights.T)
    torch.testing.assert_close(gram_matrix(kernel, rows, tile=7), features @ features.T / 300)


@pytest.mark.parametrize("n", [0, 1])
def test_no_rows_and_one_row(n: int) -> None:
    assert gram_matrix(kernel_by_name("relu2-all"), torch.ones(n, 3)).shape == (n, n)


def test_wrong_rows_are_refused() -> None:
    kernel = kernel_by_name("relu2-all")
    with pytest.raises(InputError, match="float32 or float64 matrix"):
        gram_matrix(kernel, torch.ones(3, dtype=torch.float64))
    with pytest.raises(InputError, match="3 and 2 columns"):
        cross_matrix(kernel, torch.ones(4, 3), torch.ones(4, 2))
