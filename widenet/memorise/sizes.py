"""How many rows a net of squares can fit, counted: what can be said before any number is computed."""

from math import comb, isqrt

MANY_ROWS = 8192  # beyond, σ takes too long for a mere choice, and factorisations need an estimate first
MOST_POWER = 64  # of the random layer; rows that need more are too close together for float64
SLACK = 2  # forms for each row: with just as many forms as rows, the smallest singular value is tiny


def num_forms(d: int, degree: int) -> int:
    """Dimension C(d + degree − 1, degree) of the homogeneous polynomials of a degree in d variables."""
    return comb(d + degree - 1, degree)


def default_features(n: int) -> int:
    """The k = 2⌈√n⌉ neurons of the random layer [mild-memorisation, Theorem 5]; then C(k + 1, 2) > 2n."""
    return 2 * (isqrt(n - 1) + 1)


def default_neurons(k: int) -> int:
    """The r = 2k + 2 neurons of the trained layer, the least that Lemma 3 allows."""
    return 2 * k + 2


def smallest_power(n: int, rank: int) -> int | None:
    """The least p ≥ 2 whose forms of degree 2p, in `rank` variables, are at least twice as many as n rows.

    The net of three layers is such a form of x [mild-memorisation, Theorem 6]. At most MOST_POWER; None
    where no power has enough: in one variable there is one form of each degree.
    """
    if rank < 2:
        return 2 if n == 1 else None
    powers = range(2, MOST_POWER + 1)
    return next((p for p in powers if num_forms(rank, 2 * p) >= SLACK * n), MOST_POWER)
