import itertools
import math

import pytest
import torch
from mpmath import mp

from widenet.kernels.names import kernel_by_name
from widenet.spectrum.brackets import bracket, inverse_bracket, residual_bracket
from widenet.spectrum.floor import (
    eigenvalue_floor,
    neighbour_counts,
    product_rounding,
    smallest_sine,
)
from widenet.spectrum.gram import DenseGram, TiledGram
from widenet.spectrum.lanczos import lanczos
from widenet.testing import decaying_matrix, unit_rows


@pytest.mark.parametrize("num_columns", [1, 4])
def test_brackets_hold_at_every_step_and_close(generator, num_columns):
    H = decaying_matrix(120, generator=generator)
    V = torch.randn(120, num_columns, generator=generator, dtype=torch.float64)
    exact = (V * torch.linalg.solve(H, V)).sum(0)
    widths = []
    for num_steps in range(1, 31):
        bounds = inverse_bracket(lanczos(DenseGram(H), V, num_steps=num_steps), floor=5e-4)
        assert (bounds.lower <= exact).all()
        assert (exact <= bounds.upper).all()
        widths.append(bounds.width())
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < (widths[0] if num_columns == 1 else 1e-6)  # four columns fill the space in 30 steps


def test_training_curve_is_bracketed(generator):
    H = decaying_matrix(80, generator=generator)
    y = torch.randn(80, 1, generator=generator, dtype=torch.float64)
    step = torch.eye(80, dtype=torch.float64) - H / torch.linalg.eigvalsh(H)[-1]
    krylov = lanczos(DenseGram(H), y, num_steps=12)
    eta = 1 / torch.linalg.eigvalsh(H)[-1]
    for k in (1, 10, 100, 1000):
        exact = (torch.linalg.matrix_power(step, k) @ y).square().sum()
        bounds = bracket(krylov, lambda x, k=k: (1 - eta * x) ** (2 * k), floor=5e-4)
        assert bounds.lower <= exact * (1 + 1e-12)
        assert exact <= bounds.upper * (1 + 1e-12)


def test_without_a_floor_there_is_no_upper_bound(generator):
    H = decaying_matrix(50, generator=generator)
    y = torch.randn(50, 1, generator=generator, dtype=torch.float64)
    bounds = inverse_bracket(lanczos(DenseGram(H), y, num_steps=5), floor=0.0)
    assert bounds.upper is None
    assert bounds.width() == float("inf")


@pytest.mark.parametrize("smallest", [3e-10, 1e-8, 1e-5])
def test_rounding_is_in_the_lower_bound_of_a_singular_matrix(smallest):
    eigenvalues = torch.logspace(0, math.log10(smallest), 180, dtype=torch.float64)
    H = DenseGram(torch.diag(torch.cat([eigenvalues, torch.zeros(20, dtype=torch.float64)])))
    for seed in range(8):
        V = torch.randn(200, 16, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        V[180:, 0] = 0  # in the range of H
        found = inverse_bracket(lanczos(H, V, num_steps=64), floor=0.0)
        exact = float((V[:180, 0].square() / eigenvalues).sum())
        assert 0.99 * exact < float(found.lower[0]) <= exact


def test_a_numerically_singular_matrix_gets_no_certificate(generator):
    """Such a space looks exhausted once only rounding is left, which tells nothing of vᵀH⁻¹v."""
    X = torch.randn(90, 2, generator=generator, dtype=torch.float64)
    H = torch.exp(-torch.cdist(X, X).square())
    V = torch.randn(90, 3, generator=generator, dtype=torch.float64)
    krylov = lanczos(DenseGram(H), V, num_steps=40)
    bounds = inverse_bracket(krylov, floor=0.0)
    assert bounds.upper is None
    assert (bounds.lower > 0).all()
    assert bounds.lower.isfinite().all()


@pytest.mark.parametrize("off", [0.0, 1e-9, 1e-4, 0.1])
def test_any_solution_gives_bounds_and_a_good_one_narrow_ones(generator, off):
    """Of H∞ as the rows have it, against 40 digits: rounding is part of the bounds."""
    kernel, X = kernel_by_name("relu2-hidden"), unit_rows(14, 6, generator=generator)
    V = torch.randn(14, 3, generator=generator, dtype=torch.float64)
    gram, floor = TiledGram(kernel, X, tile=5), eigenvalue_floor(kernel, X)
    error = product_rounding(kernel, X, smallest_sine(neighbour_counts(X)))
    noise = off * torch.randn(14, 3, generator=generator, dtype=torch.float64)
    Z = torch.linalg.solve(gram.columns(torch.arange(14)), V) + noise
    bounds, exact = residual_bracket(gram, V, Z, floor=floor, error=error), exact_quadratics(X, V)
    for c, value in enumerate(exact):
        assert mp.mpf(float(bounds.lower[c])) <= value <= mp.mpf(float(bounds.upper[c]))
    assert bounds.width() < 1e-11 + 1e3 * off**2
    without = residual_bracket(gram, V, Z, floor=floor, error=0.0)
    assert (without.lower > bounds.lower).all()
    assert (without.upper < bounds.upper).all()


def exact_quadratics(X, V):
    """vᵀH∞⁻¹v of each column, by 40 digits from the rows as they are stored."""
    with mp.workdps(40):
        rows = [mp.matrix(row.tolist()) for row in X]
        rows = [row / mp.norm(row) for row in rows]
        n = len(rows)
        H = mp.matrix(n, n)
        for i in range(n):
            for j in range(n):
                c = mp.mpf(1) if i == j else mp.fdot(rows[i], rows[j])
                H[i, j] = c * (mp.pi - mp.acos(c)) / (2 * mp.pi)
        columns = [mp.matrix(column.tolist()) for column in V.T]
        return [mp.fdot(v, mp.lu_solve(H, v)) for v in columns]


def test_products_are_off_by_less_than_is_allowed_for(generator):
    kernel = kernel_by_name("relu2-hidden")
    for close in (1.0, 1e-2):
        X = unit_rows(9, 5, generator=generator)
        X[-1] = X[0] + close * X[1]
        X[-1] /= X[-1].norm()
        sine = smallest_sine(neighbour_counts(X))
        angles = (X @ X.T).fill_diagonal_(0).clamp(-1, 1).acos().sin()
        assert 0 < sine <= float(angles.min())
        z = torch.randn(9, 1, generator=generator, dtype=torch.float64)
        product = TiledGram(kernel, X, tile=4).matmul(z)[:, 0]
        with mp.workdps(40):
            rows = [mp.matrix(row.tolist()) for row in X]
            rows = [row / mp.norm(row) for row in rows]
            for i, row in enumerate(rows):
                exact = mp.mpf(0)
                for j, other in enumerate(rows):
                    c = mp.mpf(1) if i == j else mp.fdot(row, other)
                    exact += c * (mp.pi - mp.acos(c)) / (2 * mp.pi) * mp.mpf(float(z[j]))
                allowed = product_rounding(kernel, X, sine) * float(z.abs().sum())
                assert abs(mp.mpf(float(product[i])) - exact) <= allowed
        assert product_rounding(kernel, X, sine) < 1e-10


def test_rows_that_count_as_parallel_have_no_sine(generator):
    X = unit_rows(5, 3, generator=generator)
    for last in (X[0], -X[0], X[0] + 1e-6 * X[1]):
        assert smallest_sine(neighbour_counts(torch.cat([X, last[None] / last.norm()]))) == 0.0
    assert smallest_sine(neighbour_counts(X[:1])) == 1.0


@pytest.mark.parametrize("exponent", [-600, -530, 0, 400])
def test_bounds_of_any_size(exponent):
    """H = I/2 and v = (1, 2, 3, 4), for which the bounds are 60 in any unit, also where squares underflow."""
    V = torch.arange(1.0, 5.0, dtype=torch.float64)[:, None] * 2.0**exponent
    half = DenseGram(torch.eye(4, dtype=torch.float64) / 2)
    found = residual_bracket(half, V, 2 * V, floor=0.4, error=1e-16)
    exact = mp.mpf(60) * mp.mpf(4) ** exponent
    assert mp.mpf(float(found.lower)) <= exact
    assert exact <= mp.mpf(float(found.upper))
    zero = residual_bracket(half, 0 * V, 0 * V, floor=0.4, error=1e-16)
    assert float(zero.lower) == float(zero.upper) == 0.0


@pytest.mark.parametrize("value", [torch.nan, torch.inf, 1e308])
def test_a_solution_that_is_none_bounds_nothing(value):
    H, V = DenseGram(torch.eye(2, dtype=torch.float64)), torch.ones(2, 1, dtype=torch.float64)
    found = residual_bracket(H, V, torch.full_like(V, value), floor=0.9, error=0.0)
    assert (found.lower.item(), found.upper.item()) == (0.0, math.inf)


def test_bounds_hold_for_every_vector_that_may_be_meant(generator):
    H = DenseGram(torch.diag(torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)))
    V = torch.randn(3, 1, generator=generator, dtype=torch.float64)
    off = torch.tensor([[1e-3], [1e-2], [0.0]], dtype=torch.float64)
    found = residual_bracket(H, V, V / H.diag()[:, None], floor=0.9, error=0.0, off=off)
    for signs in itertools.product((-1, 1), repeat=3):
        meant = V + torch.tensor(signs)[:, None] * off
        assert float(found.lower) <= float((meant.square() / H.diag()[:, None]).sum()) <= float(found.upper)
