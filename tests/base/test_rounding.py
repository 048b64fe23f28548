"""Constants of float64, against numpy's own account of it, and γ against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

from widenet.base.rounding import LEAST, ROOT, TINY, UNIT, gamma


def test_the_constants_are_those_of_float64():
    about = np.finfo(np.float64)
    assert about.eps / 2 == UNIT
    assert about.tiny == TINY
    assert np.nextafter(0.0, 1.0) == LEAST
    assert ROOT**2 == TINY


@pytest.mark.parametrize("m", [1, 7, 10**6])
def test_gamma_is_that_of_higham(m):
    u = Fraction(1, 2**53)
    assert gamma(m) == pytest.approx(float(m * u / (1 - m * u)), rel=1e-15)
    assert gamma(m) > m * UNIT
