import pytest
import torch

from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.spectrum.gram import DenseGram, TiledGram
from widenet.testing import unit_rows


@pytest.mark.parametrize("keep_bytes", [0, 40_000, 10**9])
def test_tiled_products_equal_dense_ones(keep_bytes, generator):
    kernel, X = kernel_by_name("relu2-hidden"), unit_rows(130, 7, generator=generator)
    V = torch.randn(130, 3, generator=generator, dtype=torch.float64)
    dense = DenseGram(gram_matrix(kernel, X))
    tiled = TiledGram(kernel, X, keep_bytes=keep_bytes, tile=50)
    torch.testing.assert_close(tiled.matmul(V), dense.matmul(V))
    torch.testing.assert_close(tiled.diag(), dense.diag())
    assert tiled.n == dense.n == 130
    assert tiled.dtype == dense.dtype == torch.float64


@pytest.mark.parametrize("keep_bytes", [0, 20_000, 10**9])
def test_rounded_tiles_take_half_the_memory(keep_bytes, generator):
    kernel, X = kernel_by_name("relu2-hidden"), unit_rows(130, 7, generator=generator)
    V = torch.randn(130, 3, generator=generator, dtype=torch.float64)
    exact = TiledGram(kernel, X, keep_bytes=2 * keep_bytes, tile=50)
    single = TiledGram(kernel, X, keep_bytes=keep_bytes, tile=50, dtype=torch.float32)
    product = exact.matmul(V)
    torch.testing.assert_close(single.matmul(V), product, rtol=1e-5, atol=1e-5)
    assert single.matmul(V).dtype == torch.float64
    assert not torch.equal(single.matmul(V), product)
    assert torch.equal(exact.rounded(torch.float32).matmul(V), single.matmul(V))
    assert exact.dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("p", [1, 2])
def test_dense_products_read_a_symmetric_matrix_right(dtype, p, generator):
    A = torch.randn(60, 60, generator=generator, dtype=dtype)
    matrix, V = A + A.T, torch.randn(60, p, generator=generator, dtype=dtype)
    for held in (matrix, torch.cat([matrix, matrix])[:60], matrix.repeat(1, 2)[:, :60]):
        torch.testing.assert_close(DenseGram(held).matmul(V), matrix @ V)
