from itertools import pairwise

import pytest
import torch
from torch.testing import assert_close

from widenet.spectrum.tridiagonal import block_factor


@pytest.fixture
def blocks(generator):
    """Blocks of sizes that shrink, of a positive definite matrix."""
    sizes = (4, 4, 3, 1)
    draw = [torch.randn(p, p, generator=generator, dtype=torch.float64) for p in sizes]
    diagonal = [A @ A.T + 6 * torch.eye(len(A), dtype=torch.float64) for A in draw]
    below = [torch.randn(q, p, generator=generator, dtype=torch.float64) for p, q in pairwise(sizes)]
    return diagonal, below


def dense(diagonal, below):
    T, at = torch.block_diag(*diagonal), 0
    for block, under in zip(diagonal, below, strict=False):
        end = at + len(block)
        T[end : end + len(under), at:end] = under
        T[at:end, end : end + len(under)] = under.T
        at = end
    return T


def test_products_and_solutions_are_those_of_the_dense_matrix(blocks, generator):
    T, factor = dense(*blocks), block_factor(*blocks)
    V = torch.randn(12, 3, generator=generator, dtype=torch.float64)
    assert_close(factor.matmul(V), T @ V)
    assert_close(factor.solve(V), torch.linalg.solve(T, V))


def test_the_smallest_eigenvalue_and_its_vector(blocks):
    T, factor = dense(*blocks), block_factor(*blocks)
    value, vector = factor.smallest()
    assert value == pytest.approx(float(torch.linalg.eigvalsh(T)[0]), rel=1e-9)
    assert_close(T @ vector, value * vector)
    assert float(vector.norm()) == pytest.approx(1)


def test_one_block_alone(blocks, generator):
    A, V = blocks[0][0], torch.randn(4, 2, generator=generator, dtype=torch.float64)
    assert_close(block_factor([A], []).solve(V), torch.linalg.solve(A, V))


def test_an_indefinite_matrix_has_no_factor(blocks):
    diagonal, below = blocks
    shift = float(torch.linalg.eigvalsh(dense(diagonal, below))[0])
    for share, is_definite in ((0.99, True), (1.01, False)):
        shifted = [A - share * shift * torch.eye(len(A), dtype=torch.float64) for A in diagonal]
        assert (block_factor(shifted, below) is not None) is is_definite
