"""Lower bounds on the smallest eigenvalue of a Gram matrix, rounding included.

They are proofs for H∞. For other kernels they rest on `KERNEL_ROUNDING` or on the matrix as it is given. What
proves is computed on the CPU, wherever the rows are: of its operations it is known how they round.
"""

from math import comb, exp

import torch
from torch import Tensor

from widenet.base.rounding import UNIT, gamma
from widenet.kernels.kernel import Kernel
from widenet.spectrum.cholesky import TileOf, cholesky_factor, diagonal_of, shift_rounding, tiles_of

ORDER = 12  # differences taken; more suppress low powers better, but cost some of the tail and rounding
REACHES = tuple(10.0 * 2.0 ** (i / 2) for i in range(30))  # powers where the tail may begin; the best counts
BINS_PER_OCTAVE = 8  # resolution of the histogram of 1 - cosine
OCTAVES = 20  # pairs closer than 1 - cosine = 2^-20 count as parallel; below is rounding of float32
NUM_BINS = BINS_PER_OCTAVE * OCTAVES
TILE = 1024
NUM_CANDIDATES = 32  # rows with a near or opposite one, among which the closest two are sought
SHIFTS = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11)  # shares of the diagonal that a factorisation is tried with
SINGLE = 2.0**-24  # u of float32
BIN_MARGIN = 1e-3  # of a bin: more than the rounding in float32 of log₂ and of 1 − cos, some 10⁻⁴
# Allowed for a value k(t), relative to k(1), times 1 + 1/sin θ. For H∞ it is proved: s^j t and the pair of
# vectors with that cosine are off by at most 10u, k′ ≤ ½ + 1/(2π sin θ), and the value itself rounds by 4u.
KERNEL_ROUNDING = 128 * UNIT


def eigenvalue_floor(kernel: Kernel, X: Tensor, *, tile: int = TILE) -> float:
    """A number below λ_min of the Gram matrix of unit rows X (n, d), in one pass over their cosines.

    A kernel k(cos) that is positive definite on every sphere has non-negative Taylor coefficients c_p
    [Schoenberg 1942]. So has its q-th difference in scale,
    g(t) = Σ_j C(q, j) (-1)^j k(s^j t) = Σ_p c_p (1 - s^p)^q t^p, and no coefficient of g exceeds that of k:
    the Gram matrix of k is at least that of g, whose low powers are gone. What is left decays so fast off
    the diagonal that Gershgorin's circles bound it: λ_min ≥ g(1) - max_i Σ_{j≠i} g(|cos_ij|).

    Returns 0.0 where the bound is vacuous, as with parallel rows.
    """
    return floor_of(kernel, neighbour_counts(X, tile))


def floor_of(kernel: Kernel, counts: Tensor) -> float:
    """The floor of `eigenvalue_floor` for rows whose `neighbour_counts` are known, which serve any kernel."""
    edges = _bin_edges()
    return max(0.0, *(_gershgorin(kernel, counts, edges, exp(-1 / reach)) for reach in REACHES))


def smallest_sine(counts: Tensor) -> float:
    """A number below sin θ for every pair of rows at an angle θ; 0.0 where some count as parallel."""
    nearest = _bin_edges()[counts.sum(0) > 0]
    return float((1 - nearest.max().square()).sqrt()) if len(nearest) else 1.0


def num_closer(counts: Tensor, cosine: float) -> float:
    """At least as many ordered pairs of rows as have a larger |cos|, from their `neighbour_counts`."""
    return float(counts[:, _bin_edges() > cosine].sum())


def close_pair(X: Tensor, counts: Tensor) -> Tensor:
    """e_i − e_j for two close ones of the rows X (n, d), shape (n, 1), by their `neighbour_counts`.

    Along it a Gram matrix is small: what is orthogonal to all low powers of ⟨x, z⟩ lies mostly in differences
    of rows that they hardly tell apart. Counts do not tell rows that are close from opposite ones, which most
    kernels do; so several rows are looked at, among which are the closest two unless many are opposite.
    """
    bins = torch.arange(counts.shape[1], device=counts.device)
    some = (bins * (counts > 0)).amax(1).topk(min(NUM_CANDIDATES, len(X))).indices.to(X.device)
    cosines = X[some] @ X.T / X.norm(dim=1)
    cosines /= X[some].norm(dim=1, keepdim=True)
    cosines[torch.arange(len(some), device=X.device), some] = -torch.inf
    best, j = divmod(int(cosines.argmax()), len(X))
    pair = X.new_zeros(len(X), 1)
    pair[j] = -1
    pair[some[best]] = 1
    return pair


def product_rounding(kernel: Kernel, X: Tensor, sine: float) -> float:
    """How far an entry of Hz may be off, over Σ|z_j|, for the Gram matrix of unit rows X (n, d).

    The product of two rows is off by γ_d, their norms from 1 by 8u and what γ_d hides, k′ ≤ k(1)(1 + 1/sin θ)
    for H∞, and no |H_ij| exceeds k(1). The sum of n terms may be made in any order.

    Args:
        kernel: The kernel.
        X: The rows.
        sine: A number below sin θ for every pair of rows, positive, as from `smallest_sine`.
    """
    n, d = X.shape
    entry = (gamma(2 * d + 40) + KERNEL_ROUNDING) * (1 + 1 / sine)
    return 1.01 * _at_one(kernel) * (entry + gamma(n + 2))


def _bin_edges() -> Tensor:
    """The largest |cos| of each bin."""
    bins = torch.arange(NUM_BINS, dtype=torch.float64)
    edges = 1 - 2.0 ** (-(bins + 1) / BINS_PER_OCTAVE)
    edges[-1] = 1.0
    return edges


def neighbour_counts(X: Tensor, tile: int = TILE) -> Tensor:
    """How many other rows lie at each distance of each row; bins of |cos| from far to near, (n, bins)."""
    n, d = X.shape
    X = X.cpu()
    X = (X / X.norm(dim=1, keepdim=True)).to(torch.float32)
    # Of a product of d terms, of the two rows to float32, and of this and its addition.
    rounding = 1.01 * (d + 6) * SINGLE / (1 - (d + 6) * SINGLE)
    counts = torch.zeros(n, NUM_BINS, dtype=torch.float64)
    for top in range(0, n, tile):
        for left in range(0, top + 1, tile):
            rows, columns = slice(top, top + tile), slice(left, left + tile)
            bins = _bins_(X[rows] @ X[columns].T, rounding)
            if top == left:
                bins.fill_diagonal_(0)  # the row itself, put among the farthest
            counts[rows] += _histograms(bins)
            if top != left:
                counts[columns] += _histograms(bins.T)  # each pair is computed once, counted twice
    counts[:, 0] -= 1
    return counts


def _bins_(cosines: Tensor, rounding: float) -> Tensor:
    """The bin of every |cos|, rounded towards near.

    Bin k has 1 − |cos| ≥ 2^(−(k+1)/8), so a bin too high is never wrong.
    """
    distances = cosines.abs_().neg_().add_(1 - rounding).clamp_(min=2.0**-OCTAVES)
    octaves = distances.log2_().mul_(-BINS_PER_OCTAVE).add_(BIN_MARGIN)
    return octaves.to(torch.int32).clamp_(max=NUM_BINS - 1)


def _histograms(bins: Tensor) -> Tensor:
    """How often each bin occurs in each row, shape (rows, NUM_BINS)."""
    offsets = NUM_BINS * torch.arange(len(bins), dtype=torch.int32)
    found = (bins + offsets[:, None]).view(-1) if bins.is_contiguous() else (bins.T + offsets).view(-1)
    return found.bincount(minlength=len(bins) * NUM_BINS).reshape(-1, NUM_BINS)


def _gershgorin(kernel: Kernel, counts: Tensor, edges: Tensor, scale: float) -> float:
    cosines = torch.cat([edges, edges.new_ones(1)])
    difference, steepness = torch.zeros_like(cosines), torch.zeros_like(cosines)
    for j in range(ORDER + 1):
        at = scale**j * cosines
        difference += comb(ORDER, j) * (-1) ** j * at_cosines(kernel, at)
        # At cosine 1 itself the value is exact.
        steepness += comb(ORDER, j) * (1 + torch.where(at < 1, (1 - at.square()).rsqrt(), 0.0))
    rounding = KERNEL_ROUNDING * _at_one(kernel) * steepness
    circles = counts @ (difference[:-1].clamp(min=0) + rounding[:-1]) * (1 + gamma(2 * len(cosines)))
    largest = float(difference[-1])
    return largest - float(rounding[-1]) - float(circles.max()) - 4 * UNIT * largest


def _at_one(kernel: Kernel) -> float:
    """k(1), the value of a row of norm 1 with itself."""
    return float(at_cosines(kernel, torch.ones(1, dtype=torch.float64)))


def at_cosines(kernel: Kernel, cosines: Tensor) -> Tensor:
    """The kernel of pairs of unit vectors with these cosines, shape of `cosines`."""
    axis = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    sines = (1 - cosines.square()).clamp(min=0).sqrt()
    return kernel.tile(axis, torch.stack([cosines, sines], dim=1))[0]


def cholesky_floor(matrix: Tensor | TileOf, n: int, *, error: float = 0.0) -> float:
    """A number below λ_min of a symmetric matrix, from a factorisation that succeeds; 0.0 if none does.

    A factorisation of A − τI that runs to its end proves λ_min(A) ≥ τ − e (`shift_rounding`).

    Args:
        matrix: A in float64, shape (n, n), or tile(top, bottom, left, right) = A[top:bottom, left:right].
        n: Rows of A. The factor takes 4 n² bytes.
        error: A bound on the norm of A − H, where the floor is to be one of another matrix H.
    """
    tile = tiles_of(matrix) if isinstance(matrix, Tensor) else matrix
    diagonal = diagonal_of(tile, n)
    rounding = shift_rounding(diagonal, 0.0) + error
    shifts = {max(share * float(diagonal.min()), 2 * rounding) for share in SHIFTS}
    for shift in sorted(shifts, reverse=True):
        if cholesky_factor(tile, n, shift) is not None:
            return shift - 1.001 * rounding
    return 0.0
