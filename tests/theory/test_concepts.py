"""The experiments' targets are members of the classes, and have the complexities that arithmetic gives."""

import math
from dataclasses import replace

import pytest
import torch

from widenet.base.errors import InputError
from widenet.data import (
    Concept,
    Cube,
    GeneralSums,
    GeneralThreeLayerTarget,
    ResidualTarget,
    Sphere,
    ThreeLayerTarget,
    TwoLayerTarget,
    parity6,
    resnet_cube,
    resnet_hard,
    three_sines,
    three_tanhs,
)
from widenet.theory.concepts import in_class, polarised, report
from widenet.theory.demand import all_met
from widenet.theory.named_concepts import concept
from widenet.theory.numbers import INFINITY
from widenet.theory.smooth.functions import Smooth


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.mark.parametrize("s", [1, 2, 3, 5])
def test_polarisation(s):
    z = torch.randn(s, generator=generator(), dtype=torch.float64)
    total = sum(
        math.prod(signs) * float(torch.tensor(signs, dtype=z.dtype) @ z) ** s for signs in polarised(s)
    )
    assert total / (2 ** (s - 1) * math.factorial(s)) == pytest.approx(float(z.prod()))


CONCEPTS = {
    "resnet_cube": resnet_cube(d=12),
    "resnet_cube, β = -0.5": resnet_cube(d=12, beta=-0.5),
    "resnet_hard": resnet_hard(d=16, k=3, coordinates=(1, 5, 9)),
    "parity6": parity6(d=9),
    "three_sines": three_sines(),
    "three_tanhs": three_tanhs(),
}


@pytest.mark.parametrize("name", CONCEPTS)
def test_members_are_the_experiments_targets_in_other_units(name):
    old = CONCEPTS[name]
    new = in_class(old, generator=generator())
    X = old.inputs.draw(50, generator=generator())
    X_new = new.inputs.draw(50, generator=generator())
    torch.testing.assert_close(X_new.norm(dim=1), torch.ones(50, dtype=torch.float64))
    torch.testing.assert_close(X_new * X.norm(dim=1, keepdim=True), X)
    before, after = old.evaluate(X), new.evaluate(X_new)
    scale = float(after.norm() / before.norm())
    torch.testing.assert_close(after, scale * before)
    assert all_met(report(new, generator=generator()).demands)


def test_the_hard_class_as_concept_1():
    """Appendix D.4, with half of its terms and so twice its coefficients."""
    d, k, star = 16, 3, 100.0
    found = report(
        in_class(resnet_hard(d=d, k=k, alpha=0.1), generator=generator()), generator=generator(), c_star=star
    )
    assert (found.form, found.num_outputs) == ("Concept 1", k)
    assert found.sizes == {"p_F": 1, "p_G": 2 ** (k - 1)}
    assert float(found.complexities["C_F"]) == pytest.approx(star * 2 * math.sqrt(2 * d / k))
    outer = k ** (k / 2) / math.sqrt(k) * (2 * k) ** (k / 2) / (2 ** (k - 1) * math.factorial(k))
    assert float(found.complexities["C_G"]) == pytest.approx(star * (k + 1) * outer)
    assert float(found.bounds["B_F"]) == pytest.approx(math.sqrt(k) * float(found.complexities["C_F"]))
    assert float(found.bounds["L_G"]) == pytest.approx(math.sqrt(k) * 4 * float(found.complexities["C_G"]))


def test_bounds_hold_on_samples():
    member = in_class(resnet_cube(d=12), generator=generator())
    found = report(member, generator=generator(), c_star=1.0)
    target = member.target
    assert isinstance(target, ResidualTarget)
    X = member.inputs.draw(200, generator=generator())
    hidden = target.inner.evaluate(X)
    assert float(hidden.norm(dim=1).max()) <= float(found.bounds["B_F"])
    near = hidden + 1e-3 * torch.randn(hidden.shape, generator=generator(), dtype=hidden.dtype)
    change = (target.outer.evaluate(near) - target.outer.evaluate(hidden)).norm(dim=1) / (near - hidden).norm(
        dim=1
    )
    assert float(change.max()) <= 3 * float(found.bounds["L_G"])  # the factor 3 of Fact A.3's proof


def test_opt_is_the_risk_of_the_target():
    noisy = replace(resnet_hard(d=16, k=3), noise=0.2)
    member = in_class(noisy, generator=generator())
    found = report(member, generator=generator())
    assert pytest.approx(3 * (0.2 / math.sqrt(3)) ** 2 / 2) == found.OPT
    X, Y = member.sample(20_000, generator=generator())
    risk = float((member.evaluate(X) - Y).square().sum(1).mean()) / 2
    assert risk == pytest.approx(found.OPT, rel=0.03)


def test_parity6_is_in_the_class_3_1():
    found = report(in_class(parity6(d=9), generator=generator()), generator=generator(), c_star=1.0)
    assert (found.form, found.sizes) == ("(3.1)", {"p": 32})
    size = 9**3 * 6**3 / (32 * math.factorial(6))
    assert float(found.complexities["C_s"]) == pytest.approx(6**1.75 * size)


def test_the_general_form_of_remark_4_2():
    axes = torch.eye(3, dtype=torch.float64)
    functions = ((Smooth("z**2"),), (Smooth("sin(z)"),), (Smooth("z"),))
    one = torch.ones(1, 1, dtype=torch.float64)
    for w3, met in ((axes[1:2], True), (axes[:1], False), (2 * axes[1:2], False)):
        target = GeneralThreeLayerTarget(*functions, axes[:1], axes[1:2], one, one, one, w3, axes[2:])
        found = report(Concept(target, Sphere(3)), generator=generator())
        assert (found.form, found.sizes) == ("Remark 4.2", {"p1": 1, "p2": 1})
        assert all_met(found.demands) is met
    plain = ThreeLayerTarget(*functions, axes[:1], axes[1:2], one, one, one)
    same = report(Concept(plain, Sphere(3)), generator=generator())
    assert same.complexities == found.complexities


def test_three_sines_are_in_the_class_4_1():
    found = report(in_class(three_sines(), generator=generator()), generator=generator(), c_star=1.0)
    assert (found.form, found.sizes) == ("(4.1)", {"p1": 1, "p2": 3})
    cosine = sum((2 * j + 1) ** 1.75 * 7 ** (2 * j) / math.factorial(2 * j) for j in range(60))
    assert float(found.complexities["C_s(phi)"]) == pytest.approx(cosine)
    R = 3 * cosine
    outer = 4 + 2**1.75 * 4 * math.sqrt(3) * R + 3**1.75 * 3 * R**2
    assert float(found.complexities["C_s(Phi)"]) == pytest.approx(outer)


def test_three_tanhs_have_no_complexity():
    found = report(in_class(three_tanhs(), generator=generator()), generator=generator())
    assert found.complexities["C_s(phi)"] == INFINITY


def concept_2(function: str) -> Concept:
    """A member of Concept 2 with one function everywhere, on the sphere."""
    w = torch.nn.functional.normalize(torch.randn(2, 4, generator=generator(), dtype=torch.float64), dim=1)
    v = torch.nn.functional.normalize(torch.randn(2, 3, generator=generator(), dtype=torch.float64), dim=1)
    a = torch.tensor([[1.0, -0.5], [0.2, 0.3]], dtype=torch.float64)
    rows = ((Smooth(function),) * 2,) * 2
    return Concept(
        ResidualTarget(GeneralSums(rows, w, w.flip(0), a), GeneralSums(rows, v, v.flip(0), a), 0.1), Sphere(3)
    )


def test_concept_2():
    found = report(concept_2("sin(z)"), generator=generator(), c_star=1.0)
    assert found.form == "Concept 2"
    assert float(found.complexities["C_F"]) == pytest.approx(math.sinh(1) + math.cosh(1))
    assert all_met(found.demands)
    assert float(found.bounds["B_F measured"]) <= float(found.bounds["B_F"])
    assert not all_met(report(concept_2("cos(z)"), generator=generator()).demands)


def test_what_a_class_asks_for_is_measured():
    w = 2 * torch.eye(2, dtype=torch.float64)
    target = TwoLayerTarget((Smooth("exp"),) * 2, w, w, torch.tensor([[1.0, 3.0]], dtype=torch.float64))
    found = report(Concept(target, Cube(2)), generator=generator())
    assert [demand.holds for demand in found.demands] == [False, False, False]


def test_functions_must_have_series():
    target = TwoLayerTarget((torch.sin,), torch.eye(1), torch.eye(1), torch.ones(1, 1))
    with pytest.raises(InputError, match="Smooth"):
        report(Concept(target, Sphere(1)), generator=generator())


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("resnet-cube:d=12", "Concept 1"),
        ("resnet-hard:d=16,k=3,noise=0.1", "Concept 1"),
        ("parity6:d=9", "(3.1)"),
        ("three-sines", "(4.1)"),
    ],
)
def test_named_concepts(name, form):
    found = concept(name)
    assert found.applies
    assert found.value > 1e4
    assert any(form in sentence for sentence in found.why)


def test_a_named_concept_without_complexity_is_outside():
    assert concept("three-tanhs").applies is False


def test_unknown_concepts_suggest_near_ones():
    with pytest.raises(InputError, match="resnet-cube"):
        concept("resnet-cub:d=12")
