"""A kernel layer: every unit multiplied by a constant."""

from collections.abc import Iterator
from dataclasses import dataclass

from widenet.kernels.moments import Moments


@dataclass(frozen=True)
class Scale:
    """u ← c u, so that Σ ← c² Σ and Θ ← c² Θ."""

    factor: float
    num_dense = 0  # how many Dense layers are inside

    def __call__(self, moments: Moments, trained: Iterator[bool]) -> Moments:
        square = self.factor**2
        return Moments(
            moments.nngp * square,
            None if moments.ntk is None else moments.ntk * square,
            moments.diag_x * square,
            moments.diag_z * square,
            None if moments.semivariance is None else moments.semivariance * square,
        )
