"""Section 8.2's Rademacher bound, against exact suprema in the plane and against networks."""

import itertools
import math

import pytest
import torch

from widenet.testing import unit_rows
from widenet.theory.resnet_beyond_kernels.rademacher import (
    alignments,
    frobenius_bound,
    rademacher_lower,
    rademacher_two_layers,
    rows_bound,
)


def plane_supremum(X, signs) -> float:
    """Largest Σ ξ σ(⟨w, x⟩) over the unit circle: in each sector at its vector's direction or at an edge."""
    edges = sorted(
        (math.atan2(float(x[1]), float(x[0])) + quarter) % (2 * math.pi)
        for x in X
        for quarter in (math.pi / 2, -math.pi / 2)
    )
    angles = list(edges)
    for low, high in itertools.pairwise([*edges, edges[0] + 2 * math.pi]):
        middle = (low + high) / 2
        active = X @ torch.tensor([math.cos(middle), math.sin(middle)], dtype=X.dtype) > 0
        v = (signs * active) @ X
        angle = math.atan2(float(v[1]), float(v[0])) % (2 * math.pi)
        angles += [angle] if low <= angle <= high or low <= angle + 2 * math.pi <= high else []
    w = torch.tensor([[math.cos(a), math.sin(a)] for a in angles], dtype=X.dtype)
    return max(0.0, float(((w @ X.T).clamp(min=0) @ signs).max()))


def drawn_signs(t: int, n: int, generator: torch.Generator) -> torch.Tensor:
    return 2.0 * torch.randint(2, (t, n), generator=generator).double() - 1


def test_suprema_in_the_plane_are_found(generator):
    X, signs = unit_rows(9, 2, generator=generator), drawn_signs(60, 9, generator)
    exact = torch.tensor([plane_supremum(X, each) for each in signs], dtype=torch.float64)
    found = alignments(X, signs, generator=generator)
    assert bool((found <= exact + 1e-12).all())
    assert float((found > 0.98 * exact).double().mean()) > 0.9


def test_no_network_is_above_the_formula(generator):
    """W from gradient ascent on 1/N Σ ξ F(W; x) itself, at ‖W‖_F = B; a has as many of either sign."""
    n, m, B = 12, 6, 1.7
    X, signs = unit_rows(n, 2, generator=generator), drawn_signs(1, n, generator)[0]
    a = torch.tensor([1.0, -1.0] * (m // 2), dtype=torch.float64) / math.sqrt(m)
    above, below = plane_supremum(X, signs), plane_supremum(X, -signs)
    formula = B / n * math.sqrt((above**2 + below**2) / 2)
    best = 0.0
    for _ in range(40):
        W = torch.randn(m, 2, generator=generator, dtype=torch.float64)
        for _ in range(120):
            W = (B * W / W.norm()).requires_grad_()
            value = signs @ ((X @ W.T).clamp(min=0) @ a) / n
            (slope,) = torch.autograd.grad(value, W)
            best, W = max(best, float(value.detach())), W.detach() + 2.0 * slope
    assert 0.98 * formula < best <= formula + 1e-12


def test_bound_holds_and_is_of_the_right_order(generator):
    for n, d in ((20, 3), (80, 3), (320, 6)):
        X = unit_rows(n, d, generator=generator)
        found = float(rademacher_lower(X, 2.0, 100, generator=generator).mean())
        assert 0.2 * frobenius_bound(2.0, n) < found < frobenius_bound(2.0, n)


def test_rows_are_bounded_by_frobenius(generator):
    norms = torch.rand(40, generator=generator, dtype=torch.float64)
    assert rows_bound(norms, 50) < frobenius_bound(float(norms.norm()), 50)
    assert rows_bound(0.3 * torch.ones(40), 50) == pytest.approx(frobenius_bound(0.3 * math.sqrt(40), 50))
    direct = sum(2 * norm / (math.sqrt(40) * math.sqrt(50)) for norm in norms.tolist())
    assert rows_bound(norms, 50) == pytest.approx(direct)


def test_the_papers_sizes():
    """With ‖W‖_F = 9.7√d the bound is 1 at 376d samples: N = 5000 at d = 40 is below that."""
    found = rademacher_two_layers(9.7 * math.sqrt(40), 500, 40, num_signs=5)
    assert found.terms["samples at which the bound is 1"] == pytest.approx(376.36 * 40)
    assert found.value == pytest.approx(2 * 9.7 * math.sqrt(40 / 500))
    assert found.applies
    assert 0.1 < found.terms["measured/bound"] < 0.5
