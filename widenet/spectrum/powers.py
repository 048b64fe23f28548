"""Columns in units of powers of 2, so that bounds hold however large or small they are."""

import numpy as np
import torch
from torch import Tensor

UNDERFLOW = 2.0**-900  # more than underflow can take from yᵀH⁻¹y where the largest |y| is between 1/2 and 1


def times_powers_of_2(lower: Tensor, upper: Tensor, exponents: Tensor) -> tuple[Tensor, Tensor]:
    """Both ends of each column times 2^exponent, rounded outward where that leaves the range of floats."""
    scaled, above = ldexp(lower, exponents), ldexp(upper, exponents)
    largest = torch.full_like(scaled, torch.finfo(scaled.dtype).max)
    below = torch.nextafter(torch.minimum(scaled, largest), torch.zeros_like(scaled))
    above = torch.nextafter(above, torch.full_like(above, torch.inf))
    return below, torch.where(upper > 0, above, 0.0)


def ldexp(values: Tensor, exponents: Tensor) -> Tensor:
    """Values · 2^exponents; torch's own takes the power in float32."""
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(values.cpu().numpy(), exponents.cpu().numpy())
    return torch.from_numpy(scaled).to(values.device)
