"""Numbers of 24 bits: three quarters of the memory of float32, and half as exact for the largest of a tensor.

All of them are multiples of one power of two, so that smaller ones have fewer digits.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.base.errors import InputError

COMPACT_SHARE = 3 / 4  # of the memory of float32
LARGEST_MULTIPLE = 2**23 - 1  # 24 bits with the sign, which are exact in float32
LOW_VALUES = 256  # of one byte
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

    def values(self, buffer: Tensor) -> Tensor:
        """The numbers, exactly.

        Args:
            buffer: Where to put them: float32, shape (2, k) with k at least as many as there are. Memory that
                is taken anew for each tile would cost as much again.
        """
        values, low = (part[: self.low.numel()].view(self.low.shape) for part in buffer)
        values.copy_(self.high)
        low.copy_(self.low)
        return torch.add(low, values, alpha=LOW_VALUES, out=values).mul_(self.unit)


def rounded(values: Tensor) -> Tensor:
    """Values in float32 as `compacted` holds them, off by at most 2⁻²³ of the largest, or by 2⁻¹²⁶."""
    multiples, unit = _multiples(values)
    return multiples.mul_(unit).to(torch.float32)


def compacted(values: Tensor, place: Tensor) -> Compact:
    """Values as multiples of a unit; exactly, where they were rounded so.

    >>> held = compacted(torch.tensor([0.1, -1.0]), torch.empty(6, dtype=torch.uint8))
    >>> held.values(torch.empty(2, 2))
    tensor([ 0.1000, -1.0000])

    Args:
        values: In either precision.
        place: Where to put them, uint8, shape (3 k,) for k values, at an even place in memory.
    """
    multiples, unit = _multiples(values)
    whole = multiples.to(torch.int32)
    high, low = place[: 2 * values.numel()], place[2 * values.numel() :]
    held = Compact(high.view(torch.int16).view(values.shape), low.view(values.shape), unit)
    held.high.copy_(whole >> 8)
    held.low.copy_(whole & (LOW_VALUES - 1))
    return held


def _multiples(values: Tensor) -> tuple[Tensor, float]:
    """The nearest multiples of the least power of two that reaches all values, and that power.

    Raises:
        InputError: Values that float32 does not hold.
    """
    largest = max(map(abs, torch.stack(values.aminmax()).tolist())) if values.numel() else 0.0
    if not largest <= torch.finfo(torch.float32).max:
        raise InputError(
            "Kernel values are not finite, or too large for single precision: rows must be finite numbers, "
            "and parameters of the kernel not too large."
        )
    unit = 2.0 ** max(math.frexp(largest)[1] - LARGEST_MULTIPLE.bit_length(), FINEST)
    return (values / unit).round_().clamp_(-LARGEST_MULTIPLE, LARGEST_MULTIPLE), unit
