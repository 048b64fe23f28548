"""Is the target a sum of columns, or another linear function of them, up to rounding?"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lstsq

SPARE_ROWS = 10  # that the function must fit beyond its unknowns; without them least squares fit anything
MOST_COLUMNS = 2000  # least squares take their cube in time
ROWS_PER_COLUMN = 2  # that least squares are made on; what they find is checked on all rows
NEGLIGIBLE = 1e-3  # contributions below this share of the largest are left out at once, where that is enough
FINE = 1e-2  # what rounding may be of the target's spread
STORED = 1e-6  # relative error that storing in float32 leaves, with room
MOST_DECIMALS = 6
RANK = 1e-10  # relative size below which a direction of the columns counts as none


@dataclass(frozen=True)
class LinearFunction:
    """A linear function of some columns.

    Attributes:
        columns: Indices of the columns, shape (k,).
        weights: Of each of them, shape (k,).
        constant: Added to their sum.
    """

    columns: np.ndarray
    weights: np.ndarray
    constant: float

    @property
    def is_sum(self) -> bool:
        """Whether it is the plain sum of several columns."""
        return len(self.columns) > 1 and not self.constant and bool((self.weights == 1).all())

    def misses(self, values: np.ndarray, target: np.ndarray) -> np.ndarray:
        """What it leaves of the target (n,) on rows (n, d)."""
        return target - self.constant - values[:, self.columns] @ self.weights


def find_linear(values: np.ndarray, target: np.ndarray) -> LinearFunction | None:
    """The linear function of few columns of `values` (n, d) that is `target` (n,) up to rounding, if any is.

    >>> values = np.random.default_rng(0).normal(size=(50, 3)).round(2)
    >>> found = find_linear(values, values[:, 0] + values[:, 2])
    >>> found.columns.tolist(), found.is_sum
    ([0, 2], True)
    """
    varying = np.flatnonzero(np.ptp(values, axis=0) > 0) if len(values) else np.arange(0)
    if not 0 < len(varying) <= MOST_COLUMNS or len(target) < len(varying) + 1 + SPARE_ROWS:
        return None
    found = _fitted(values, target, varying)
    return None if found is None else _as_sum(values, target, _with_few(values, target, found))


def _with_few(values: np.ndarray, target: np.ndarray, found: LinearFunction) -> LinearFunction:
    """The function without what it can do without, the smallest contributions first."""
    sizes = _contributions(values, found)
    large = found.columns[sizes > NEGLIGIBLE * sizes.max()]
    found = _fitted(values, target, large) or found
    while len(found.columns) > 1:
        fewer = _fitted(values, target, np.delete(found.columns, _contributions(values, found).argmin()))
        if fewer is None:
            break
        found = fewer
    return found


def _contributions(values: np.ndarray, found: LinearFunction) -> np.ndarray:
    return np.abs(found.weights) * values[:, found.columns].std(0)


def _as_sum(values: np.ndarray, target: np.ndarray, found: LinearFunction) -> LinearFunction:
    """The plain sum of the same columns, if that is the target, too."""
    plain = LinearFunction(found.columns, np.ones(len(found.columns)), 0.0)
    return plain if _is_target(plain, values, target) else found


def _fitted(values: np.ndarray, target: np.ndarray, columns: np.ndarray) -> LinearFunction | None:
    """Least squares on these columns; None where they leave more than rounding."""
    num_rows = min(len(target), ROWS_PER_COLUMN * len(columns) + 1 + 10 * SPARE_ROWS)
    some = np.linspace(0, len(target) - 1, num_rows).astype(int)
    inputs, outputs = values[np.ix_(some, columns)], target[some]
    centres, middle = inputs.mean(0), outputs.mean()
    scales = inputs.std(0)
    scales[scales == 0] = 1.0
    standard = (inputs - centres) / scales
    weights = lstsq(standard, outputs - middle, cond=RANK, lapack_driver="gelsy")[0] / scales
    found = LinearFunction(columns, weights, float(middle - centres @ weights))
    return found if _is_target(found, values, target) else None


def _is_target(found: LinearFunction, values: np.ndarray, target: np.ndarray) -> bool:
    """Whether a function misses the target by no more than rounding, and rounding is little here.

    A target in steps of u and columns in steps of u_j, each off by half a step, leave (u + Σ |w_j| u_j) / 2;
    the weights, fitted to rounded numbers, may leave as much again.
    """
    misses = np.abs(found.misses(values, target))
    middle = np.median(target)
    spread = min(target.std(), np.median(np.abs(target - middle)) + STORED * target.std())
    if np.median(misses) > FINE * spread:
        return False
    steps = np.array([_step(values[:, column]) for column in found.columns])
    rounding = _step(target) + float(np.abs(found.weights) @ steps)
    return bool((misses <= rounding + STORED * np.abs(target) + STORED * spread).all())


def _step(values: np.ndarray) -> float:
    """The decimal step that numbers were rounded to, as in 0.01; 0 where they were not."""
    for decimals in range(MOST_DECIMALS + 1):
        steps = values * 10.0**decimals
        if (np.abs(steps - np.rint(steps)) <= 1e-9 * np.abs(steps) + 1e-9).all():
            return 10.0**-decimals
    return 0.0
