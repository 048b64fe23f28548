"""Lemma A.2: Concept 1 as Concept 2. Fact A.3: how steep a term is."""

import dataclasses
import math

import pytest
import torch

from widenet.base.errors import InputError
from widenet.data.concepts import Concept, GeneralSums, ResidualTarget, RidgeSums
from widenet.data.inputs import Sphere
from widenet.testing import unit_rows
from widenet.theory.concepts import report
from widenet.theory.resnet_beyond_kernels.general import fact_a3_slope, general_form, lemma_a_2, odd_parts
from widenet.theory.smooth.functions import Smooth

TEXTS = ("exp(z)", "1/(2-z)", "z**2 + 0.5*z**3")


def ridge_sums(shared: bool, generator: torch.Generator) -> RidgeSums:
    w = unit_rows(6, 4, generator=generator).reshape(2, 3, 4) / math.sqrt(2)
    if shared:
        w = w[:1].expand(2, -1, -1)
    a = 2 * torch.rand(2, 3, generator=generator, dtype=torch.float64) - 1
    functions = tuple(map(Smooth, TEXTS))
    return RidgeSums((functions, functions[::-1]), w, a)


@pytest.mark.parametrize("shared", [True, False])
def test_both_forms_agree_on_the_sphere_alone(shared, generator):
    F = ridge_sums(shared, generator)
    general = general_form(F)
    assert general.a.shape == (2, 6 if shared else 12)
    X = unit_rows(50, 4, generator=generator)
    assert torch.allclose(general.evaluate(X), F.evaluate(X), atol=1e-10)
    assert not torch.allclose(general.evaluate(2 * X), F.evaluate(2 * X), atol=1e-2)


def test_it_is_a_member_of_concept_2(generator):
    F, G = (ridge_sums(shared=True, generator=generator) for _ in range(2))
    G = dataclasses.replace(G, w=G.w[..., :2] / G.w[..., :2].norm(dim=-1, keepdim=True) / math.sqrt(2))
    member = Concept(ResidualTarget(general_form(F), general_form(G), 0.1), Sphere(4))
    found = report(member, generator=generator)
    before = report(Concept(ResidualTarget(F, G, 0.1), Sphere(4)), generator=generator)
    assert found.form == "Concept 2"
    assert found.sizes == {"p_F": 6, "p_G": 6}
    assert found.complexities["C_F"] <= before.complexities["C_F"]
    assert all(demand.holds for demand in found.demands)


def test_parts_add_up():
    coefficients = (0.3, -1.0, 0.7, 0.0, 2.0, 0.1)
    plus, minus = odd_parts(coefficients)
    assert not any(plus[2::2])
    assert not any(minus[0::2])
    z = 0.37
    value = sum(c * z**i for i, c in enumerate(plus)) + z * sum(c * z**i for i, c in enumerate(minus))
    assert value == pytest.approx(sum(c * z**i for i, c in enumerate(coefficients)))
    assert odd_parts((2.0,)) == ((2.0,), (0.0,))


@pytest.mark.parametrize("phi", ["exp(z)", "z**2", "1/cosh(z)", "1,2,3"])
def test_lemma_a2_has_the_complexities_of_the_parts(phi):
    found = lemma_a_2(phi, c_star=3.0)
    assert found.applies
    assert found.value <= found.terms["C_s(φ)"]
    if phi == "1,2,3":  # φ⁺ = 1 + 2z, φ⁻ = 3z
        assert found.terms["C_s(φ⁺)"] == pytest.approx(3 * (1 + 2 * 2))
        assert found.terms["C_s(φ⁻)"] == pytest.approx(3 * 2 * 3)
        log = math.log(1e6)
        assert found.terms["log10 C_ε(φ⁻)"] == pytest.approx(math.log10(3 * (3 + math.sqrt(log) * 3)))
    assert lemma_a_2("z**2", c_star=0.1).applies is False  # C* is large in the paper, and needs to be


def test_functions_must_be_smooth():
    w = torch.full((1, 1, 2), 0.5, dtype=torch.float64)
    with pytest.raises(InputError, match="must be Smooth"):
        general_form(RidgeSums(((torch.sin,),), w, torch.ones(1, 1, dtype=torch.float64)))


@pytest.mark.parametrize("phi", ["sin(2*z)", "1 + z + z**3", "tanh(z)"])
def test_no_term_is_steeper_than_it_says(phi, generator):
    """Autograd at random points of any norm, for random w1 and w2."""
    found = fact_a3_slope(phi)
    assert found.applies
    steepest = 0.0
    for _ in range(20):
        w1, w2 = unit_rows(2, 4, generator=generator)
        term = GeneralSums(((Smooth(phi),),), w1[None], w2[None], torch.ones(1, 1, dtype=torch.float64))
        X = torch.randn(60, 3, generator=generator, dtype=torch.float64, requires_grad=True)
        (slopes,) = torch.autograd.grad(term.evaluate(X).sum(), X)
        steepest = max(steepest, float(slopes.norm(dim=1).max()))
    assert 0.05 * found.value < steepest <= found.value <= found.terms["C_s(φ)"]


def test_the_slope_is_its_sum():
    assert fact_a3_slope("0.5 - 2*z + z**3").value == pytest.approx(0.5 + 3 * 2 + 7)
    assert fact_a3_slope("z", c_star=1.0).applies is False  # 3 > 2: C* must be at least 1.5 here
    assert fact_a3_slope("arctan(z)").value == math.inf
