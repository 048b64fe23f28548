"""Table 1 of resnet-beyond-kernels against trying its limits one by one."""

import math

import numpy as np
import pytest

from widenet.theory.resnet_beyond_kernels.table import table_1


def sigma_w_exists(m: float, tau_w: float) -> bool:
    """Table 1's limits on σ_w, tried one by one."""
    return any(
        m**-0.49 <= sigma <= m**-0.01 and m**0.126 * sigma <= tau_w <= m**0.124 * sigma**0.25
        for sigma in np.geomspace(m**-0.5, 1, 4001)
    )


@pytest.mark.parametrize("tau_w", [1.5, 10.0, 1000.0])
def test_table_1_least_width_by_trying(tau_w):
    least = table_1(10.0, 1, 1, tau_w, 1, 1.0, 1e-3).terms["least m for a sigma_w"]
    assert sigma_w_exists(1.1 * least, tau_w)
    assert not sigma_w_exists(0.9 * least, tau_w)


def test_table_1_ranges():
    m, tau_w, tau_v = 1e12, 10.0, 0.01
    found = table_1(m, 1, 1, tau_w, 1, 1.0, tau_v)
    polylog = math.log(m)
    assert found.terms["tau_w"] == tau_w
    assert found.terms["tau_v"] == pytest.approx(tau_v)
    assert found.terms["least sigma_w"] == pytest.approx(max(m**-0.49, tau_w**4 * m**-0.496))
    assert found.terms["largest sigma_w"] == pytest.approx(min(m**-0.01, tau_w * m**-0.126))
    assert found.terms["least sigma_v"] == pytest.approx(polylog)
    assert found.terms["largest sigma_v"] == pytest.approx(min(m**0.365, tau_v * m**0.375))
    assert found.applies
    sigma = found.terms["largest sigma_w"]
    assert table_1(m, 1, 1, tau_w, 1, 1.0, tau_v, sigma_w=0.99 * sigma).applies
    assert not table_1(m, 1, 1, tau_w, 1, 1.0, tau_v, sigma_w=1.01 * sigma).applies
    assert not table_1(m, 1, 1, tau_w, 1, 1.0, tau_v, sigma_v=0.5 * polylog).applies
    assert not table_1(m, 1, 1, tau_w, 1, 1.0, 0.5).applies  # τ_v beyond 1/polylog(m)
    assert not table_1(1e3, 1, 1, tau_w, 1, 1.0, tau_v).applies


def sigma_v_exists(m: float, k: int, tau_v: float, q: float) -> bool:
    """Table 1's limits on σ_v, tried one by one."""
    polylog = math.log(m) ** q
    return any(
        polylog <= sigma <= m**0.365 and sigma * (k / m) ** 0.375 <= tau_v <= sigma / polylog
        for sigma in np.geomspace(polylog, m**0.365, 4001)
    )


@pytest.mark.parametrize(
    ("k", "tau_v", "q"), [(1, 0.01, 1.0), (7, 0.2, 1.0), (3, 0.05, 2.0), (1, 3.0, 0.5), (2, 1e-9, 1.5)]
)
def test_least_width_for_sigma_v_by_trying(k, tau_v, q):
    found = table_1(10.0, k, 1, 1.0, 1, 1.0, tau_v / k, log_power=q)
    least = found.terms["least m for a sigma_v"]
    assert all(sigma_v_exists(more * least, k, tau_v, q) for more in (1.01, 2, 10, 1e4))
    assert not sigma_v_exists(0.99 * least, k, tau_v, q)


def test_a_small_power_of_the_logarithm_always_leaves_a_sigma_v():
    found = table_1(10.0, 1, 1, 1.0, 1, 1.0, 1.0, log_power=0.1)
    assert found.terms["least m for a sigma_v"] == 1.0
    assert found.value == 2.0


def test_widths_end_where_tau_v_is_too_large():
    """τ_v = 0.01 allows ln m ≤ 100, and σ_w asks for m ≥ τ_w^8.23."""
    enough = table_1(1e30, 1, 1, 1e3, 1, 1.0, 0.01)
    assert enough.applies
    assert enough.value == pytest.approx(1000 ** (1 / 0.1215))
    assert enough.terms["largest m for tau_v"] == pytest.approx(math.exp(100))
    assert "1/σ_v ≤ τ_v² (Claim C.6)" in enough.why[-2]
    assert enough.why[-1].endswith("leave Table 1 a σ_w and a σ_v.")
    none = table_1(1e30, 1, 1, 1e6, 1, 1.0, 0.01)
    assert none.applies is False
    assert none.value == math.inf
    assert none.why[-1].startswith(
        "No width leaves Table 1 a σ_w and a σ_v: τ_v ≤ 1/polylog(m) holds up to m = 2.688e+43"
    )


def test_widths_beyond_a_float_are_told():
    found = table_1(10.0, 1, 1, 1.0, 1, 1.0, 1e-300)
    assert found.log10 == pytest.approx(808.72, abs=0.01)
    assert len(found.why[-1]) < 80
