from fractions import Fraction

import mpmath
import pytest
import torch
from hypothesis import given, settings, strategies as st

from widenet.base.errors import InputError
from widenet.spectrum import cholesky
from widenet.spectrum.cholesky import block_width, cholesky_factor, shift_rounding, smallest_eigenvalue
from widenet.testing import decaying_matrix


def exact_smallest(matrix):
    """λ_min of an integer matrix to 60 digits."""
    with mpmath.workdps(60):
        return min(mpmath.eigsy(mpmath.matrix(matrix.to(torch.int64).tolist()), eigvals_only=True))


def integer_matrix(n, size, seed):
    """B B^T + 1 for an integer B: positive definite, its entries exact, its condition growing with size."""
    B = torch.randint(-size, size + 1, (n, n), generator=torch.Generator().manual_seed(seed))
    return (B @ B.T + torch.eye(n, dtype=torch.int64)).to(torch.float64)


@pytest.fixture
def narrow(monkeypatch):
    """Blocks so narrow that small matrices have many."""
    monkeypatch.setattr(cholesky, "block_width", lambda n: 7)


@pytest.mark.parametrize("size", [1, 100, 10_000, 1_000_000])
@pytest.mark.parametrize("seed", range(3))
def test_the_lower_bound_is_below_the_exact_eigenvalue(size, seed, narrow):
    matrix = integer_matrix(18, size, seed)
    smallest = exact_smallest(matrix)
    found = smallest_eigenvalue(matrix, 18)
    assert found.lower <= smallest
    assert found.lower <= found.value
    rounding = shift_rounding(matrix.diagonal(), 0.0)
    assert found.value == pytest.approx(float(smallest), rel=1e-3, abs=4 * rounding)
    if smallest > 20 * rounding:
        assert found.lower > 0.7 * smallest


def test_a_hilbert_matrix_has_its_known_eigenvalue():
    """The condition number of the scaled integer Hilbert matrix of 8 rows is 1.5e10."""
    n, scale = 8, 360_360
    entries = [[Fraction(scale, i + j + 1) for j in range(n)] for i in range(n)]
    assert all(entry.denominator == 1 for row in entries for entry in row)
    matrix = torch.tensor([[int(entry) for entry in row] for row in entries], dtype=torch.float64)
    smallest = float(exact_smallest(matrix))
    found = smallest_eigenvalue(matrix, n)
    assert 0.7 * smallest < found.lower <= smallest
    assert found.value == pytest.approx(smallest, rel=1e-4)


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 24), st.integers(1, 12), st.integers(1, 10**6), st.integers(0, 2**20))
def test_a_singular_matrix_never_gets_a_positive_bound(n, rank, size, seed):
    rank = min(rank, n - 1)
    B = torch.randint(-size, size + 1, (n, rank), generator=torch.Generator().manual_seed(seed))
    matrix = (B @ B.T).to(torch.float64)  # entries below 2^53: exact, and exactly singular
    found = smallest_eigenvalue(matrix, n)
    assert found.lower == 0.0
    assert 0 <= found.value <= 10 * shift_rounding(matrix.diagonal(), 0.0)


def test_the_formation_error_counts():
    """diag(1, δ) given as diag(1, 2δ) with an error that allows for it has no positive bound."""
    matrix = torch.diag(torch.tensor([1.0, 2e-9], dtype=torch.float64))
    assert smallest_eigenvalue(matrix, 2).lower > 1e-9
    assert smallest_eigenvalue(matrix, 2, formation=2e-9).lower == 0.0


@pytest.mark.parametrize("smallest", [0.041, 0.042, 0.05, 0.1, 0.5])
def test_the_bound_holds_for_every_matrix_that_may_be_meant(smallest):
    """Errors of 0.01 in each entry can move λ_min of [[1, c], [c, 1]] by 0.02, and here they do."""
    matrix = torch.tensor([[1.0, 1.0 - smallest], [1.0 - smallest, 1.0]], dtype=torch.float64)
    meant = matrix - 0.01 * torch.tensor([[1.0, -1.0], [-1.0, 1.0]], dtype=torch.float64)
    assert 0 < smallest_eigenvalue(matrix, 2, formation=0.01).lower <= float(torch.linalg.eigvalsh(meant)[0])


def test_factor_is_the_lower_factor_and_its_operator_the_inverse(narrow, generator):
    matrix = decaying_matrix(40, generator=generator)
    factor = cholesky_factor(lambda a, b, c, d: matrix[a:b, c:d], 40, 1e-4)
    L = torch.zeros(40, 40, dtype=torch.float64)
    for j, panel in enumerate(factor.panels):
        L[7 * j :, 7 * j : 7 * j + panel.shape[1]] = panel
    shifted = matrix - 1e-4 * torch.eye(40, dtype=torch.float64)
    torch.testing.assert_close(L, torch.linalg.cholesky(shifted), rtol=1e-10, atol=1e-10)
    V = torch.randn(40, 3, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(factor.matmul(shifted @ V), V, rtol=1e-7, atol=1e-7)


def test_the_backward_error_is_within_its_bound(generator):
    """‖A − L L^T‖ of an actual factorisation, against `shift_rounding`."""
    matrix = decaying_matrix(300, generator=generator)
    factor = cholesky_factor(lambda a, b, c, d: matrix[a:b, c:d], 300, 0.0)
    L = torch.zeros(300, 300, dtype=torch.float64)
    for j, panel in enumerate(factor.panels):
        start = j * block_width(300)
        L[start:, start : start + panel.shape[1]] = panel
    error = torch.linalg.matrix_norm(L @ L.T - matrix, 2)
    assert error <= shift_rounding(matrix.diagonal(), 0.0)


@pytest.mark.parametrize("estimate", [None, 1e-3, 2e-3, 1.0, 1e-9])
def test_any_estimate_leads_to_a_bound(estimate, generator):
    matrix = decaying_matrix(200, generator=generator, smallest=1e-3)
    found = smallest_eigenvalue(matrix, 200, estimate=estimate)
    assert 0.7e-3 < found.lower <= 1e-3 * (1 + 1e-6)
    assert found.value == pytest.approx(1e-3, rel=1e-3)


def test_progress_runs_to_one(narrow, generator):
    shares = []
    smallest_eigenvalue(decaying_matrix(30, generator=generator), 30, progress=shares.append)
    assert shares[-1] == 1.0
    assert all(0 < share <= 1 for share in shares)


def test_an_indefinite_matrix_is_refused():
    with pytest.raises(ValueError, match="not positive semidefinite"):
        smallest_eigenvalue(torch.diag(torch.tensor([1.0, -1.0], dtype=torch.float64)), 2)


def test_memory_is_asked_for_before_it_is_taken(monkeypatch):
    monkeypatch.setattr("widenet.base.memory.available_bytes", lambda: 2**30)
    with pytest.raises(InputError, match=r"needs about 1[34].* GiB"):
        smallest_eigenvalue(lambda *_: pytest.fail("a tile was formed"), 60_000)
