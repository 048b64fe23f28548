"""σ_min, the smallest singular value of [z_1^{⊗2} … z_n^{⊗2}], on which every theorem on memorising rests.

Its square is the smallest eigenvalue of G = (Z Z^T)^{∘2}, whose entries are (z_i^T z_j)².
"""

from collections.abc import Callable
from math import frexp, sqrt

import numpy as np
import torch
from torch import Tensor

from widenet.base.rounding import UNIT, gamma
from widenet.memorise.rounding import squares_moved
from widenet.memorise.sizes import MANY_ROWS, num_forms
from widenet.networks.quadratic import curvature, form_outputs
from widenet.spectrum.cholesky import EigenvalueBracket, shift_rounding, smallest_eigenvalue
from widenet.spectrum.gram import SizedGram
from widenet.spectrum.lanczos import lanczos, smallest_ritz_value

NUM_STEPS = 128  # products spent on an estimate of λ_min of many rows
ORDERS = 3  # times what rounding of Z moves σ_min by: here, there, and between who proves it anew


class SquaresGram(SizedGram):
    """G = (Z Z^T)^{∘2} as an operator: G v = diag(Z (Z^T diag(v) Z) Z^T), at a cost of nk² and no n²."""

    def __init__(self, Z: Tensor) -> None:
        super().__init__(len(Z), Z.dtype)
        self.Z = Z

    def matmul(self, V: Tensor) -> Tensor:
        columns = [form_outputs(self.Z, self.n * curvature(self.Z, v)) for v in V.T]
        return torch.stack(columns, dim=1)

    def diag(self) -> Tensor:
        return self.Z.square().sum(1).square()

    def tile(self, top: int, bottom: int, left: int, right: int) -> Tensor:
        """G[top:bottom, left:right]."""
        return (self.Z[top:bottom] @ self.Z[left:right].T).square_()


def smallest_singular_value(
    Z: Tensor, errors: Tensor | None = None, *, progress: Callable[[float], None] = lambda _: None
) -> EigenvalueBracket:
    """σ_min of [z_j^{⊗2}], a value and a rigorous lower bound (0.0 where none is found).

    The bound counts the rounding of G, of its factorisation, and, through `errors`, of Z. It leaves room for
    somebody who computes Z in another order of sums: their σ_min is off by as much again, and so is what they
    must prove for the exact rows.

    Args:
        Z: Rows as they are stored, shape (n, k).
        errors: How far each can be from the exact one, in norm, shape (n,); 0 if left out.
        progress: Told the share of a factorisation that is done.
    """
    n, k = Z.shape
    if n > num_forms(k, 2):
        return EigenvalueBracket(0.0, 0.0)
    gram, exponent = _scaled(Z)
    estimate = None if n <= MANY_ROWS else _estimate(gram)
    found = smallest_eigenvalue(gram.tile, n, formation=formation(k), estimate=estimate, progress=progress)
    # A rounded root may be above the root: one step down is below it.
    below = 4.0**exponent * sqrt(found.lower) * (1 - 2 * UNIT)
    moved = 0.0 if errors is None else ORDERS * squares_moved(Z, errors)
    lower = max(0.0, (below - moved) * (1 - 2 * UNIT))
    return EigenvalueBracket(4.0**exponent * sqrt(found.value), lower)


def smallest_certifiable(Z: Tensor, errors: Tensor | None = None) -> float:
    """The σ_min below which float64 cannot tell G from a singular matrix, so that nothing is certified."""
    gram, exponent = _scaled(Z)
    hidden = 4.0**exponent * sqrt(2 * shift_rounding(gram.diag(), formation(Z.shape[1])))
    return hidden + (0.0 if errors is None else ORDERS * squares_moved(Z, errors))


def formation(k: int) -> float:
    """The most by which a rounded entry of G is off, relative to ‖z_i‖² ‖z_j‖².

    z_i^T z_j is off by at most γ_k ‖z_i‖ ‖z_j‖ in whatever order it is summed [Higham 2002, (3.5)]; squaring
    doubles this and rounds once more: γ_{2k+2}.
    """
    return gamma(2 * k + 2)


def _scaled(Z: Tensor) -> tuple[SquaresGram, int]:
    """G of 2^−e Z, and the e that makes the largest entry about 1, so that fourth powers stay in range.

    What this rounds is below the least normal number, and counted with underflow in `shift_rounding`.
    """
    exponent = frexp(float(Z.abs().max()))[1]
    return SquaresGram(torch.from_numpy(np.ldexp(Z.numpy(), -exponent))), exponent


def _estimate(gram: SquaresGram) -> float:
    """A number above λ_min(G), by Lanczos from a random start."""
    generator = torch.Generator().manual_seed(0)  # any start will do; a fixed one makes a run repeatable
    start = torch.randn(gram.n, 1, generator=generator, dtype=gram.dtype)
    return max(0.0, smallest_ritz_value(lanczos(gram, start, num_steps=NUM_STEPS))[0])
