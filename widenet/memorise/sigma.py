"""σ_min, the smallest singular value of [z_1^{⊗2} … z_n^{⊗2}], on which every theorem on memorising rests.

Its square is the smallest eigenvalue of G = (Z Z^T)^{∘2}, whose entries are (z_i^T z_j)².
"""

from collections.abc import Callable
from math import frexp, sqrt

import torch
from torch import Tensor

from widenet.memorise.sizes import num_forms
from widenet.networks.quadratic import curvature, form_outputs
from widenet.spectrum.cholesky import EigenvalueBracket, shift_rounding, smallest_eigenvalue
from widenet.spectrum.lanczos import lanczos
from widenet.spectrum.lanczos import smallest_eigenvalue as smallest_ritz_value

UNIT = torch.finfo(torch.float64).eps / 2
CHEAP = 8192  # rows up to which factorisations are tried without an estimate
NUM_STEPS = 64  # products spent on an estimate of λ_min beyond


class SquaresGram:
    """G = (Z Z^T)^{∘2} as an operator: G v = diag(Z (Z^T diag(v) Z) Z^T), at a cost of nk² and no n²."""

    def __init__(self, Z: Tensor) -> None:
        self.Z = Z

    @property
    def n(self) -> int:
        return self.Z.shape[0]

    @property
    def dtype(self) -> torch.dtype:
        return self.Z.dtype

    def matmul(self, V: Tensor) -> Tensor:
        columns = [form_outputs(self.Z, self.n * curvature(self.Z, v)) for v in V.T]
        return torch.stack(columns, dim=1)

    def diag(self) -> Tensor:
        return self.Z.square().sum(1).square()

    def tile(self, top: int, bottom: int, left: int, right: int) -> Tensor:
        """G[top:bottom, left:right]."""
        return (self.Z[top:bottom] @ self.Z[left:right].T).square_()


def smallest_singular_value(
    Z: Tensor, *, progress: Callable[[float], None] = lambda _: None
) -> EigenvalueBracket:
    """σ_min of [z_j^{⊗2}] for rows Z (n, k), a value and a rigorous lower bound (0.0 where none is found).

    Both are of Z as it is stored: the rounding of G and of its factorisation count, that of Z does not.
    """
    n, k = Z.shape
    exponent = frexp(float(Z.abs().max()))[1]
    if n > num_forms(k, 2):
        return EigenvalueBracket(0.0, 0.0)
    gram = SquaresGram(Z * 2.0**-exponent)  # exact; without it fourth powers of large numbers overflow
    estimate = None if n <= CHEAP else _estimate(gram)
    found = smallest_eigenvalue(gram.tile, n, formation=formation(k), estimate=estimate, progress=progress)
    # A rounded root may be above the root: one step down is below it.
    below = sqrt(found.lower) * (1 - 2 * UNIT)
    return EigenvalueBracket(4.0**exponent * sqrt(found.value), 4.0**exponent * below)


def smallest_certifiable(Z: Tensor) -> float:
    """The σ_min below which float64 cannot tell G from a singular matrix, so that nothing is certified."""
    gram = SquaresGram(Z)
    return sqrt(2 * shift_rounding(gram.diag(), formation(Z.shape[1])))


def formation(k: int) -> float:
    """The most by which a rounded entry of G is off, relative to ‖z_i‖² ‖z_j‖².

    z_i^T z_j is off by at most γ_k ‖z_i‖ ‖z_j‖ in whatever order it is summed [Higham 2002, (3.5)]; squaring
    doubles this and rounds once more: γ_{2k+2}.
    """
    return (2 * k + 2) * UNIT / (1 - (2 * k + 2) * UNIT)


def _estimate(gram: SquaresGram) -> float:
    """A number above λ_min(G), by Lanczos from a random start."""
    generator = torch.Generator().manual_seed(0)  # any start will do; a fixed one makes a run repeatable
    start = torch.randn(gram.n, 1, generator=generator, dtype=gram.dtype)
    return max(0.0, smallest_ritz_value(lanczos(gram, start, num_steps=NUM_STEPS))[0])
