"""The numbers of a certificate once more, from weights and data alone.

Nothing here is shared with the code that trains and certifies. Everything is float64 by numpy and LAPACK, and
every comparison allows for what rounding can do and for nothing else: u = 2⁻⁵³, γ_m = mu / (1 − mu)
[higham2002accuracy, Lemma 3.1]. Products of matrices are taken to be conventional, each entry the sum of its
products in some order, as in every BLAS that is in use; after Strassen they would have no such bounds.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

UNIT = 2.0**-53
TINY = 2.0**-1022  # the least number with all its digits
LEAST = 2.0**-1074  # the least number: what underflow can lose in an operation
ROOT = 2.0**-511  # √TINY; added to norms, it covers what underflow took from their squares and products
TILE_VALUES = 2**22  # float64 values of a tile of rows, 32 MiB


@dataclass(frozen=True)
class Net:
    """ŷ = Σ_i a_i (w_iᵀz)², a = +1 for the first half of the neurons, −1 for the rest; z = s (Rx)^p or x."""

    W: np.ndarray  # weights, shape (k, r)
    R: np.ndarray | None  # the random layer, shape (k, d); None for two layers
    power: int  # p
    scale: float  # s


@dataclass(frozen=True)
class Fit:
    """How a net fits its targets.

    Attributes:
        residuals: δ_j = ŷ_j − y_j, shape (n,).
        rounding: How far rounding can have moved each of them, shape (n,).
        moved: How far rounding can have moved each z_j ⊗ z_j, in norm, shape (n,); 0 for two layers.
        curvature_norm: ‖M‖ of M = (1/n) Σ δ_j z_j z_jᵀ.
        curvature_slack: How far apart two such norms can be that were computed in different ways.
    """

    residuals: np.ndarray
    rounding: np.ndarray
    moved: np.ndarray
    curvature_norm: float
    curvature_slack: float

    @property
    def norm(self) -> float:
        """‖δ‖, which is √(4n f)."""
        return float(np.linalg.norm(self.residuals))

    @property
    def norm_slack(self) -> float:
        """How far apart two ‖δ‖ can be that were computed in different ways."""
        return 2 * float(np.linalg.norm(self.rounding)) + gamma(len(self.residuals) + 8) * self.norm

    @property
    def largest(self) -> float:
        return float(np.abs(self.residuals).max())


def gamma(m: int) -> float:
    """γ_m, the relative error of m roundings one after the other."""
    return m * UNIT / (1 - m * UNIT)


def distinct_rows(X: np.ndarray) -> np.ndarray:
    """Indices of the rows that are neither an earlier row nor its negative: to an even net those are one."""
    seen: set[bytes] = set()
    kept = []
    for index, row in enumerate(X):
        entries = np.flatnonzero(row)
        upright = -row if len(entries) and row[entries[0]] < 0 else row
        key = hashlib.sha256((upright + 0.0).tobytes()).digest()  # −0.0 and 0.0 are one number
        if key not in seen:
            seen.add(key)
            kept.append(index)
    return np.array(kept)


def features(net: Net, X: np.ndarray) -> np.ndarray:
    """What the trained layer sees, shape (n, k)."""
    if net.R is None:
        return X
    Z = np.empty((len(X), len(net.R)))
    for rows in tiles(len(X), len(net.R)):
        Z[rows] = net.scale * np.power(X[rows] @ net.R.T, net.power)
    return Z


def fit_of(net: Net, X: np.ndarray, Z: np.ndarray, y: np.ndarray) -> Fit:
    """Residuals, what rounding may have done to them, and ‖M‖.

    Args:
        net: The network.
        X: Inputs, shape (n, d).
        Z: Its features on them, shape (n, k).
        y: Targets, shape (n,).
    """
    n, (k, r) = len(y), net.W.shape
    residuals = np.empty(n)
    for rows in tiles(n, r):
        squares = np.square(Z[rows] @ net.W)
        residuals[rows] = squares[:, : r // 2].sum(1) - squares[:, r // 2 :].sum(1) - y[rows]
    norms, errors = np.linalg.norm(Z, axis=1) + ROOT, feature_errors(net, X)
    moved = 2 * norms * errors + errors**2
    # A product (w_iᵀz)² carries 2k + 1 roundings, their sum r more, and Σ_i (|w_i|ᵀ|z|)² ≤ ‖W‖_F² ‖z‖².
    weight = float(np.square(net.W).sum()) + k * r * TINY
    rounding = weight * (gamma(2 * k + r + 16) * norms**2 + moved)
    rounding += UNIT * (np.abs(residuals) + np.abs(y)) + k * r * TINY
    curvature = np.zeros((k, k))
    for rows in tiles(n, k):
        curvature += (Z[rows] * residuals[rows, None]).T @ Z[rows]
    norm = float(np.abs(np.linalg.eigvalsh(curvature / n)).max())
    slack = (
        (2 * rounding * norms**2 + 2 * np.abs(residuals) * moved).mean()
        + 2 * gamma(n + 8) * (np.abs(residuals) * norms**2).mean()
        + 32 * k * UNIT * np.linalg.norm(curvature / n)
    )
    return Fit(residuals, rounding, moved, norm, float(slack))


def feature_errors(net: Net, X: np.ndarray) -> np.ndarray:
    """Bounds on ‖ẑ_j − z_j‖ of the random layer in float64, shape (n,).

    |ẑ_i − z_i| ≤ γ s (‖R_i‖ ‖x‖)^p, and underflow loses at most `LEAST` in each multiplication: in Rx that is
    covered by `ROOT`, in the power and in the scaling it is p s + 1 times as much.
    """
    if net.R is None:
        return np.zeros(len(X))
    (k, d), p, s = net.R.shape, net.power, net.scale
    reach = (np.linalg.norm(net.R, axis=1).max() + ROOT) * (np.linalg.norm(X, axis=1) + ROOT)
    return np.sqrt(k) * (s * (gamma(p * (d + 4) + 16) * reach**p) + 4 * (p * s + 1) * LEAST)


def tiles(n: int, width: int) -> Iterator[slice]:
    """Rows in pieces whose products with `width` columns stay small."""
    step = max(1, TILE_VALUES // width)
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
