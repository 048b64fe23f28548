"""σ_min once more: a lower bound proved by a Cholesky factorisation of our own, block by block, in numpy."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from widenet.memorise.checker.recheck import TINY, UNIT, gamma

ACCURACY = 1e-3  # of the value, relative to its distance from τ
NUM_SOLVES = 40  # of Lanczos before it is asked how accurate it is; small matrices are inverted
NARROW, MOST_BLOCKS = 32, 120  # columns of a block at least, and blocks at most


@dataclass(frozen=True)
class Floor:
    """What a factorisation tells of σ_min."""

    proved: bool  # whether σ_min is at least what was claimed
    value: float  # σ_min by Lanczos on the inverse; 0 where the factorisation broke down


def singular_floor(Z: np.ndarray, floor: float) -> Floor:
    """Is the smallest singular value of [z_1 ⊗ z_1, …, z_n ⊗ z_n] at least `floor`?

    G = (ZZᵀ)^{∘2} is its Gram matrix. If a Cholesky factorisation of G − τI ends in floating point, then
    λ_min(G − τI) ≥ −γ_h / (1 − γ_h) tr(G), where no term of a sum in it goes through more than h roundings
    [Rump 2006, "Verification of positive definiteness"]. So τ is taken above floor² by that much, and by what
    rounding does to the entries of G, γ_{2k+2} ‖z_i‖² ‖z_j‖² each. All this is computed for rows that a power
    of two brings to a size of about 1, so that squares neither overflow nor vanish; what underflow can lose
    all the same, n² k² times the least number, is far below n² k TINY. Products are taken to be conventional,
    triangular systems to be solved by substitution, and underflow to be gradual.
    """
    n, k = Z.shape
    exponent = int(np.frexp(np.abs(Z).max())[1])
    Z, floor = np.ldexp(Z, -exponent), float(np.ldexp(floor, -2 * exponent))
    diagonal = np.square(np.square(Z).sum(1))
    bound = gamma(num_roundings(n))
    slack = (bound / (1 - bound) + gamma(2 * k + 2)) * diagonal.sum() + UNIT * diagonal.max()
    slack += 4 * n * (n + k) * TINY
    shift = (1 + 8 * UNIT) * floor * floor + 1.001 * float(slack)  # the rounding of this very line, too
    panels = _factorise(Z, shift)
    if panels is None:
        return Floor(False, 0.0)
    value = np.sqrt(shift + 1 / _largest_of_inverse(panels))
    return Floor(True, float(np.ldexp(value, 2 * exponent)))


def panel_width(n: int) -> int:
    """Columns b of a block: 2b + n/b roundings are fewest at √(n/2), but wide blocks are faster."""
    return max(NARROW, n // MOST_BLOCKS)


def num_roundings(n: int) -> int:
    """The h of `singular_floor`: b in a product, n/b subtractions, b in a substitution, root and division."""
    width = panel_width(n)
    return min(n, 2 * width + -(-n // width)) + 4


def floor_bytes(n: int, k: int) -> int:
    """Memory that `singular_floor` takes: half a matrix, three block columns, and the rows twice."""
    width = panel_width(n)
    return 8 * (n * (n + width) // 2 + 3 * n * width + 2 * n * k)


def _factorise(Z: np.ndarray, shift: float) -> list[np.ndarray] | None:
    """Block columns of L with LLᵀ = G − τI, each from its diagonal block down; None where there is no L."""
    n, width = len(Z), panel_width(len(Z))
    panels: list[np.ndarray] = []
    for start in range(0, n, width):
        size = min(width, n - start)
        panel = np.square(Z[start:] @ Z[start : start + size].T)
        panel[np.diag_indices(size)] -= shift
        for j, earlier in enumerate(panels):
            rows = earlier[start - j * width :]
            panel -= rows @ rows[:size].T
        corner, info = lapack.dpotrf(panel[:size], lower=1)
        if info or not np.isfinite(corner).all():
            return None
        panel[:size] = corner
        if size < len(panel):
            panel[size:] = lapack.dtrtrs(corner, panel[size:].T, lower=1)[0].T
        panels.append(panel)
    return panels


def _largest_of_inverse(panels: list[np.ndarray]) -> float:
    """The largest eigenvalue of (LLᵀ)⁻¹."""
    n = len(panels[0])
    if n <= NUM_SOLVES:
        return float(np.linalg.eigvalsh([_solve(panels, unit) for unit in np.eye(n)])[-1])
    inverse = LinearOperator((n, n), matvec=lambda v: _solve(panels, v.ravel()), dtype=np.float64)
    start = np.random.Generator(np.random.PCG64(0)).standard_normal(n)  # a fixed one makes a check repeatable
    try:
        found = eigsh(inverse, k=1, v0=start, ncv=NUM_SOLVES, tol=ACCURACY, return_eigenvectors=False)
    except ArpackError as error:
        raise np.linalg.LinAlgError(str(error)) from error
    return float(found[0])


def _solve(panels: list[np.ndarray], v: np.ndarray) -> np.ndarray:
    """(LLᵀ)⁻¹ v."""
    x, width = v.copy(), panels[0].shape[1]
    for j, panel in enumerate(panels):
        size, here = panel.shape[1], j * width
        x[here : here + size] = lapack.dtrtrs(panel[:size], x[here : here + size], lower=1)[0]
        x[here + size :] -= panel[size:] @ x[here : here + size]
    for j, panel in reversed(list(enumerate(panels))):
        size, here = panel.shape[1], j * width
        x[here : here + size] -= panel[size:].T @ x[here + size :]
        x[here : here + size] = lapack.dtrtrs(panel[:size], x[here : here + size], lower=1, trans=1)[0]
    return x
