"""The wide three-layer network near initialisation that computes a target (4.1), or that of Remark 4.2."""

import math

import pytest
import torch
from torch.testing import assert_close

from widenet.base.errors import InputError
from widenet.data.concepts import GeneralThreeLayerTarget, ThreeLayerTarget
from widenet.networks.constructed import Term
from widenet.networks.constructed_pair import (
    ProductTerm,
    Ridge,
    RidgeTimesLinear,
    coupled_error,
    pair_errors,
    pair_movement,
    pair_step,
    pair_study,
    projected,
)
from widenet.networks.coupling_sizes import spread_step
from widenet.networks.two_widths import draw_two_widths, outputs_with_signs, random_signs, sign_pattern
from widenet.testing import unit_rows
from widenet.theory.beyond_two_layers.hermite import gated_hermite
from widenet.theory.beyond_two_layers.relu_features import relu_hermite
from widenet.theory.smooth.functions import Smooth

D = 4
SIN = (0.0, 1.0, 0.0, -1 / 6, 0.0, 1 / 120)
AXES = torch.eye(D, dtype=torch.float64)
ONE = torch.ones(1, dtype=torch.float64)


def unit_with_half(n: int, generator: torch.Generator) -> torch.Tensor:
    """Rows of norm 1 with x_d = 1/2."""
    rows = unit_rows(n, D - 1, generator=generator) * math.sqrt(3) / 2
    return torch.cat([rows, torch.full((n, 1), 0.5, dtype=torch.float64)], dim=1)


def factor(coefficients: tuple[float, ...], axis: int, weight: float = 1.0) -> Term:
    """weight·φ(x_axis), by w4 = 2e_d since x_d = 1/2."""
    return Term(gated_hermite(coefficients, "least"), AXES[axis], 2 * AXES[-1], weight * ONE)


def plain() -> ProductTerm:
    """(1 + sin x_1)·(1 + x_2)/2."""
    first = ((1.0, Ridge(relu_hermite(SIN), AXES[0])),)
    return ProductTerm((1.0, 1.0), first, (factor((0.5, 0.5), 1),), ONE)


def test_the_error_falls_like_one_over_the_root_of_the_widths(generator):
    X = unit_with_half(16, generator)
    target = ThreeLayerTarget(
        (Smooth("1+z"),),
        (Smooth("sin(z)"),),
        (Smooth("(1+z)/2"),),
        AXES[:1],
        AXES[1:2],
        ONE[None],
        ONE[None],
        ONE[None],
    )
    study = pair_study(
        [plain()],
        target.evaluate,
        X,
        [(2**6, 2**6), (2**8, 2**8), (2**10, 2**10)],
        num_seeds=16,
        generator=generator,
        scale=lambda m1: m1**0.25,
    )
    assert -0.75 < study.slopes["pseudo"] < -0.25
    assert study.errors["pseudo"][-1] < 0.35 < float(target.evaluate(X).square().mean().sqrt())
    assert study.errors["real"][-1] < 0.8 * study.errors["real"][0]
    rows = [each.largest_row_w * m1 for each, (m1, _) in zip(study.movements, study.sizes, strict=True)]
    assert max(rows) < 12 * min(rows)  # C_0·m1^{1/4}, up to logarithms


@pytest.mark.parametrize("sizes", [((2**4, 2**10), (2**10, 2**10)), ((2**10, 2**4), (2**10, 2**10))])
def test_either_width_alone_is_not_enough(sizes, generator):
    X = unit_with_half(16, generator)
    study = pair_study(
        [plain()],
        lambda X: (1 + X[:, :1].sin()) * (1 + X[:, 1:2]) / 2,
        X,
        sizes,
        num_seeds=6,
        generator=generator,
    )
    narrow, wide = study.errors["pseudo"]
    assert wide < narrow / 1.2


def test_the_projection_is_a_gaussian_with_the_functions_correlation(generator):
    """Given W: √m2·α is standard normal over neurons, with correlation ψ(x)/κ with their inputs n(x)."""
    m1, m2 = 4096, 4000
    W, b = (torch.randn(m1, *shape, generator=generator, dtype=torch.float64) for shape in ((D,), ()))
    V = torch.randn(m2, m1, generator=generator, dtype=torch.float32).double()
    x = unit_with_half(1, generator)[0]
    directions = ((0.8, Ridge(relu_hermite(SIN), AXES[0])), (0.6, Ridge(relu_hermite((0.5, 1.0)), AXES[1])))
    alpha, kappa = projected(directions, W, b, V)
    inputs = V @ (W @ x + b).relu() / math.sqrt(m1)
    psi = 0.8 * math.sin(x[0]) + 0.6 * (0.5 + float(x[1]))
    assert float(alpha.square().mean()) == pytest.approx(1, abs=0.1)
    assert float(inputs.square().mean()) == pytest.approx(1, abs=0.25)
    assert float((alpha * inputs).mean()) * kappa == pytest.approx(psi, abs=0.25)
    assert kappa == pytest.approx(
        math.sqrt(float(sum(w * d.values(W, b) for w, d in directions).square().mean())), rel=1e-9
    )


def test_a_product_with_a_linear_factor_is_found_by_steins_identity(generator):
    """E[σ(⟨w, x⟩ + b)·⟨w, w3⟩·h(⟨w, w1⟩, b)] = φ(⟨w1, x⟩)⟨w3, x⟩ by Monte Carlo."""
    W, b = (torch.randn(2_000_000, *shape, generator=generator, dtype=torch.float64) for shape in ((D,), ()))
    direction = RidgeTimesLinear(gated_hermite((0.3, 1.0), "least"), AXES[0], AXES[1])
    values = direction.values(W, b)
    for x in unit_with_half(3, generator):
        found = float(((W @ x + b).relu() * values).mean())
        assert found == pytest.approx((0.3 + float(x[0])) * float(x[1]), abs=0.02)


def test_remark_4_2_with_two_products_and_two_outputs(generator):
    """The general form, evaluated by its own class."""
    outer, inner1, inner2 = ("1+z", "1-z/2"), ("1+z/2", "1"), ("z", "1+z/2")
    w1, w3 = AXES[[0, 1]], AXES[[2, 3]]
    w2, w4 = AXES[[1, 2]], AXES[[3, 0]]
    v1 = torch.tensor([[1.0, 0.0], [0.6, 0.8]], dtype=torch.float64)
    v2 = torch.tensor([[0.6, 0.8], [0.0, 1.0]], dtype=torch.float64)
    a = torch.tensor([[1.0, -0.5], [0.5, 1.0]], dtype=torch.float64)
    target = GeneralThreeLayerTarget(
        *(tuple(map(Smooth, texts)) for texts in (outer, inner1, inner2)), w1, w2, v1, v2, a, w3, w4
    )
    coefficients = {
        "1+z/2": (1.0, 0.5),
        "1": (1.0,),
        "z": (0.0, 1.0),
        "1+z": (1.0, 1.0),
        "1-z/2": (1.0, -0.5),
    }
    products = [
        ProductTerm(
            coefficients[outer[t]],
            tuple(
                (
                    float(v1[t, j]),
                    RidgeTimesLinear(gated_hermite(coefficients[inner1[j]], "least"), w1[j], w3[j]),
                )
                for j in range(2)
            ),
            tuple(
                Term(gated_hermite(coefficients[inner2[j]], "least"), w2[j], w4[j], v2[t, j : j + 1])
                for j in range(2)
            ),
            a[:, t],
        )
        for t in range(2)
    ]
    X = unit_with_half(24, generator)
    Y = target.evaluate(X)
    errors = []
    for _ in range(2):
        start = draw_two_widths(D, 2, 2**10, 2**11, generator=generator)
        step = pair_step(start, products, generator=generator)
        errors.append(pair_errors(start, step, X, Y, generator=generator)["pseudo"])
    assert sum(errors) / 2 < 0.35 < float(Y.square().mean().sqrt())


def test_the_step_is_the_formula(generator):
    """W⋇ and V⋇ of one product, neuron by neuron, and the pseudo network as their double sum."""
    start = draw_two_widths(D, 1, 6, 5, generator=generator, epsilon_a=0.5)
    product = plain()
    step = pair_step(start, [product], generator=torch.Generator().manual_seed(3), epsilon_a=0.5, scale=2.0)
    signs = random_signs(1, 6, generator=torch.Generator().manual_seed(3))[0]
    W, V, A = (start[name][0] for name in ("W", "V", "A"))
    q = torch.stack([product.first[0][1].values((6**0.5 * w[None, :-1]), 6**0.5 * w[-1:]) for w in W])[:, 0]
    kappa = float(q.square().mean()) ** 0.5
    h = gated_hermite((1.0, kappa), "least")
    for i in range(5):
        alpha = float(5**0.5 * V[i, :-1] @ q) / (kappa * 6**0.5)
        values = h(torch.tensor([alpha], dtype=torch.float64), 5**0.5 * V[i, -1:])
        row = float(A[0, i]) * float(values) / (2 * 0.25 * 5) * signs
        assert_close(step["V"][0, i, :-1], row)
    for j in range(6):
        value = product.second[0].h(6**0.5 * W[j, 1:2], 6**0.5 * W[j, -1:])
        assert_close(step["W"][0, j, :-1], 2 / 6 * float(signs[j]) * float(value) * 2 * AXES[-1])
    assert not step["W"][..., -1].any()
    assert not step["V"][..., -1].any()
    moved = pair_movement(step)
    assert moved.largest_row_v == pytest.approx(float(step["V"][0].norm(dim=1).max()))
    assert moved.two_four == pytest.approx(float(step["W"][0].norm(dim=1).pow(4).sum()) ** 0.25)
    assert moved.frobenius == pytest.approx(float(step["V"].norm()))


def test_signs_from_near_initialisation_do_as_well(generator):
    """Corollary 6.6: the pseudo network hardly changes near initialisation, but far away it does."""
    m1, m2, X = 2**10, 2**10, unit_with_half(16, generator)
    start = draw_two_widths(D, 1, m1, m2, generator=generator)
    step = pair_step(start, [plain()], generator=generator)
    out = outputs_with_signs(sign_pattern(start, X), {**step, "A": start["A"]}, X, "bias-free")[0]
    changes = []
    for tau_w, tau_v in ((0.0, 0.0), (m1**-0.7, 0.1), (3 * m1**0.25, 30.0)):
        moved = spread_step(start, tau_w, tau_v, generator=generator)
        there = {**start, **{part: start[part] + moved[part] for part in ("W", "V")}}
        changes.append(coupled_error(start, step, there, X, out))
    here, near, far = changes
    assert here < 1e-12
    assert near < 0.25 * float(out.square().mean().sqrt())
    assert far > 3 * near


def test_the_scale_moves_between_the_layers_and_leaves_the_network(generator):
    X = unit_with_half(5, generator)
    start = draw_two_widths(D, 1, 60, 40, generator=generator)
    outs = []
    for scale in (1.0, 7.0):
        step = pair_step(start, [plain()], generator=torch.Generator().manual_seed(1), scale=scale)
        outs.append(outputs_with_signs(sign_pattern(start, X), {**step, "A": start["A"]}, X, "bias-free"))
    assert_close(*outs)


def test_a_study_is_the_mean_over_its_seeds(generator):
    X, sizes, again = unit_with_half(5, generator), [(8, 6), (6, 9)], torch.Generator().manual_seed(5)
    study = pair_study(
        [plain()],
        lambda X: X[:, :1],
        X,
        sizes,
        num_seeds=2,
        generator=torch.Generator().manual_seed(5),
        scale=float,
    )
    for number, (m1, m2) in enumerate(sizes):
        totals = {"pseudo": 0.0, "real": 0.0, "frobenius": 0.0}
        for _ in range(2):
            start = draw_two_widths(D, 1, m1, m2, generator=again)
            step = pair_step(start, [plain()], generator=again, scale=m1)
            errors = pair_errors(start, step, X, X[:, :1], generator=again)
            for name, value in (errors | {"frobenius": pair_movement(step).frobenius}).items():
                totals[name] += value / 2
        assert study.movements[number].frobenius == pytest.approx(totals["frobenius"])
        for name in ("pseudo", "real"):
            assert study.errors[name][number] == pytest.approx(totals[name])
    assert study.sizes == ((8, 6), (6, 9))


def test_what_does_not_fit_is_refused(generator):
    with pytest.raises(InputError, match="orthogonal"):
        RidgeTimesLinear(gated_hermite((0.0, 1.0)), AXES[0], AXES[0] + AXES[1])
    start = draw_two_widths(D + 1, 1, 8, 8, generator=generator)
    with pytest.raises(InputError, match="vectors w of 5 numbers"):
        pair_step(start, [plain()], generator=generator)
    fitting = draw_two_widths(D, 2, 8, 8, generator=generator)
    with pytest.raises(InputError, match="a of 2"):
        pair_step(fitting, [plain()], generator=generator)
    short = RidgeTimesLinear(gated_hermite((0.0, 1.0)), AXES[0], AXES[1])
    long = torch.eye(5, dtype=torch.float64)
    term = Term(gated_hermite((1.0,)), long[0], long[1], ONE)
    with pytest.raises(InputError, match="vectors w of 5 numbers"):
        pair_step(start, [ProductTerm((0.0, 1.0), ((1.0, short),), (term,), ONE)], generator=generator)
