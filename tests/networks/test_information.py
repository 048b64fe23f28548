"""Lemma 6.4: a function found in the inputs of random neurons."""

import math

import pytest
import torch

from widenet.base.errors import InputError
from widenet.networks.constructed import log_slope
from widenet.networks.information import Decomposition, cut_expectation, decompose
from widenet.networks.two_widths import draw_two_widths, layer_inputs
from widenet.testing import unit_rows
from widenet.theory.beyond_two_layers.hermite import gated_hermite
from widenet.theory.beyond_two_layers.intervals import interval_partition

D, LARGEST, TAU = 4, 12.0, 0.01
H = gated_hermite((0.0, 1.0, 0.0, -1 / 6), "least")
AXIS = torch.eye(D, dtype=torch.float64)[0]


def rows(n: int, generator: torch.Generator) -> torch.Tensor:
    X = unit_rows(n, D - 1, generator=generator) * math.sqrt(3) / 2
    return torch.cat([X, torch.full((n, 1), 0.5, dtype=torch.float64)], dim=1)


def drawn(m1: int, m2: int, X: torch.Tensor, generator: torch.Generator, tau: float = TAU) -> Decomposition:
    return decompose(draw_two_widths(D, 1, m1, m2, generator=generator), H, AXIS, X, largest=LARGEST, tau=tau)


def test_the_mean_of_a_cut_function_by_monte_carlo(generator):
    w, b = (torch.randn(1_000_000, *shape, generator=generator, dtype=torch.float64) for shape in ((2,), ()))
    values = H(w[:, 0], b).clamp(-LARGEST, LARGEST)
    z = torch.tensor([-0.7, 0.2, 1.0], dtype=torch.float64)
    found = cut_expectation(H, z, LARGEST)
    for each, mean in zip(z.tolist(), found.tolist(), strict=True):
        passed = each * w[:, 0] + math.sqrt(1 - each**2) * w[:, 1] + b >= 0
        assert mean == pytest.approx(float((values * passed).mean()), abs=0.02)
    # Cut further out, it is the function.
    far = cut_expectation(H, z, 60.0)
    assert far.tolist() == pytest.approx([v - v**3 / 6 for v in z.tolist()], abs=0.01)


def test_parts_add_up_to_the_inputs(generator):
    X, start = rows(3, generator), draw_two_widths(D, 1, 50, 20, generator=generator)
    found = decompose(start, H, AXIS, X, largest=LARGEST, tau=TAU)
    without_bias = layer_inputs(start, X)[1][0] - start["V"][0, :, -1]
    assert torch.allclose(found.inputs, without_bias.T)


def test_rho_is_a_gaussian_of_its_size_and_independent_of_the_rest(generator):
    m1, m2 = 1024, 2000
    found = drawn(m1, m2, rows(2, generator), generator)
    rho, rest = found.rho * math.sqrt(m2), found.independent[:, 0] * math.sqrt(m2)
    # x_d = 1/2 and τ = 1/100 make 1/(20C)
    assert float(rho.std()) == pytest.approx(1 / (20 * LARGEST), rel=0.06)
    kurtosis = float((rho / rho.std()).pow(4).mean())
    assert kurtosis == pytest.approx(3, abs=0.5)
    for left, right in ((rho, rest), (rho.square(), rest.square())):
        assert abs(float(torch.corrcoef(torch.stack([left, right]))[0, 1])) < 4 / math.sqrt(m2)
    assert float(found.num_chosen.mean()) == pytest.approx(TAU * m1, rel=0.05)


def test_the_function_is_what_rho_is_multiplied_with(generator):
    """The slope of n − B against ρ over neurons is φ_ε(⟨w*, x⟩), for every x."""
    X = rows(4, generator)
    found = drawn(4096, 600, X, generator)
    slopes = found.rho @ (found.inputs - found.independent) / found.rho.square().sum()
    # Over neurons the slope has this error, and all share one W, over which h has its own.
    errors = (found.rest.var(0) / found.rho.square().sum() + H.mean_square / 4096).sqrt()
    assert float(((slopes - found.found).abs() / errors).max()) < 4
    assert float(errors.max()) < 0.1 < float(found.found.abs().max())


def test_the_rest_falls_like_one_over_the_root_of_both_widths(generator):
    X, m2, widths = rows(3, generator), 150, (2**8, 2**10, 2**12)
    sizes = [float(drawn(m1, m2, X, generator).rest.square().mean().sqrt()) for m1 in widths]
    assert -0.7 < log_slope(widths, sizes) < -0.3
    assert all(size < 1 / math.sqrt(m1 * m2) for size, m1 in zip(sizes, widths, strict=True))


def test_what_the_lemma_cannot_have_is_refused(generator):
    start, X = draw_two_widths(D, 1, 8, 8, generator=generator), rows(2, generator)
    with pytest.raises(InputError, match="orthogonal to the last coordinate"):
        decompose(start, H, torch.eye(D, dtype=torch.float64)[-1], X, largest=LARGEST)
    with pytest.raises(InputError, match="one x_d for all rows"):
        decompose(start, H, AXIS, unit_rows(3, D, generator=generator), largest=LARGEST)


def test_the_independent_part_does_not_see_rho(generator):
    """Moving the last column of W along u changes ρ by as much, and neither S nor B."""
    X, start = rows(3, generator), draw_two_widths(D, 1, 900, 1, generator=generator)
    scaled = 30 * start["W"][0]
    y = H(scaled[:, 0], scaled[:, -1]).clamp(-LARGEST, LARGEST) / LARGEST
    signs = interval_partition(y, TAU).signs(start["V"][0, 0, :-1])
    units = signs / signs.norm()
    moved = {**start, "W": start["W"].clone()}
    moved["W"][0, :, -2] += 0.07 * units
    here, there = (decompose(each, H, AXIS, X, largest=LARGEST, tau=TAU) for each in (start, moved))
    assert float(there.rho - here.rho) == pytest.approx(0.07 * 0.5 * math.sqrt(TAU * 900) / LARGEST)
    torch.testing.assert_close(there.independent, here.independent)
    assert float((there.inputs - here.inputs).abs().max()) > 1e-4
