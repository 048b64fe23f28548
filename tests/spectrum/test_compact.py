"""Numbers of 24 bits: exact multiples of one unit, in three bytes each."""

from fractions import Fraction

import pytest
import torch

from widenet.base.errors import InputError
from widenet.spectrum.compact import COMPACT_SHARE, compacted, rounded


def held(values):
    return compacted(values, torch.empty(3 * values.numel(), dtype=torch.uint8))


def spread_out(values):
    return held(values).values(torch.empty(2, values.numel()))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [1.0, 3.7, 2.0**-140, 1e30])
def test_values_are_the_nearest_multiples_of_the_unit(dtype, scale, generator):
    values = (torch.randn(40, 25, generator=generator, dtype=torch.float64) * scale).to(dtype)
    found, unit = rounded(values), Fraction(held(values).unit)
    assert found.dtype == torch.float32
    for value, near in zip(values.flatten().tolist(), found.flatten().tolist(), strict=True):
        assert Fraction(near) == round(Fraction(value) / unit) * unit


@pytest.mark.parametrize("largest", [1.0, -1.0, 0.5, 1 - 2.0**-24, -(1 - 2.0**-24), 3.0, 1.5e-45])
def test_no_value_is_off_by_more_than_a_2_to_the_minus_23rd_of_the_largest(largest, generator):
    values = largest * torch.rand(500, generator=generator, dtype=torch.float64)
    values[7] = largest
    smallest_normal = torch.finfo(torch.float32).tiny
    assert (rounded(values) - values).abs().max() <= max(abs(largest) * 2.0**-23, smallest_normal)
    assert torch.equal(spread_out(values), rounded(values))
    assert torch.equal(spread_out(rounded(values)), rounded(values))


@pytest.mark.parametrize("shape", [(30, 17), (1, 1), (0, 5)])
def test_what_is_held_is_what_was_rounded(shape, generator):
    values = torch.randn(shape, generator=generator)
    assert torch.equal(spread_out(values), rounded(values))
    assert torch.equal(spread_out(rounded(values)), rounded(values))
    parts = held(values)
    assert parts.high.nbytes + parts.low.nbytes == COMPACT_SHARE * values.nbytes


def test_zeros_stay_zeros():
    assert torch.equal(spread_out(torch.zeros(3, 4)), torch.zeros(3, 4))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e39])
def test_what_float32_does_not_hold_is_refused(value):
    with pytest.raises(InputError, match="not finite, or too large for single precision"):
        rounded(torch.tensor([0.0, value, 1.0], dtype=torch.float64))
