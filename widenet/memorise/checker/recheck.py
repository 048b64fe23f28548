"""The numbers of a certificate once more, from weights and data alone.

Nothing here is shared with the code that trains and certifies. Everything is computed by numpy and LAPACK,
residuals in extended precision, and what rounding can do is bounded: u = 2⁻⁵³ in float64, γ_m = mu/(1 − mu)
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
EXTENDED = np.longdouble  # 64 bits of precision on most machines, 53 on some; both are bounded as they are
EXTENDED_UNIT = float(np.finfo(EXTENDED).eps) / 2
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
        curvature_slack: How far rounding can have moved it.
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
        """How far rounding can have moved ‖δ‖."""
        return float(np.linalg.norm(self.rounding)) + gamma(len(self.residuals) + 8) * self.norm

    @property
    def largest(self) -> float:
        return float(np.abs(self.residuals).max())


def gamma(m: int, unit: float = UNIT) -> float:
    """γ_m, the relative error of m roundings one after the other."""
    return m * unit / (1 - m * unit)


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


def features(net: Net, X: np.ndarray, dtype: type = np.float64) -> np.ndarray:
    """What the trained layer sees, shape (n, k), computed in a precision."""
    if net.R is None:
        return X.astype(dtype, copy=False)
    R: np.ndarray = net.R.astype(dtype, copy=False)
    Z: np.ndarray = np.empty((len(X), len(R)), dtype=dtype)
    for rows in tiles(len(X), len(R)):
        Z[rows] = net.scale * np.power(X[rows].astype(dtype, copy=False) @ R.T, net.power)
    return Z


def fit_of(net: Net, X: np.ndarray, Z: np.ndarray, y: np.ndarray) -> Fit:
    """Residuals, what rounding may have done to them, and ‖M‖.

    Args:
        net: The network.
        X: Inputs, shape (n, d).
        Z: Its features on them in float64, shape (n, k).
        y: Targets, shape (n,).
    """
    n, k = Z.shape
    residuals, rounding = residuals_of(net, X, y)
    norms, errors = np.linalg.norm(Z, axis=1) + ROOT, feature_errors(net, X)
    moved = 2 * norms * errors + errors**2
    curvature = np.zeros((k, k))
    for rows in tiles(n, k):
        curvature += (Z[rows] * residuals[rows, None]).T @ Z[rows]
    norm = float(np.abs(np.linalg.eigvalsh(curvature / n)).max())
    slack = (
        (rounding * norms**2 + (np.abs(residuals) + rounding) * moved).mean()
        + gamma(n + 8) * (np.abs(residuals) * norms**2).mean()
        + 32 * k * UNIT * np.linalg.norm(curvature / n)
    )
    return Fit(residuals, rounding, moved, norm, 1.001 * float(slack))


def residuals_of(net: Net, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Residuals, shape (n,), and how far each can be from that of exact arithmetic.

    Outputs are zᵀAz with A = Σ_i a_i w_i w_iᵀ, all in `EXTENDED` precision, in which huge neurons of opposite
    signs that cancel leave little behind. A sum over r neurons goes through r + 2 roundings (and one more for
    each piece), a product with z on either side through 2k + 4: zᵀAz is off by at most
    |z|ᵀ (γ_{r+2} |W||W|ᵀ + γ_{2k+4} |A|) |z|, and what moved z moves it by ‖A‖ (2 ‖z‖ e + e²) more.
    """
    (k, r), unit = net.W.shape, EXTENDED_UNIT
    wide = net.W.astype(EXTENDED)
    signed, pieces = wide * np.where(np.arange(r) < r // 2, 1, -1), list(tiles(r, k))
    A = sum((signed[:, some] @ wide[:, some].T for some in pieces), np.zeros((k, k), dtype=EXTENDED))
    sizes = np.abs(net.W) @ np.abs(net.W).T
    slack = (gamma(r + 2 + len(pieces), unit) * sizes + gamma(2 * k + 4, unit) * np.abs(A)).astype(np.float64)
    norm = float(np.linalg.norm(A.astype(np.float64)) + np.linalg.norm(slack))
    errors = feature_errors(net, X, unit)
    residuals, rounding = np.empty(len(y)), np.empty(len(y))
    for rows in tiles(len(y), k):
        Z = features(net, X[rows], EXTENDED)
        residuals[rows] = ((Z @ A) * Z).sum(1) - y[rows]
        near = np.abs(Z.astype(np.float64)) + LEAST
        moved = 2 * (np.linalg.norm(near, axis=1) + ROOT) * errors[rows] + errors[rows] ** 2
        rounding[rows] = ((near @ slack) * near).sum(1) + norm * moved
    rounding = 1.001 * rounding + 2 * UNIT * np.abs(residuals) + 2 * unit * np.abs(y) + net.W.size * TINY
    return residuals, rounding


def feature_errors(net: Net, X: np.ndarray, unit: float = UNIT) -> np.ndarray:
    """Bounds on ‖ẑ_j − z_j‖ of the random layer in a precision of this unit roundoff, shape (n,).

    |ẑ_i − z_i| ≤ γ s (‖R_i‖ ‖x‖)^p, and underflow loses at most `LEAST` in each multiplication: in Rx that is
    covered by `ROOT`, in the power and in the scaling it is p s + 1 times as much.
    """
    if net.R is None:
        return np.zeros(len(X))
    (k, d), p, s = net.R.shape, net.power, net.scale
    reach = (np.linalg.norm(net.R, axis=1).max() + ROOT) * (np.linalg.norm(X, axis=1) + ROOT)
    return np.sqrt(k) * (s * (gamma(p * (d + 4) + 16, unit) * reach**p) + 4 * (p * s + 1) * LEAST)


def tiles(n: int, width: int) -> Iterator[slice]:
    """Rows in pieces whose products with `width` columns stay small."""
    step = max(1, TILE_VALUES // width)
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
