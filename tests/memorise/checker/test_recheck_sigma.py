"""σ_min proved anew, against dense algebra and exact arithmetic."""

import mpmath
import numpy as np
import pytest
from scipy.sparse.linalg import ArpackError

from widenet.memorise.checker import recheck_sigma
from widenet.memorise.checker.recheck_sigma import (
    panel_width,
    quick_ceiling,
    refuting_ceiling,
    singular_ceiling,
    singular_floor,
)


@pytest.mark.parametrize("n", [3, 40, 300])
def test_the_floor_is_proved_right_below_the_smallest_singular_value(n):
    rng = np.random.default_rng(n)
    k = max(4, int(2 * n**0.5))
    Z = rng.normal(size=(n, k))
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    sigma = np.linalg.svd(np.stack([np.kron(z, z) for z in Z]), compute_uv=False)[-1]
    below, above = singular_floor(Z, 0.999 * sigma), singular_floor(Z, 1.001 * sigma)
    assert below.proved
    assert not above.proved
    for found in (below, above):
        assert sigma <= found.upper <= 1.01 * sigma
    assert n == 3 or panel_width(n) < n


def test_the_floor_of_equal_rows_is_nothing():
    Z = np.random.default_rng(0).normal(size=(50, 20))
    Z[7] = Z[3]
    assert not singular_floor(Z, 1e-12).proved
    Z[7] += 1e-9
    assert not singular_floor(Z, 1e-12).proved  # true, but beyond what float64 can prove


def test_a_factorisation_that_ends_proves_its_floor_in_exact_arithmetic():
    """Nearly singular: whatever is proved must be true of the exact matrix of these rows."""
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(8, 5))
    for gap in (1e-3, 1e-5, 1e-6, 1e-7):
        Z[1] = Z[0] + gap * rng.normal(size=5)
        with mpmath.workdps(60):
            rows = mpmath.matrix(Z.tolist())
            gram = (rows * rows.T).apply(lambda value: value**2)
            exact = float(mpmath.sqrt(mpmath.eigsy(gram, eigvals_only=True)[0]))
        for share in (0.5, 0.99, 1.01):
            if singular_floor(Z, share * exact).proved:
                assert share < 1
    assert singular_floor(rng.normal(size=(8, 5)), 1e-3).proved


@pytest.mark.parametrize("size", [1e-150, 1e-80, 1e80, 1e150])
def test_the_size_of_the_rows_changes_nothing_but_the_size(size):
    """Fourth powers of these leave float64's range; σ_min itself does not."""
    Z = np.random.default_rng(0).normal(size=(60, 15))
    sigma = np.linalg.svd(np.stack([np.kron(z, z) for z in Z]), compute_uv=False)[-1]
    below = singular_floor(size * Z, 0.999 * sigma * size**2)
    assert below.proved
    assert sigma * size**2 <= below.upper <= 1.01 * sigma * size**2
    assert not singular_floor(size * Z, 1.001 * sigma * size**2).proved


def test_the_value_where_many_eigenvalues_are_near_the_smallest():
    """G = diag(1 … 2) of 1,200 rows: forty inverse iterations would still be a percent off in λ_min."""
    Z = np.diag(np.linspace(1, 2, 1200) ** 0.25)
    found = singular_floor(Z, 0.1)
    assert found.proved
    assert 1.0 <= found.upper <= 1.005


def test_one_row():
    assert singular_floor(np.array([[3.0, 4.0]]), 24.9).proved
    assert singular_floor(np.array([[3.0, 4.0]]), 24.9).upper == pytest.approx(25.0, rel=2e-3)
    assert not singular_floor(np.array([[3.0, 4.0]]), 25.1).proved
    assert not singular_floor(np.zeros((1, 2)), 1e-9).proved


def test_what_no_solver_settles_is_an_error_that_verifying_tells(monkeypatch):
    def unsettled(*_arguments, **_options):
        raise ArpackError(-9)

    monkeypatch.setattr(recheck_sigma, "eigsh", unsettled)
    with pytest.raises(np.linalg.LinAlgError):
        singular_floor(np.random.default_rng(0).normal(size=(60, 15)), 0.1)


def test_any_vector_bounds_sigma_from_above_in_exact_arithmetic():
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(9, 5))
    Z[1] = Z[0] + 1e-6 * rng.normal(size=5)
    with mpmath.workdps(60):
        rows = mpmath.matrix(Z.tolist())
        gram = (rows * rows.T).apply(lambda value: value**2)
        exact = float(mpmath.sqrt(mpmath.eigsy(gram, eigvals_only=True)[0]))
    pair = np.zeros(9)
    pair[:2] = 1, -1
    for vector in (*np.eye(9), pair, *rng.normal(size=(20, 9))):
        assert singular_ceiling(Z, vector) >= exact
    assert singular_ceiling(Z, pair) < 100 * exact


@pytest.mark.parametrize("n", [30, 200])
def test_rows_that_nearly_repeat_are_refuted_without_a_matrix(n):
    """A claim of a large σ_min must not stand because nobody could hold the matrix."""
    Z = np.random.default_rng(0).normal(size=(n, 20))
    Z[7] = Z[3] + 1e-3
    sigma = np.linalg.svd(np.stack([np.kron(z, z) for z in Z]), compute_uv=False)[-1]
    assert sigma <= refuting_ceiling(Z) < 0.1 * np.square(Z).sum(1).min()


def test_more_rows_than_forms_have_no_sigma():
    assert refuting_ceiling(np.random.default_rng(0).normal(size=(11, 4))) == 0.0  # ten forms of four


def test_the_factorisation_may_stand_on_disk(monkeypatch):
    Z = np.random.default_rng(3).normal(size=(300, 40))
    in_memory = singular_floor(Z, 0.1)
    monkeypatch.setattr(recheck_sigma, "usable_bytes", lambda: 0)
    assert recheck_sigma.has_room(*Z.shape)
    assert singular_floor(Z, 0.1) == in_memory
    assert singular_floor(Z, 1e9).proved is False


def test_a_glance_bounds_sigma_from_above():
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(9, 5)) * np.exp(rng.normal(size=(9, 1)))
    sigma = np.linalg.svd([np.kron(z, z) for z in Z], compute_uv=False)[-1]
    assert sigma <= quick_ceiling(Z) < 1.001 * min(z @ z for z in Z)
    assert quick_ceiling(rng.normal(size=(16, 5))) == 0.0
