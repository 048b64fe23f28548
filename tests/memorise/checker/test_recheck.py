"""What rounding can do to a fit, against exact arithmetic."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from widenet.memorise.checker.recheck import Net, distinct_rows, feature_errors, features, fit_of


@pytest.mark.parametrize("is_deep", [False, True])
def test_rounding_of_a_fit_covers_exact_arithmetic(is_deep):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9, 4)), rng.normal(size=9)
    R = rng.normal(size=(5, 4)) if is_deep else None
    net = Net(
        100 * rng.normal(size=(5 if is_deep else 4, 12)), R, 3 if is_deep else 1, 0.25 if is_deep else 1.0
    )
    fit = fit_of(net, X, features(net, X), y)
    for j, row in enumerate(X):
        x = [Fraction(value) for value in row]
        z = x
        if R is not None:
            z = [Fraction(0.25) * sum(Fraction(a) * b for a, b in zip(r, x, strict=True)) ** 3 for r in R]
        squares = [sum(Fraction(a) * b for a, b in zip(w, z, strict=True)) ** 2 for w in net.W.T]
        exact = sum(squares[:6]) - sum(squares[6:]) - Fraction(y[j])
        error = abs(float(Fraction(fit.residuals[j]) - exact))
        assert error <= fit.rounding[j]
        assert fit.rounding[j] < 1e-6 * abs(fit.residuals[j])


def test_distinct_rows_up_to_sign():
    X = np.array([[1.0, 2.0], [-1.0, -2.0], [0.0, 3.0], [-0.0, -3.0], [1.0, 2.0], [0.0, 0.0], [-0.0, 0.0]])
    assert distinct_rows(X).tolist() == [0, 2, 5]


def exact_features(net: Net, X: np.ndarray) -> list[list[Fraction]]:
    rows = [[Fraction(value) for value in row] for row in X.tolist()]
    R = [[Fraction(value) for value in row] for row in net.R.tolist()]
    s, p = Fraction(net.scale), net.power
    return [[s * sum(a * b for a, b in zip(r, x, strict=True)) ** p for r in R] for x in rows]


@pytest.mark.parametrize(
    ("size_R", "size_x", "scale", "power"),
    [
        (1.0, 1.0, 0.25, 3),
        (1e3, 1e-6, 1e9, 20),
        (1e-160, 1e-160, 1.0, 1),  # products vanish
        (1.0, 1e-155, 1e300, 2),  # a square vanishes, and is scaled up
        (1e-8, 1.0, 1e200, 40),  # a power vanishes, and is scaled up
        (1.0, 1.0, 1e-322, 2),  # scaling loses digits
        (3.0, 1.0, 1e-321, 40),  # and makes up for a power
    ],
)
def test_errors_of_features_cover_exact_arithmetic(size_R, size_x, scale, power):
    rng = np.random.default_rng(0)
    X, R = size_x * rng.normal(size=(5, 3)), size_R * rng.normal(size=(4, 3))
    net = Net(np.zeros((4, 10)), R, power, scale)
    Z, errors = features(net, X), feature_errors(net, X)
    for row, exact, bound in zip(Z.tolist(), exact_features(net, X), errors.tolist(), strict=True):
        squared = sum((Fraction(here) - there) ** 2 for here, there in zip(row, exact, strict=True))
        assert 0 < squared <= Fraction(bound) ** 2


def test_what_rounding_moves_covers_sigma_of_exact_features():
    """σ_min of the features as computed against that of the exact ones, to 60 digits."""
    rng = np.random.default_rng(1)
    X, R = rng.normal(size=(6, 3)), rng.normal(size=(5, 3))
    X[1] = X[0] + 1e-7 * rng.normal(size=3)
    net = Net(np.zeros((5, 12)), R, 12, 1e-3)
    Z = features(net, X)
    moved = float(np.linalg.norm(fit_of(net, X, Z, np.zeros(6)).moved))

    def sigma(rows: list[list[Fraction]]) -> mpmath.mpf:
        gram = [[sum(a * b for a, b in zip(u, v, strict=True)) ** 2 for v in rows] for u in rows]
        exact = mpmath.matrix([[mpmath.mpf(g.numerator) / g.denominator for g in row] for row in gram])
        return mpmath.sqrt(mpmath.eigsy(exact, eigvals_only=True)[0])

    with mpmath.workdps(60):
        computed = sigma([[Fraction(value) for value in row] for row in Z.tolist()])
        difference = abs(computed - sigma(exact_features(net, X)))
    assert 0 < difference <= moved


def test_two_layers_have_exact_features():
    X = np.random.default_rng(0).normal(size=(4, 3))
    net = Net(np.zeros((3, 8)), None, 1, 1.0)
    assert not feature_errors(net, X).any()
    assert not fit_of(net, X, X, np.ones(4)).moved.any()
