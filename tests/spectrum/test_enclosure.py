import itertools
import math
from fractions import Fraction

import pytest
import torch
from mpmath import mp

from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.spectrum.bounded import BoundedGram
from widenet.spectrum.enclosure import (
    Enclosure,
    bounded_residual,
    complexity_ends,
    enclose,
    is_provable,
    proved_floor,
)
from widenet.testing import exact_h_infinity, rows_that_nearly_meet, unit_rows

H_INFINITY = kernel_by_name("relu2-hidden")


def exact_quadratics(X, Y):
    """Every yᵀH∞⁻¹y in the digits that mpmath is set to."""
    H = exact_h_infinity(X)
    columns = [mp.matrix([mp.mpf(value) for value in column]) for column in Y.T.tolist()]
    return [(column.T * mp.lu_solve(H, column))[0] for column in columns]


def solved(X, Y):
    return torch.cholesky_solve(Y, torch.linalg.cholesky(gram_matrix(H_INFINITY, X)))


def targets(n, *, generator):
    """Signs, numbers, and numbers of very different sizes."""
    signs = torch.randint(2, (n, 1), generator=generator).to(torch.float64) * 2 - 1
    numbers = torch.randn(n, 2, generator=generator, dtype=torch.float64)
    return torch.cat([signs, numbers, 10.0 ** (8 * numbers[:, :1])], dim=1)


CASES = {
    "plane": lambda generator: unit_rows(12, 2, generator=generator),
    "sphere": lambda generator: unit_rows(40, 5, generator=generator),
    "many columns": lambda generator: unit_rows(40, 200, generator=generator),
    "near at 1e-3": lambda generator: rows_that_nearly_meet(10, 6, 1e-3, generator=generator),
    "near at 1e-6": lambda generator: rows_that_nearly_meet(10, 6, 1e-6, generator=generator),
    "near in the plane": lambda generator: rows_that_nearly_meet(4, 2, 1e-6, generator=generator),
}


@pytest.mark.parametrize("case", CASES)
def test_the_exact_value_is_inside_and_the_ends_are_near(case, generator):
    X = CASES[case](generator)
    Y = targets(len(X), generator=generator)
    floor = proved_floor(X)
    found = enclose(X, Y, solved(X, Y), floor)
    with mp.workdps(50):
        exact = exact_quadratics(X, Y)
        for lower, upper, value in zip(found.lower.tolist(), found.upper.tolist(), exact, strict=True):
            assert lower <= value <= upper
        low, high = found.total()
        assert low <= mp.fsum(exact) <= high
    condition = len(X) / floor
    assert bool((found.upper - found.lower <= 1e-14 * condition * found.upper).all())


@pytest.mark.parametrize("scale", [1e150, 1e-150, 1e300, 1e-300, 5e-324])
def test_targets_of_any_size_have_an_enclosure(scale, generator):
    X, y = unit_rows(15, 4, generator=generator), torch.randn(15, 1, generator=generator, dtype=torch.float64)
    Y = scale * y
    found = enclose(X, Y, scale * solved(X, y), proved_floor(X))
    with mp.workdps(50):
        (exact,) = exact_quadratics(X, Y)
        assert found.lower.item() <= exact <= found.upper.item()
        if 1e-300 < exact < 1e300:
            assert found.upper.item() <= found.lower.item() * (1 + 1e-12)


def test_a_column_of_zeros_is_exactly_0(generator):
    X = unit_rows(6, 3, generator=generator)
    zeros = torch.zeros(6, 1, dtype=torch.float64)
    found = enclose(X, zeros, zeros, 0.01)
    assert (found.lower.item(), found.upper.item()) == (0.0, 0.0)


@pytest.mark.parametrize("error", [1e-6, 1e-3, 1.0, 1e6])
def test_a_wrong_solution_gives_wider_ends_that_still_hold(error, generator):
    X = unit_rows(20, 5, generator=generator)
    Y = targets(20, generator=generator)[:, :3]
    alpha = solved(X, Y) + error * torch.randn(20, 3, generator=generator, dtype=torch.float64)
    right, wrong = enclose(X, Y, solved(X, Y), proved_floor(X)), enclose(X, Y, alpha, proved_floor(X))
    assert bool((wrong.lower <= right.upper).all() and (right.lower <= wrong.upper).all())
    assert bool((wrong.upper - wrong.lower > right.upper - right.lower).all())
    with mp.workdps(50):
        for lower, upper, value in zip(wrong.lower, wrong.upper, exact_quadratics(X, Y), strict=True):
            assert float(lower) <= value <= float(upper)


@pytest.mark.parametrize("value", [torch.nan, torch.inf, 1e308])
def test_a_solution_that_is_none_tells_nothing(value, generator):
    X = unit_rows(5, 3, generator=generator)
    Y = torch.ones(5, 1, dtype=torch.float64)
    found = enclose(X, Y, torch.full_like(Y, value), 0.01)
    assert (found.lower.item(), found.upper.item()) == (0.0, math.inf)


def test_without_a_floor_only_the_lower_end_is_known(generator):
    X = unit_rows(20, 5, generator=generator)
    Y = targets(20, generator=generator)
    proved, open_above = enclose(X, Y, solved(X, Y), proved_floor(X)), enclose(X, Y, solved(X, Y), 0.0)
    assert torch.equal(proved.lower, open_above.lower)
    assert bool(open_above.upper.isinf().all())


def test_a_floor_that_is_not_one_breaks_the_upper_end(generator):
    """Why λ₀ must be proved: for α = 0, yᵀH⁻¹y ≤ ‖y‖²/λ₀ is wrong for the last eigenvector and λ₀ > λ_min."""
    X = unit_rows(20, 5, generator=generator)
    eigenvalues, vectors = torch.linalg.eigh(gram_matrix(H_INFINITY, X))
    y, smallest = vectors[:, :1], float(eigenvalues[0])
    assert enclose(X, y, torch.zeros_like(y), 1.5 * smallest).upper.item() < 1 / smallest
    assert enclose(X, y, torch.zeros_like(y), proved_floor(X)).upper.item() >= 1 / smallest


@pytest.mark.parametrize("case", CASES)
def test_residual_is_within_its_error_of_the_exact_one(case, generator):
    X = CASES[case](generator)
    Y = targets(len(X), generator=generator)[:, :3]
    alpha = solved(X, Y)
    residual, errors = bounded_residual(BoundedGram(X), Y, alpha)
    with mp.workdps(60):
        H = exact_h_infinity(X)
        for c in range(3):
            y, x = (mp.matrix([mp.mpf(value) for value in M[:, c].tolist()]) for M in (Y, alpha))
            exact = y - H * x
            for i in range(len(X)):
                assert abs(exact[i] - mp.mpf(residual[i, c].item())) <= errors[i, c].item()


def test_ends_hold_for_every_matrix_that_the_bounds_allow(generator):
    """Moving each entry by its error, with signs that push the value up or down, stays inside."""
    X = unit_rows(30, 10, generator=generator)
    Y = torch.randn(30, 1, generator=generator, dtype=torch.float64)
    alpha = solved(X, Y)
    found = enclose(X, Y, alpha, proved_floor(X))
    (tile,) = BoundedGram(X).tiles()
    with mp.workdps(50):
        y = mp.matrix([mp.mpf(value) for value in Y[:, 0].tolist()])
        for sign in (1, -1):
            push = sign * torch.outer(alpha[:, 0], alpha[:, 0]).sign() * tile.errors
            H = mp.matrix(30, 30)
            for i in range(30):
                for j in range(30):
                    H[i, j] = mp.mpf(tile.values[i, j].item()) + mp.mpf(push[i, j].item())
            assert found.lower.item() <= (y.T * mp.lu_solve(H, y))[0] <= found.upper.item()


def test_tiles_do_not_matter(monkeypatch, generator):
    X = unit_rows(50, 10, generator=generator)
    Y = targets(50, generator=generator)
    alpha = solved(X, Y)
    whole = bounded_residual(BoundedGram(X), Y, alpha)
    monkeypatch.setattr(BoundedGram.tiles, "__defaults__", (16,))
    parts = bounded_residual(BoundedGram(X), Y, alpha)
    assert bool(((whole[0] - parts[0]).abs() <= whole[1] + parts[1]).all())
    torch.testing.assert_close(whole[1], parts[1], rtol=1e-9, atol=0)


@pytest.mark.parametrize("case", CASES)
def test_proved_floor_is_below_the_exact_smallest_eigenvalue(case, generator):
    X = CASES[case](generator)
    with mp.workdps(40):
        smallest = min(mp.eigsy(exact_h_infinity(X), eigvals_only=True))
        assert 0 < proved_floor(X) <= smallest


def test_rows_that_coincide_have_no_floor(generator):
    X = unit_rows(10, 4, generator=generator)
    assert proved_floor(torch.cat([X, X[:2]])) == 0.0


def test_ends_of_the_complexity_are_rounded_outward():
    with mp.workdps(40):
        for q in (1 / 3, 7.1, 1e-12, 12345.678):
            for n in (3, 7, 10_000):
                lower, upper = complexity_ends((q, q), n)
                assert lower <= mp.sqrt(2 * mp.mpf(q) / n) <= upper <= lower * (1 + 1e-14)
    assert complexity_ends((0.0, math.inf), 5) == (0.0, math.inf)


def test_total_is_rounded_outward():
    ends = torch.tensor([0.1] * 10, dtype=torch.float64)
    lower, upper = Enclosure(ends, ends).total()
    with mp.workdps(40):
        assert lower < 10 * mp.mpf(0.1) < upper < lower * (1 + 1e-13)


def test_only_the_kernel_that_was_analysed_is_provable():
    assert is_provable(H_INFINITY)
    assert not any(is_provable(kernel_by_name(name)) for name in ("relu2-all", "relu3-hidden", "gaussian"))


def test_ends_hold_for_every_target_that_may_be_meant(generator):
    """H∞ of orthogonal rows is I/2, so that yᵀH∞⁻¹y = 2‖y‖²."""
    X, Y = torch.eye(3, dtype=torch.float64), torch.randn(3, 2, generator=generator, dtype=torch.float64)
    off = torch.rand(3, 2, generator=generator, dtype=torch.float64) * 10.0 ** torch.tensor([-3, -16])
    found = enclose(X, Y, 2 * Y, 0.49, off)
    for signs in itertools.product((-1, 1), repeat=3):
        meant = Y + torch.tensor(signs)[:, None] * off
        exact = [2 * sum(Fraction(value) ** 2 for value in column) for column in meant.T.tolist()]
        for value, lower, upper in zip(exact, found.lower.tolist(), found.upper.tolist(), strict=True):
            assert Fraction(lower) <= value <= Fraction(upper)
    assert float(found.upper[1]) < float(found.lower[1]) * (1 + 1e-13)
