"""Certified lower bounds on the smallest eigenvalue of a Gram matrix."""

from math import comb, exp

import torch
from torch import Tensor

from widenet.kernels.kernel import Kernel

ORDER = 12  # differences taken; more suppress low powers better, but cost some of the tail and rounding
REACHES = tuple(10.0 * 2.0 ** (i / 2) for i in range(30))  # powers where the tail may begin; the best counts
BINS_PER_OCTAVE = 8  # resolution of the histogram of 1 - cosine
OCTAVES = 20  # pairs closer than 1 - cosine = 2^-20 count as parallel; below is rounding of float32
NUM_BINS = BINS_PER_OCTAVE * OCTAVES
KERNEL_ROUNDING = 64 * torch.finfo(torch.float64).eps  # relative error allowed for a kernel value


def eigenvalue_floor(kernel: Kernel, X: Tensor, *, tile: int = 1024) -> float:
    """A number below λ_min of the Gram matrix of unit rows X (n, d), in one pass over their cosines.

    A kernel k(cos) that is positive definite on every sphere has non-negative Taylor coefficients c_p
    [Schoenberg 1942]. So has its q-th difference in scale,
    g(t) = Σ_j C(q, j) (-1)^j k(s^j t) = Σ_p c_p (1 - s^p)^q t^p, and no coefficient of g exceeds that of k:
    the Gram matrix of k is at least that of g, whose low powers are gone. What is left decays so fast off
    the diagonal that Gershgorin's circles bound it: λ_min ≥ g(1) - max_i Σ_{j≠i} g(|cos_ij|).

    Returns 0.0 where the bound is vacuous, as with parallel rows.
    """
    counts = _neighbour_counts(X, tile)
    bins = torch.arange(counts.shape[1], dtype=torch.float64)
    edges = 1 - 2.0 ** (-(bins + 1) / BINS_PER_OCTAVE)
    edges[-1] = 1.0
    return max(0.0, *(_gershgorin(kernel, counts, edges, exp(-1 / reach)) for reach in REACHES))


def _neighbour_counts(X: Tensor, tile: int) -> Tensor:
    """How many other rows lie at each distance of each row; bins of |cos| from far to near, (n, bins)."""
    X = X.to(torch.float32)
    n, d = X.shape
    rounding = (d + 4) * torch.finfo(torch.float32).eps / 2  # bound on the error of a product of unit rows
    counts = torch.zeros(n, NUM_BINS, dtype=torch.float64)
    for start in range(0, n, tile):
        bins = _bins_(X[start : start + tile] @ X[start:].T, rounding)
        end = start + bins.shape[0]
        counts[start:end] += _row_histograms(bins)
        counts[end:] += _row_histograms(bins[:, end - start :].T)  # each pair is computed once, counted twice
    counts[:, 0] -= 1  # the row itself, which was put among the farthest
    return counts


def _bins_(cosines: Tensor, rounding: float) -> Tensor:
    """The bin of every |cos|, rounded towards near, of an upper panel that begins at the diagonal."""
    cosines.abs_().add_(rounding)
    cosines.diagonal().zero_()
    octaves = cosines.neg_().add_(1).clamp_(min=2.0**-OCTAVES).log2_().neg_()
    return octaves.mul_(BINS_PER_OCTAVE).to(torch.int32).clamp_(max=NUM_BINS - 1)


def _row_histograms(bins: Tensor) -> Tensor:
    """How often each bin occurs in each row, shape (rows, NUM_BINS)."""
    offsets = NUM_BINS * torch.arange(bins.shape[0], dtype=torch.int32)
    found = (bins + offsets[:, None]).flatten().bincount(minlength=bins.shape[0] * NUM_BINS)
    return found.reshape(-1, NUM_BINS)


def _gershgorin(kernel: Kernel, counts: Tensor, edges: Tensor, scale: float) -> float:
    cosines = torch.cat([edges, edges.new_ones(1)])
    difference = sum(
        comb(ORDER, j) * (-1) ** j * _at_cosines(kernel, scale**j * cosines) for j in range(ORDER + 1)
    )
    rounding = 2.0**ORDER * KERNEL_ROUNDING * float(_at_cosines(kernel, cosines[-1:]))
    circles = counts @ (difference[:-1].clamp(min=0) + rounding)
    return float(difference[-1] - rounding - circles.max())


def _at_cosines(kernel: Kernel, cosines: Tensor) -> Tensor:
    """The kernel of pairs of unit vectors with these cosines, shape of `cosines`."""
    axis = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    sines = (1 - cosines.square()).clamp(min=0).sqrt()
    return kernel.tile(axis, torch.stack([cosines, sines], dim=1))[0]


def cholesky_floor(matrix: Tensor) -> float:
    """A number below λ_min of a dense matrix (n, n), from factorisations that succeed; 0.0 if none does.

    A factorisation of H − aI that runs to its end proves λ_min(H) ≥ a up to rounding of at most
    (n + 2) ε tr H [Rump 2006].
    """
    n = matrix.shape[0]
    rounding = (n + 2) * torch.finfo(matrix.dtype).eps * float(matrix.trace())
    for shift in (1e-3, 1e-5, 1e-7):
        shifted = matrix.clone()
        guess = max(shift * float(matrix.diagonal().min()), 2 * rounding)
        shifted.diagonal().sub_(guess)
        if int(torch.linalg.cholesky_ex(shifted).info) == 0:
            return guess - rounding
    return 0.0
