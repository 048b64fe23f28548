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
