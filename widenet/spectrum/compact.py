"""Numbers of 24 bits: as exact as float32 where they are about as large, in three quarters of its memory.

All of a tensor are multiples of one power of two. Near the largest of them float32 is hardly finer, and an
error in the norm of a matrix is that of its large entries.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.errors import InputError

SHARE = 3 / 4  # of the memory of float32
MOST = 2**23 - 1  # the largest multiple: 24 bits with the sign, which are exact in float32
LOW = 256  # values of the low byte
FINEST = -126  # exponent of the least unit, and of the least normal number of float32


@dataclass(frozen=True)
class Compact:
    """(256 · high + low) · unit, elementwise.

    Attributes:
        high: int16.
        low: uint8, of that shape.
        unit: A power of two.
    """

    high: Tensor
    low: Tensor
    unit: float

    @property
    def nbytes(self) -> int:
        """Memory of the numbers."""
        return self.high.nbytes + self.low.nbytes

    def values(self, room: Tensor) -> Tensor:
        """The numbers, exactly.

        Args:
            room: Where to put them: float32, shape (2, k) with k at least as many as there are. Memory that
                is taken anew for each tile would cost as much again.
        """
        values, low = (part[: self.low.numel()].view(self.low.shape) for part in room)
        values.copy_(self.high)
        low.copy_(self.low)
        return torch.add(low, values, alpha=LOW, out=values).mul_(self.unit)


def rounded(values: Tensor) -> Tensor:
    """Values in float32 as `compact` holds them, off by at most 2⁻²³ of the largest."""
    multiples, unit = _multiples(values)
    return multiples.mul_(unit).to(torch.float32)


def compact(values: Tensor, room: Tensor) -> Compact:
    """Values as multiples of a unit; exactly, where they were rounded so.

    >>> held = compact(torch.tensor([0.1, -1.0]), torch.empty(6, dtype=torch.uint8))
    >>> held.values(torch.empty(2, 2))
    tensor([ 0.1000, -1.0000])

    Args:
        values: In either precision.
        room: Where to put them, uint8, shape (3 k,) for k values, at an even place in memory.
    """
    multiples, unit = _multiples(values)
    whole = multiples.to(torch.int32)
    high, low = room[: 2 * values.numel()], room[2 * values.numel() :]
    held = Compact(high.view(torch.int16).view(values.shape), low.view(values.shape), unit)
    held.high.copy_(whole >> 8)
    held.low.copy_(whole & (LOW - 1))
    return held


def _multiples(values: Tensor) -> tuple[Tensor, float]:
    """The nearest multiples of the least power of two of which all values are at most `MOST`, and that."""
    largest = max(map(abs, torch.stack(values.aminmax()).tolist())) if values.numel() else 0.0
    if not math.isfinite(largest):
        raise InputError("Kernel values are not finite: rows must be finite numbers, and not too large.")
    unit = 2.0 ** max(math.frexp(largest)[1] - MOST.bit_length(), FINEST)
    return (values / unit).round_().clamp_(-MOST, MOST), unit
