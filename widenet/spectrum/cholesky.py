"""The smallest eigenvalue of a large positive semidefinite matrix, with a bound below it that is a proof.

A Cholesky factorisation of A − τI that runs to its end in floating-point arithmetic proves
λ_min(A) ≥ τ − e, where e bounds the rounding [Rump 2006, "Verification of positive definiteness"]. This rests
on conventional products of matrices, as every BLAS in use makes them: each entry is the sum of its products,
in whatever order, fused or not. Strassen's have no such bound for each entry. Triangular systems are taken to
be solved by substitution, without inverses of blocks, and underflow to be gradual.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.memory import require_memory
from widenet.base.rounding import TINY, UNIT
from widenet.spectrum.lanczos import Krylov, lanczos

TileOf = Callable[[int, int, int, int], Tensor]

CAUTION = 16  # an estimate of λ_min may be this much too large: to factorise twice costs more than it gains
SHARP = 0.8  # a lower bound of this share of the value is not sharpened further
REPEATED = 16384  # rows up to which a second factorisation, to sharpen the bound, is cheap
NUM_SOLVES = 60  # of inverse iteration, at most
ACCURACY = 1e-4  # of the value, relative to its distance from τ
MARGIN = 1.25  # times e is taken off τ, so that a proof in another order of sums ends too


@dataclass(frozen=True)
class EigenvalueBracket:
    """A smallest eigenvalue, or singular value.

    Attributes:
        value: As computed, good to its leading digits; 0.0 if rounding hides it.
        lower: No larger than the true one, by proof; 0.0 where nothing can be certified.
    """

    value: float
    lower: float


@dataclass(frozen=True)
class Factor:
    """L with L L^T = A − τI, by block columns.

    Attributes:
        panels: Block column j of L from its diagonal block down, shape (n − j b, b), packed: n²/2 numbers.
        width: b.
    """

    panels: tuple[Tensor, ...]
    width: int

    @property
    def n(self) -> int:
        return self.panels[0].shape[0]

    @property
    def dtype(self) -> torch.dtype:
        return self.panels[0].dtype

    def matmul(self, V: Tensor) -> Tensor:
        """(L L^T)^{-1} V for V (n, p): the factor as the operator of inverse iteration."""
        X = V.clone()
        for j, panel in enumerate(self.panels):
            here, rest, size = j * self.width, j * self.width + panel.shape[1], panel.shape[1]
            X[here:rest] = torch.linalg.solve_triangular(panel[:size], X[here:rest], upper=False)
            X[rest:] -= panel[size:] @ X[here:rest]
        for j, panel in reversed(list(enumerate(self.panels))):
            here, rest, size = j * self.width, j * self.width + panel.shape[1], panel.shape[1]
            X[here:rest] -= panel[size:].T @ X[rest:]
            X[here:rest] = torch.linalg.solve_triangular(panel[:size].T, X[here:rest], upper=True)
        return X


def smallest_eigenvalue(
    matrix: Tensor | TileOf,
    n: int,
    *,
    formation: float = 0.0,
    estimate: float | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> EigenvalueBracket:
    """λ_min of a symmetric positive semidefinite matrix A.

    Args:
        matrix: A in float64, shape (n, n), or tile(top, bottom, left, right) = A[top:bottom, left:right].
        n: Rows of A. The factor takes 4 n² bytes.
        formation: The most by which A_ij, as given, is off the matrix that is meant, relative to
            √(A_ii A_jj).
        estimate: A rough value of λ_min, better too large than too small. Without it the first factorisation
            is at a τ as small as rounding allows; with it one factorisation mostly is enough.
        progress: Told the share of a factorisation that is done.
    """
    tile = tiles_of(matrix) if isinstance(matrix, Tensor) else matrix
    width = block_width(n)
    require_memory(8 * (n * (n + width) // 2 + 3 * n * width), f"The smallest eigenvalue of {n:,} rows")
    diagonal = diagonal_of(tile, n)
    rounding = shift_rounding(diagonal, formation)
    cautious = 2 * rounding
    # The last of these is no proof of anything; it makes room for rounding to find the value all the same.
    shifts = sorted({max(cautious, (estimate or 0.0) / CAUTION), cautious, -2 * cautious}, reverse=True)
    for shift in shifts:
        factor = cholesky_factor(tile, n, shift, progress)
        if factor is not None:
            break
    else:
        raise ValueError("the matrix is not positive semidefinite")
    value = max(0.0, shift + _smallest_of_factor(factor))
    lower = max(0.0, shift - MARGIN * rounding)
    if 0 < lower < SHARP * value and n <= REPEATED:
        del factor
        return _sharpened(tile, n, EigenvalueBracket(value, lower), rounding, progress)
    return EigenvalueBracket(value, min(lower, value))


def _sharpened(
    tile: TileOf, n: int, found: EigenvalueBracket, rounding: float, progress: Callable[[float], None]
) -> EigenvalueBracket:
    """The bracket with τ right under the value, if that is a proof too."""
    shift = min((1 + SHARP) / 2 * found.value, found.value - 2 * rounding)
    if shift - MARGIN * rounding <= found.lower:
        return found
    factor = cholesky_factor(tile, n, shift, progress)
    if factor is None:
        return found
    value = shift + _smallest_of_factor(factor)
    return EigenvalueBracket(value, min(value, shift - MARGIN * rounding))


def shift_rounding(diagonal: Tensor, formation: float) -> float:
    """The e of λ_min(A) ≥ τ − e for a factorisation of A − τI by `cholesky_factor`, 0 ≤ τ.

    Each entry of A − L L^T is a sum of which no term goes through more than h = 2b + n/b + 4 roundings: in a
    conventional product of blocks (b terms, in any order), n/b subtractions of products, a substitution
    within a block (b terms) and a division or root. So |A − L L^T|_ij ≤ γ_h |L| |L|^T [Higham 2002,
    Lemma 8.4, the paths of the sum counted], the rows of L have squared norms of at most A_ii / (1 − γ_h),
    and the norm of the whole is at most γ_h / (1 − γ_h) tr A [Rump 2006, (2.4)–(2.6)]. The subtraction of τ
    rounds by u A_ii, and the forming of A by `formation` · tr A. Underflow is covered by TINY.

    Args:
        diagonal: Of A, shape (n,).
        formation: See `smallest_eigenvalue`.
    """
    n = len(diagonal)
    width = block_width(n)
    h = min(n, 2 * width + -(-n // width)) + 4
    gamma = h * UNIT / (1 - 2 * h * UNIT)
    trace, largest = float(diagonal.sum()), float(diagonal.max())
    # 1.001 covers the rounding of this formula and of the diagonal itself.
    return 1.001 * ((gamma + formation) * trace + UNIT * largest) + 4.0 * n * (n + 1) * TINY


def block_width(n: int) -> int:
    """b: narrow blocks round less, wide ones are nearer to the speed of a matrix product."""
    return 128 if n <= 4096 else 512


def cholesky_factor(
    tile: TileOf, n: int, shift: float, progress: Callable[[float], None] = lambda _: None
) -> Factor | None:
    """The Cholesky factor of A − shift · I, block column by block column; None if it does not exist.

    Left-looking: each block column takes the products of all earlier ones, one by one through a buffer, so
    that the order of the sums, and with it `shift_rounding`, is known.
    """
    width = block_width(n)
    panels: list[Tensor] = []
    for start in range(0, n, width):
        stop = min(start + width, n)
        panel = tile(start, n, start, stop).clone(memory_format=torch.contiguous_format)
        panel.diagonal().sub_(shift)
        buffer = torch.empty_like(panel)
        for j, earlier in enumerate(panels):
            rows = earlier[start - j * width :]
            panel -= torch.mm(rows, rows[: stop - start].T, out=buffer)
        corner, info = torch.linalg.cholesky_ex(panel[: stop - start])
        if int(info) or not bool(corner.diagonal().isfinite().all()):
            return None
        panel[: stop - start] = corner
        below = panel[stop - start :]
        below.copy_(torch.linalg.solve_triangular(corner.T, below, upper=True, left=False))
        panels.append(panel)
        progress(1 - ((n - stop) / n) ** 3)
    return Factor(tuple(panels), width)


def _smallest_of_factor(factor: Factor) -> float:
    """λ_min(L L^T) by Lanczos on its inverse, from above."""
    generator = torch.Generator().manual_seed(0)  # any start will do; a fixed one makes a run repeatable
    start = torch.randn(factor.n, 1, generator=generator, dtype=factor.dtype)
    krylov = lanczos(factor, start, num_steps=min(NUM_SOLVES, factor.n), stop=_settled)
    return 1 / float(torch.linalg.eigvalsh(krylov.tridiagonal())[-1])


def _settled(krylov: Krylov) -> bool:
    """Whether the largest Ritz value is within ACCURACY of an eigenvalue."""
    values, vectors = torch.linalg.eigh(krylov.tridiagonal())
    B = krylov.below[-1]
    return float((B @ vectors[-B.shape[1] :, -1]).norm()) <= ACCURACY * float(values[-1])


def tiles_of(matrix: Tensor) -> TileOf:
    """The tiles of a matrix that is held, shape (n, n); on the CPU, as others may solve by inverse blocks."""
    matrix = matrix.cpu()
    return lambda top, bottom, left, right: matrix[top:bottom, left:right]


def diagonal_of(tile: TileOf, n: int) -> Tensor:
    """The diagonal of a matrix that is known by its tiles, shape (n,)."""
    width = block_width(n)
    starts = range(0, n, width)
    blocks = (tile(start, min(start + width, n), start, min(start + width, n)) for start in starts)
    return torch.cat([block.diagonal().clone() for block in blocks])
