"""Each target against its formula, written out with loops over Python floats."""

import math
from dataclasses import replace
from itertools import combinations, product

import pytest
import torch

from widenet.base.errors import InputError
from widenet.data import (
    Concept,
    Cube,
    GeneralSums,
    GeneralThreeLayerTarget,
    Parities,
    ResidualTarget,
    RidgeSums,
    Sphere,
    ThreeLayerTarget,
    TwoLayerTarget,
)

SINES = [torch.sin, torch.cos, torch.tanh]
SCALARS = {torch.sin: math.sin, torch.cos: math.cos, torch.tanh: math.tanh, torch.square: lambda z: z * z}


def weights(*shape: int, generator: torch.Generator) -> torch.Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def dot(w: torch.Tensor, x: torch.Tensor) -> float:
    return sum(float(a) * float(b) for a, b in zip(w, x, strict=True))


def assert_outputs(target, X, brute):
    expected = [[brute(r, x) for r in range(target.num_outputs)] for x in X]
    torch.testing.assert_close(target.evaluate(X), torch.tensor(expected, dtype=torch.float64))


def test_parities_are_products(generator):
    target = Parities([(0,), (0, 2, 4), ()], [1.0, -0.1, 3.0], factor=1.5)
    X = Cube(5, 0.7).draw(20, generator=generator)
    expected = torch.stack(
        [1.5 * X[:, 0], -0.1 * 1.5**3 * X[:, 0] * X[:, 2] * X[:, 4], X.new_full((20,), 3)], 1
    )
    torch.testing.assert_close(target.evaluate(X), expected)


def test_different_parities_are_orthogonal_on_the_whole_cube():
    corners = torch.tensor(list(product((-1.0, 1.0), repeat=6)), dtype=torch.float64)
    subsets = [subset for size in range(7) for subset in combinations(range(6), size)]
    values = Parities(subsets, [1.0] * 64).evaluate(corners)
    assert torch.equal(values.T @ values, 64 * torch.eye(64, dtype=torch.float64))


def test_ridge_sums(generator):
    functions = [[torch.sin, torch.tanh, torch.cos], [torch.cos, torch.sin, torch.square]]
    w, a = weights(2, 3, 4, generator=generator), weights(2, 3, generator=generator)
    assert_outputs(
        RidgeSums(functions, w, a),
        Sphere(4).draw(10, generator=generator),
        lambda r, x: sum(float(a[r, i]) * SCALARS[functions[r][i]](dot(w[r, i], x)) for i in range(3)),
    )


def test_general_sums(generator):
    functions = [[torch.sin, torch.tanh], [torch.tanh, torch.sin], [torch.sin, torch.sin]]
    w1, w2 = (weights(2, 5, generator=generator) for _ in range(2))
    a = weights(3, 2, generator=generator)

    def brute(r, x):
        with_one = [*x.tolist(), 1.0]
        norm = math.sqrt(sum(value * value for value in with_one))
        return sum(
            float(a[r, i]) * SCALARS[functions[r][i]](dot(w1[i], with_one) / norm) * dot(w2[i], with_one)
            for i in range(2)
        )

    assert_outputs(GeneralSums(functions, w1, w2, a), Cube(4).draw(10, generator=generator), brute)


def test_two_layer_target(generator):
    w1, w2 = (weights(3, 4, generator=generator) for _ in range(2))
    a = weights(2, 3, generator=generator)
    assert_outputs(
        TwoLayerTarget(SINES, w1, w2, a),
        Sphere(4).draw(10, generator=generator),
        lambda r, x: sum(float(a[r, i]) * SCALARS[SINES[i]](dot(w1[i], x)) * dot(w2[i], x) for i in range(3)),
    )


def test_three_layer_target(generator):
    outer, inner2 = [torch.square, torch.sin], [torch.cos, torch.tanh]
    w1, w2 = weights(3, 4, generator=generator), weights(2, 4, generator=generator)
    v1, v2 = weights(2, 3, generator=generator), weights(2, 2, generator=generator)
    a = weights(2, 2, generator=generator)

    def brute(r, x):
        first = [SCALARS[f](dot(w1[j], x)) for j, f in enumerate(SINES)]
        second = [SCALARS[f](dot(w2[j], x)) for j, f in enumerate(inner2)]
        return sum(
            float(a[r, i]) * SCALARS[f](dot(v1[i], first)) * dot(v2[i], second) for i, f in enumerate(outer)
        )

    target = ThreeLayerTarget(outer, SINES, inner2, w1, w2, v1, v2, a)
    assert_outputs(target, Sphere(4).draw(10, generator=generator), brute)


def test_general_three_layer_target(generator):
    """The form of remark 4.2, and (4.1) where the linear factors are 1 at every row."""
    outer, inner2 = [torch.square, torch.sin], [torch.cos, torch.tanh]
    w1, w3 = weights(3, 4, generator=generator), weights(3, 4, generator=generator)
    w2, w4 = weights(2, 4, generator=generator), weights(2, 4, generator=generator)
    v1, v2 = weights(2, 3, generator=generator), weights(2, 2, generator=generator)
    a = weights(2, 2, generator=generator)

    def brute(r, x):
        first = [SCALARS[f](dot(w1[j], x)) * dot(w3[j], x) for j, f in enumerate(SINES)]
        second = [SCALARS[f](dot(w2[j], x)) * dot(w4[j], x) for j, f in enumerate(inner2)]
        return sum(
            float(a[r, i]) * SCALARS[f](dot(v1[i], first)) * dot(v2[i], second) for i, f in enumerate(outer)
        )

    X = Sphere(4).draw(10, generator=generator)
    assert_outputs(GeneralThreeLayerTarget(outer, SINES, inner2, w1, w2, v1, v2, a, w3, w4), X, brute)
    X[:, -1] = 0.5
    last = torch.tensor([[0.0, 0.0, 0.0, 2.0]], dtype=torch.float64)
    general = GeneralThreeLayerTarget(
        outer, SINES, inner2, w1, w2, v1, v2, a, last.expand(3, -1), last.expand(2, -1)
    )
    plain = ThreeLayerTarget(outer, SINES, inner2, w1, w2, v1, v2, a)
    torch.testing.assert_close(general.evaluate(X), plain.evaluate(X))


def test_residual_target_adds_what_the_second_layer_makes_of_the_first(generator):
    inner = RidgeSums(
        [[torch.sin]] * 2, weights(2, 1, 3, generator=generator), weights(2, 1, generator=generator)
    )
    outer = RidgeSums(
        [[torch.tanh]] * 2, weights(2, 1, 2, generator=generator), weights(2, 1, generator=generator)
    )
    X = Sphere(3).draw(10, generator=generator)
    F = inner.evaluate(X)
    expected = 0.5 * F + 0.2 * outer.evaluate(F)
    torch.testing.assert_close(ResidualTarget(inner, outer, 0.2, beta=0.5).evaluate(X), expected)
    assert torch.equal(ResidualTarget(inner, outer, 0.0).evaluate(X), F)


def test_targets_follow_the_dtype_of_the_rows(generator):
    w, a = weights(1, 2, 3, generator=generator), weights(1, 2, generator=generator)
    targets = [
        Parities([(0, 1)], [1.0]),
        RidgeSums([[torch.sin] * 2], w, a),
        GeneralSums([[torch.sin]], w[0, :1], w[0, 1:], a[:, :1]),
        TwoLayerTarget([torch.sin] * 2, w[0], w[0], a),
        ThreeLayerTarget([torch.sin], [torch.sin] * 2, [torch.sin] * 2, w[0], w[0], a, a, a[:, :1]),
    ]
    for target in targets:
        X = torch.ones(4, 2 if isinstance(target, GeneralSums) else 3)
        assert target.evaluate(X).dtype == torch.float32
        torch.testing.assert_close(target.evaluate(X), target.evaluate(X.double()).float())


def test_sample_is_the_target_of_its_inputs(generator):
    concept = Concept(Parities([(0, 1), (2,)], [1.0, 1.0]), Cube(3))
    X, Y = concept.sample(100, generator=generator)
    assert (X.shape, Y.shape) == ((100, concept.d), (100, concept.num_outputs))
    assert torch.equal(Y, concept.evaluate(X))


def test_other_inputs_take_the_place_of_the_usual_ones(generator):
    concept = replace(Concept(Parities([(0, 1)], [1.0]), Cube(2)), inputs=Sphere(3))
    X, Y = concept.sample(5, generator=generator)
    assert concept.d == 3
    torch.testing.assert_close(Y[:, 0], X[:, 0] * X[:, 1])


def test_noise_is_gaussian_on_each_output(generator):
    n, concept = 40_000, Concept(Parities([(0,), (1,)], [1.0, 1.0]), Cube(2), noise=0.5)
    X, Y = concept.sample(n, generator=generator)
    noise = Y - concept.evaluate(X)
    assert noise.mean(0).abs().max() < 5 * 0.5 / n**0.5
    assert (noise.var(0) - 0.25).abs().max() < 5 * 0.25 * (2 / n) ** 0.5
    assert abs(float((noise / 0.5).pow(4).mean()) - 3) < 0.2
    assert abs(float((noise[:, 0] * noise[:, 1]).mean())) < 5 * 0.25 / n**0.5
    # OPT: the target's own squared error, summed over the outputs.
    assert float(noise.square().sum(1).mean()) == pytest.approx(concept.num_outputs * 0.25, rel=0.03)


@pytest.mark.parametrize("noise", [-0.1, math.inf, math.nan])
def test_impossible_noise_is_refused(noise):
    with pytest.raises(InputError, match="noise is"):
        Concept(Parities([(0,)], [1.0]), Cube(1), noise=noise)


def test_weights_of_the_wrong_shape_are_refused():
    one = torch.ones(1, 1)
    with pytest.raises(InputError, match=r"w has shape \(1, 1\), but the functions need \(1, 1, any\)"):
        RidgeSums([[torch.sin]], one, one)
    with pytest.raises(InputError, match=r"a has shape \(1, 2\), but the functions need \(any, 1\)"):
        TwoLayerTarget([torch.sin], one, one, torch.ones(1, 2))
    with pytest.raises(InputError, match=r"w2 has shape \(1, 1\), but the functions need \(1, 3\)"):
        TwoLayerTarget([torch.sin], torch.ones(1, 3), one, one)
    with pytest.raises(InputError, match="v2 has shape"):
        ThreeLayerTarget([torch.sin], [torch.sin], [torch.sin] * 2, one, torch.ones(2, 1), one, one, one)
    with pytest.raises(InputError, match=r"w4 has shape \(2, 1\), but the functions need \(1, 1\)"):
        GeneralThreeLayerTarget(*[[torch.sin]] * 3, *[one] * 6, torch.ones(2, 1))
    with pytest.raises(InputError, match="w1 has shape"):
        GeneralSums([[torch.sin]], torch.ones(2), torch.ones(2), one)
