import mpmath
import pytest
import torch
from mpmath import mp

from widenet.base.errors import InputError
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.spectrum.bounded import BoundedGram
from widenet.testing import exact_h_infinity, rows_that_nearly_meet, unit_rows


def assembled(gram, tile):
    """All values and errors of a BoundedGram, each of shape (n, n)."""
    values, errors = (torch.full((gram.n, gram.n), torch.nan, dtype=torch.float64) for _ in range(2))
    for each in gram.tiles(tile):
        values[each.rows, each.columns], errors[each.rows, each.columns] = each.values, each.errors
    return values, errors


def largest_excess(X):
    """The largest |value − exact| / error over the pairs of rows, in 50 digits."""
    values, errors = assembled(BoundedGram(X), tile=9)
    with mp.workdps(50):
        exact = exact_h_infinity(X)
        n = len(X)
        return max(
            float(abs(mp.mpf(float(values[i, j])) - exact[i, j]) / mp.mpf(float(errors[i, j])))
            for i in range(n)
            for j in range(n)
            if i != j
        )


@pytest.mark.parametrize("d", [2, 3, 30, 200])
def test_errors_of_random_rows_are_within_their_bounds(d, generator):
    assert 0.01 < largest_excess(unit_rows(25, d, generator=generator)) <= 1


@pytest.mark.parametrize("angle", [1e-2, 1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("d", [2, 20])
def test_errors_of_rows_that_nearly_meet_are_within_their_bounds(angle, d, generator):
    X = rows_that_nearly_meet(8, d, angle, generator=generator)
    assert largest_excess(X) <= 1
    if angle >= 1e-6:
        errors = assembled(BoundedGram(X), tile=9)[1]
        assert float(errors.max()) < 1e-15 + 1e-17 * d / angle


@pytest.mark.parametrize("off", [1e-15, 1e-8, 3e-4])
def test_rows_count_as_directions(off, generator):
    X = unit_rows(10, 6, generator=generator)
    X *= 1 + off * torch.rand(10, 1, generator=generator, dtype=torch.float64)
    assert largest_excess(X) <= 1


def test_pixels_that_are_all_positive_and_many_are_within_their_bounds(generator):
    X = torch.randint(0, 256, (12, 700), generator=generator).to(torch.float64)
    X /= X.norm(dim=1, keepdim=True)
    assert 0.01 < largest_excess(X) <= 1


def test_it_is_the_matrix_of_the_kernel(generator):
    X = rows_that_nearly_meet(40, 7, 1e-3, generator=generator)
    values, errors = assembled(BoundedGram(X), tile=16)
    torch.testing.assert_close(values, gram_matrix(kernel_by_name("relu2-hidden"), X), rtol=0, atol=1e-13)
    assert torch.equal(values, values.T)
    assert torch.equal(errors, errors.T)
    assert torch.equal(values.diagonal(), torch.full((len(X),), 0.5, dtype=torch.float64))


def test_error_norm_is_that_of_the_errors(generator):
    X = rows_that_nearly_meet(30, 5, 1e-7, generator=generator)
    gram = BoundedGram(X)
    norm = float(torch.linalg.matrix_norm(assembled(gram, tile=16)[1], 2))
    assert norm <= gram.error_norm() <= 10 * norm


def test_the_functions_that_bounds_rest_on_have_the_accuracy_they_are_given(generator):
    """The arctangent and 1/‖x‖ − 1 to 4u, the root to 2u."""
    u = mpmath.mpf(2) ** -53
    a = torch.rand(3000, generator=generator, dtype=torch.float64) * 2.0 ** -torch.arange(3000).remainder(60)
    b = torch.rand(3000, generator=generator, dtype=torch.float64)
    e = (a - b) * 1e-3
    found = (torch.atan2(a, b), a.sqrt(), torch.expm1(torch.log1p(e) / -2))
    with mp.workdps(50):
        for x, y, z, angle, root, correction in zip(*(t.tolist() for t in (a, b, e, *found)), strict=True):
            exact = mp.atan2(mp.mpf(x), mp.mpf(y))
            assert abs(angle - exact) <= 4 * u * exact
            assert abs(root - mp.sqrt(mp.mpf(x))) <= 2 * u * mp.sqrt(mp.mpf(x))
            exact = 1 / mp.sqrt(1 + mp.mpf(z)) - 1
            assert abs(correction - exact) <= 4 * u * abs(exact)


def test_other_norms_are_refused(generator):
    with pytest.raises(InputError, match=r"norm 1, but a squared norm is off by 3"):
        BoundedGram(2 * unit_rows(3, 2, generator=generator))
    with pytest.raises(InputError, match="norm 1"):
        BoundedGram(torch.full((2, 2), torch.nan, dtype=torch.float64))
