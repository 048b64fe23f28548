"""σ_min once more, from both sides, in numpy.

From below by a Cholesky factorisation of our own, block by block, on disk where memory is short; from above
by the length that [z_1 ⊗ z_1, …, z_n ⊗ z_n] gives to one vector, which takes no matrix at all.
"""

import shutil
import tempfile
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.linalg import lapack
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, lobpcg

from widenet.base.memory import usable_bytes
from widenet.memorise.checker.recheck import TINY, UNIT, gamma, tiles

ACCURACY = 1e-3  # of the eigenvector that bounds σ_min from above
NUM_SOLVES = 40  # of Lanczos before it is asked how accurate it is; small matrices are inverted
NUM_PRODUCTS = 200  # spent on a vector that bounds σ_min from above where nothing is factorised
NARROW, MOST_BLOCKS = 32, 120  # columns of a block at least, and blocks at most


@dataclass(frozen=True)
class Floor:
    """What a factorisation tells of σ_min."""

    proved: bool  # whether σ_min is at least what was asked
    upper: float  # what σ_min is at most, all rounding counted


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
    with _workplace(n, k) as place:
        panels = _factorise(Z, shift, place)
        proved = panels is not None
        if panels is None:  # it is below the floor, or near it: a smaller shift leads to a vector that tells
            panels = _factorise(Z, 1.001 * float(slack), place)
        vector = _small_vector(Z) if panels is None else _vector_of_inverse(panels)
    return Floor(proved, float(np.ldexp(singular_ceiling(Z, vector), 2 * exponent)))


def singular_ceiling(Z: np.ndarray, vector: np.ndarray) -> float:
    """What σ_min is at most: ‖Σ_j x_j z_j z_jᵀ‖_F / ‖x‖ for a vector x (n,), all rounding counted.

    No entry of the sum goes through more than n + 3 roundings, so it is off by γ Σ |x_j| ‖z_j‖² in norm.
    """
    total = np.zeros((Z.shape[1],) * 2)
    for rows in tiles(len(Z), Z.shape[1]):
        total += (Z[rows] * vector[rows, None]).T @ Z[rows]
    slack = gamma(len(Z) + 3) * float(np.abs(vector) @ np.square(Z).sum(1))
    return 1.001 * (float(np.linalg.norm(total)) + slack) / float(np.linalg.norm(vector))


def quick_ceiling(Z: np.ndarray) -> float:
    """What σ_min is at most at a glance: min ‖z_j‖², or 0 where there are more rows than forms."""
    n, k = Z.shape
    return 0.0 if n > k * (k + 1) // 2 else (1 + gamma(k + 4)) * float(np.square(Z).sum(1).min()) + k * TINY


def refuting_ceiling(Z: np.ndarray) -> float:
    """What σ_min is at most, without a matrix; 0 where there are more rows than forms of k variables."""
    n, k = Z.shape
    return 0.0 if n > k * (k + 1) // 2 else singular_ceiling(Z, _small_vector(Z))


def has_room(n: int, k: int) -> bool:
    """Whether memory, or else a disk, has room for the factorisation."""
    needed = floor_bytes(n, k)
    return needed <= usable_bytes() or 2 * needed <= shutil.disk_usage(tempfile.gettempdir()).free


def _workplace(n: int, k: int) -> "tempfile.TemporaryDirectory[str] | nullcontext[None]":
    """Where the factorisation is held: in memory, or in a temporary folder."""
    return nullcontext() if floor_bytes(n, k) <= usable_bytes() else tempfile.TemporaryDirectory()


def _small_vector(Z: np.ndarray) -> np.ndarray:
    """A vector that G makes short: any will do, the better ones bound σ_min more closely.

    G v = diag(Z (Zᵀ diag(v) Z) Zᵀ) costs nk² and holds no n².
    """
    n = len(Z)

    def product(v: np.ndarray) -> np.ndarray:
        form = (Z * v.reshape(-1, 1)).T @ Z
        return ((Z @ form) * Z).sum(1)

    start = np.random.Generator(np.random.PCG64(0)).standard_normal((n, 1))
    if n <= NUM_SOLVES:
        return np.linalg.eigh(np.square(Z @ Z.T))[1][:, 0]
    gram = LinearOperator((n, n), matvec=product, dtype=np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it need not converge
        return lobpcg(gram, start, largest=False, maxiter=NUM_PRODUCTS)[1][:, 0]


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


def _factorise(Z: np.ndarray, shift: float, place: str | None) -> list[np.ndarray] | None:
    """Block columns of L with LLᵀ = G − τI, each from its diagonal block down; None where there is no L.

    They are files in the folder `place`, if there is one.
    """
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
        panels.append(panel if place is None else _on_disk(panel, Path(place) / f"{start}"))
    return panels


def _on_disk(panel: np.ndarray, path: Path) -> np.ndarray:
    """The same numbers in a file, of which the system keeps in memory what there is room for."""
    panel.tofile(path)
    return np.memmap(path, panel.dtype, "r", shape=panel.shape)


def _vector_of_inverse(panels: list[np.ndarray]) -> np.ndarray:
    """The eigenvector of (LLᵀ)⁻¹ to its largest eigenvalue, which is that of G to its smallest."""
    n = len(panels[0])
    if n <= NUM_SOLVES:
        return np.linalg.eigh([_solve(panels, unit) for unit in np.eye(n)])[1][:, -1]
    inverse = LinearOperator((n, n), matvec=lambda v: _solve(panels, v.ravel()), dtype=np.float64)
    start = np.random.Generator(np.random.PCG64(0)).standard_normal(n)  # a fixed one makes a check repeatable
    try:
        return eigsh(inverse, k=1, v0=start, ncv=NUM_SOLVES, tol=ACCURACY)[1][:, 0]
    except ArpackError as error:
        raise np.linalg.LinAlgError(str(error)) from error


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
