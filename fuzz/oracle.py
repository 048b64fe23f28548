"""What is true of a net of squares on a few rows, in exact arithmetic that shares nothing with the checker.

Floats are fractions, so features, outputs, M and G are exact; only eigenvalues and roots are rounded, to 60
digits.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

import mpmath
import numpy as np

DIGITS = 60
NARROW, VALUE, RECOMPUTED = (
    Fraction(1, 10**6),
    Fraction(1, 100),
    Fraction(1, 10**9),
)  # as docs/memorise.md has them
UNDERFLOW = Fraction(1, 10**300)  # what floats may lose of a bound that is next to nothing
HALF, SHARE = Fraction(1, 2), Fraction(1, 1000)  # what residuals of classes stay below; of numbers, relative

Rows = list[list[Fraction]]


@dataclass(frozen=True)
class Data:
    """Prepared rows X (n, d) without noise, targets y (n,), and whether those are classes."""

    X: np.ndarray
    y: np.ndarray
    is_classes: bool

    def inputs(self, noise: float, seed: int) -> np.ndarray:
        """The rows as a certificate with this noise defines them."""
        if not noise:
            return self.X
        return self.X + noise * np.random.Generator(np.random.PCG64(seed)).standard_normal(self.X.shape)

    @property
    def tolerance(self) -> Fraction:
        """What residuals may be at most."""
        if self.is_classes:
            return HALF
        y = exact(self.y)
        mean = sum(y, Fraction(0)) / len(y)
        variance = sum(((each - mean) ** 2 for each in y), Fraction(0)) / len(y)
        return SHARE * _root(variance) * (1 + RECOMPUTED)


@dataclass(frozen=True)
class Facts:
    """Exact numbers of a net on rows."""

    norm: Fraction  # ‖δ‖
    largest: Fraction  # max |δ_j|
    curvature: Fraction  # ‖M‖
    size: Fraction  # mean of ‖z_j‖²
    sigma: Fraction  # smallest singular value of the distinct z_j ⊗ z_j
    points: int  # distinct rows up to sign


def facts_of(
    W: np.ndarray, R: np.ndarray | None, power: int, scale: float, X: np.ndarray, y: np.ndarray
) -> Facts:
    """The facts of the net W (k, r), R (k, d) on inputs X (n, d) and targets y (n,)."""
    Z = _features(R, power, Fraction(scale), [exact(row) for row in X])
    n, k, columns = len(Z), len(W), [exact(column) for column in W.T]
    half = len(columns) // 2
    A = [[Fraction(0)] * k for _ in range(k)]
    for index, w in enumerate(columns):
        sign = 1 if index < half else -1
        for i in range(k):
            for j in range(k):
                A[i][j] += sign * w[i] * w[j]
    delta = [_dot(z, [_dot(row, z) for row in A]) - t for z, t in zip(Z, exact(y), strict=True)]
    weighted = [[d * each for each in z] for d, z in zip(delta, Z, strict=True)]
    M = [[_dot(left, right) / n for right in zip(*Z, strict=True)] for left in zip(*weighted, strict=True)]
    kept = _distinct(X)
    G = [[_dot(Z[i], Z[j]) ** 2 for j in kept] for i in kept]
    least = min(_eigenvalues(G))
    return Facts(
        norm=_root(_dot(delta, delta)),
        largest=max(map(abs, delta)),
        curvature=max(map(abs, _eigenvalues(M))),
        size=sum((_dot(z, z) for z in Z), Fraction(0)) / n,
        sigma=_root(max(least, Fraction(0))),
        points=len(kept),
    )


def offences(record: dict[str, Any], facts: Facts, data: Data) -> dict[str, float]:
    """How far each claim is from the truth, as a multiple of what it may be off: true below 1, false above.

    `record` is a certificate whose fields are all there, of their types, with sizes that agree.
    """
    n, allowed = record["n"], Fraction(record["tolerance"])
    found = {
        "tolerance": 0.0 if 0 < allowed <= data.tolerance else inf,
        "labels_reproduced": 0.0 if record["labels_reproduced"] else inf,
        "points": 0.0 if record["points"] == facts.points else inf,
        "lambda_min": 0.0 if record["lambda_min"] == -record["curvature_norm"] else inf,
    }
    sizes = [record[name] for name in ("loss", "max_residual", "curvature_norm")]
    found["negative"] = inf if min(*sizes, *record["sigma_min"].values()) < 0 else 0.0
    if max(found.values()) > 1:
        return found
    claimed = _root(4 * n * Fraction(record["loss"]))
    found["labels"] = _ratio(facts.largest, allowed)
    found["loss"] = _apart(claimed, facts.norm, allowed * _root(Fraction(n)))
    found["max_residual"] = _apart(Fraction(record["max_residual"]), facts.largest, allowed)
    found["curvature_norm"] = _apart(
        Fraction(record["curvature_norm"]), facts.curvature, allowed * facts.size
    )
    return found | _sigma_offences(record, facts)


def _sigma_offences(record: dict[str, Any], facts: Facts) -> dict[str, float]:
    value, lower = Fraction(record["sigma_min"]["value"]), Fraction(record["sigma_min"]["lower"])
    found = {}
    if value or lower:
        found["sigma_min.lower"] = _ratio(lower, facts.sigma)
        found["sigma_min.value"] = max(_ratio(abs(value - facts.sigma), VALUE * value), _ratio(lower, value))
    if not lower:
        found["bound"] = 0.0 if record["bound"] is None and record["holds"] is None else inf
        return found
    bound = record["n"] * record["k"] * (Fraction(record["curvature_norm"]) / lower) ** 2 / 4
    if record["bound"] is None or record["holds"] is None:
        return found | {"bound": inf}
    found["bound"] = _ratio(abs(Fraction(record["bound"]) - bound), RECOMPUTED * bound + UNDERFLOW)
    # Lemma 4 is a theorem: only numbers that are a little off can be against it, and may be told either way.
    if Fraction(record["loss"]) > bound:
        return found | {"holds": 1.0}
    return found | {"holds": 0.0 if record["holds"] else inf}
    return found


def inputs_hash(X: np.ndarray) -> str:
    """SHA-256 of rows as docs/memorise.md tells it."""
    return hashlib.sha256(str(X.shape).encode() + X.astype("<f8").tobytes()).hexdigest()


def exact(values: np.ndarray) -> list[Fraction]:
    """Floats as the fractions that they are."""
    return [Fraction(float(value)) for value in values]


def _apart(claimed: Fraction, true: Fraction, scale: Fraction) -> float:
    return _ratio(abs(claimed - true), NARROW * max(true, scale))


def _ratio(part: Fraction, whole: Fraction) -> float:
    if whole == 0:
        return 0.0 if part == 0 else inf
    return float(min(part / whole, Fraction(10**300)))


def _features(R: np.ndarray | None, power: int, scale: Fraction, X: Rows) -> Rows:
    if R is None:
        return X
    directions = [exact(row) for row in R]
    return [[scale * _dot(direction, x) ** power for direction in directions] for x in X]


def _distinct(X: np.ndarray) -> list[int]:
    """Rows that are neither an earlier one nor its negative."""
    kept: list[int] = []
    for index, row in enumerate(X):
        if not any(np.array_equal(row, X[i]) or np.array_equal(row, -X[i]) for i in kept):
            kept.append(index)
    return kept


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def _eigenvalues(matrix: Rows) -> list[Fraction]:
    with mpmath.workdps(DIGITS):
        rounded = mpmath.matrix([[_real(value) for value in row] for row in matrix])
        return [_fraction(value) for value in mpmath.eigsy(rounded, eigvals_only=True)]


def _root(value: Fraction) -> Fraction:
    with mpmath.workdps(DIGITS):
        return _fraction(mpmath.sqrt(_real(value)))


def _real(value: Fraction) -> Any:
    """A fraction in the precision of now."""
    return mpmath.mpf(value.numerator) / value.denominator


def _fraction(value: Any) -> Fraction:
    mantissa, exponent = value.man_exp
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
