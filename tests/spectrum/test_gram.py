import math
from contextlib import contextmanager

import pytest
import torch

from widenet.audit.problem import WeightedGram
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.spectrum.compact import COMPACT_SHARE
from widenet.spectrum.gram import DenseGram, PartOfGram, SizedGram, TiledGram
from widenet.spectrum.panels import Tiles, held_bytes
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
def test_tiles_in_float32_differ_by_their_rounding(keep_bytes, generator):
    kernel, X = kernel_by_name("relu2-hidden"), unit_rows(130, 7, generator=generator)
    V = torch.randn(130, 3, generator=generator, dtype=torch.float64)
    product = TiledGram(kernel, X, keep_bytes=2 * keep_bytes, tile=50).matmul(V)
    single = TiledGram(kernel, X, keep_bytes=keep_bytes, tile=50, dtype=torch.float32)
    torch.testing.assert_close(single.matmul(V), product, rtol=1e-5, atol=1e-5)
    assert single.matmul(V).dtype == torch.float64
    assert single.dtype == torch.float32
    assert not torch.equal(single.matmul(V), product)
    assert torch.equal(single.recomputed().matmul(V), product)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_weighted_columns_are_as_exact_as_they_say(dtype, generator):
    X = unit_rows(50, 7, generator=generator).to(dtype)
    gram = TiledGram(kernel_by_name("relu2-hidden"), X, dtype=torch.float32)
    weighted = WeightedGram(gram, torch.arange(1, 51, dtype=torch.float64).sqrt())
    assert weighted.columns(torch.arange(3)).dtype == gram.columns(torch.arange(3)).dtype == dtype


@pytest.mark.parametrize("keep_bytes", [0, 40_000, 10**9])
def test_threads_change_no_bit_and_hold_no_more(keep_bytes, generator):
    kernel, X = kernel_by_name("relu2-hidden"), unit_rows(700, 7, generator=generator)
    V = torch.randn(700, 5, generator=generator, dtype=torch.float64)
    found = {}
    for num_threads in (1, 3):
        with num_torch_threads(num_threads):
            tiled = TiledGram(kernel, X, keep_bytes=keep_bytes, tile=32)
            found[num_threads] = tiled.matmul(V)
            assert torch.equal(tiled.matmul(V), found[num_threads])
            assert torch.get_num_threads() == num_threads
        assert sum(tile.nbytes for tile in tiled._tiles._kept.values()) <= keep_bytes
    assert torch.equal(found[1], found[3])


@pytest.mark.parametrize("tile", [32, 37])  # of the second, hardly any tile ends where a number may begin
@pytest.mark.parametrize("X_dtype", [torch.float32, torch.float64])
def test_room_for_tiles_changes_no_bit(X_dtype, tile, generator, monkeypatch):
    kernel, X = kernel_by_name("relu3-all"), unit_rows(700, 7, generator=generator).to(X_dtype)
    V = torch.randn(700, 5, generator=generator, dtype=torch.float64)
    computed, compute = [], Tiles.compute
    monkeypatch.setattr(Tiles, "compute", lambda *at: computed.append(at) or compute(*at))
    monkeypatch.setattr("widenet.spectrum.panels.SLAB_BYTES", 10_000)  # so that there are many
    whole, found = held_bytes(700, torch.float32, tile), []
    for share in (1, COMPACT_SHARE, COMPACT_SHARE / 2, 0):
        tiled = TiledGram(kernel, X, keep_bytes=math.ceil(share * whole), tile=tile, dtype=torch.float32)
        found.append(tiled.matmul(V))
        computed.clear()
        assert torch.equal(tiled.matmul(V), found[0])
        assert bool(computed) == (share < COMPACT_SHARE)  # three quarters of float32 are room for all
    assert all(torch.equal(each, found[0]) for each in found)


@pytest.mark.parametrize("keep_bytes", [0, 10**9])
def test_the_layout_of_a_kernels_tiles_changes_no_bit(keep_bytes, generator, monkeypatch):
    kernel, X = kernel_by_name("relu2-hidden"), unit_rows(300, 7, generator=generator)
    V = torch.randn(300, 5, generator=generator, dtype=torch.float64)
    expected = TiledGram(kernel, X, keep_bytes=keep_bytes, tile=37).matmul(V)
    made = type(kernel).tile
    monkeypatch.setattr(type(kernel), "tile", lambda *rows: made(*rows).T.contiguous().T)
    assert torch.equal(TiledGram(kernel, X, keep_bytes=keep_bytes, tile=37).matmul(V), expected)


@contextmanager
def num_torch_threads(num):
    before = torch.get_num_threads()
    torch.set_num_threads(num)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def test_columns_of_every_operator(generator):
    kernel, X = kernel_by_name("relu2-hidden"), unit_rows(130, 7, generator=generator)
    matrix, places = gram_matrix(kernel, X), torch.tensor([3, 77, 129, 50])
    tiled, dense = TiledGram(kernel, X, tile=50), DenseGram(matrix)
    some = torch.randperm(130, generator=generator)[:60]
    weights = 1 + torch.rand(130, generator=generator, dtype=torch.float64)
    for operator, expected in (
        (dense, matrix),
        (tiled, matrix),
        (OnlyProducts(dense), matrix),
        (PartOfGram(tiled, some), matrix[some][:, some]),
        (WeightedGram(tiled, weights), weights[:, None] * matrix * weights),
    ):
        chosen = places % operator.n
        torch.testing.assert_close(operator.columns(chosen), expected[:, chosen])
    assert PartOfGram(tiled, some).recomputed().n == 60
    assert WeightedGram(tiled, weights).recomputed().n == 130
    for operator in (dense, OnlyProducts(dense), PartOfGram(dense, some), WeightedGram(dense, weights)):
        assert operator.recomputed() is None  # nobody knows how the entries were computed


class OnlyProducts(SizedGram):
    """An operator that offers no more than it must."""

    def __init__(self, gram: DenseGram) -> None:
        super().__init__(gram.n, gram.dtype)
        self.matmul, self.diag = gram.matmul, gram.diag


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("p", [1, 2])
def test_dense_products_read_a_symmetric_matrix_right(dtype, p, generator):
    A = torch.randn(60, 60, generator=generator, dtype=dtype)
    matrix, V = A + A.T, torch.randn(60, p, generator=generator, dtype=dtype)
    for held in (matrix, torch.cat([matrix, matrix])[:60], matrix.repeat(1, 2)[:, :60]):
        torch.testing.assert_close(DenseGram(held).matmul(V), matrix @ V)
