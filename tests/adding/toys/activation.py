"""An activation: σ(u) = cos u, whose moments have a closed form."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from torch import Tensor

from widenet.kernels.moments import Diagonal, Moments


@dataclass(frozen=True)
class Cosine:
    """Σ ← e^{−(Σ(x,x) + Σ(z,z))/2} cosh Σ, and Σ̇ = e^{−(Σ(x,x) + Σ(z,z))/2} sinh Σ."""

    num_dense = 0

    def __call__(self, moments: Moments, trained: Iterator[bool]) -> Moments:
        damping = _exp(-(moments.diag_x + moments.diag_z) / 2)
        nngp = moments.nngp.cosh() * damping
        ntk = None if moments.ntk is None else moments.ntk * moments.nngp.sinh() * damping
        diag_x, diag_z = _diagonal(moments.diag_x), _diagonal(moments.diag_z)
        semivariance = None if moments.semivariance is None else (diag_x + diag_z) / 2 - nngp
        return Moments(nngp, ntk, diag_x, diag_z, semivariance)


def _diagonal(diag: Diagonal) -> Diagonal:
    return (1 + _exp(-2 * diag)) / 2


def _exp(values: Diagonal) -> Diagonal:
    return values.exp() if isinstance(values, Tensor) else math.exp(values)


COSINE = (Cosine(), 2 / (1 + math.exp(-2)), "cos")  # the layer, 1 / E σ(u)², and how people write it
