"""The papers' functions against their formulas, written out coordinate by coordinate."""

import math
from itertools import product

import pytest
import torch

from widenet.base.errors import InputError
from widenet.data import Sphere, parity6, resnet_cube, resnet_hard, three_sines, three_tanhs


def corners(d: int) -> torch.Tensor:
    return torch.tensor(list(product((-1.0, 1.0), repeat=d)), dtype=torch.float64)


def test_resnet_cube_by_the_formula(generator):
    concept = resnet_cube(alpha=0.3, beta=0.5)
    X, Y = concept.sample(40, generator=generator)
    assert (X.shape, Y.shape) == ((40, 30), (40, 15))
    assert (X.abs() == 1).all()
    for x, y in zip(X.tolist(), Y.tolist(), strict=True):
        F = [x[2 * i] * x[2 * i + 1] for i in range(15)]
        G = [(-1) ** i * F[0] * F[1] * F[2] * F[3] for i in range(1, 16)]
        assert y == pytest.approx([0.5 * f + 0.3 * g for f, g in zip(F, G, strict=True)])


def test_what_resnet_cube_leaves_unlearned(generator):
    """Without αG(F) the error is kα² [Section 8.1]; F and G(F) are uncorrelated beyond k = 4."""
    X, Y = resnet_cube().sample(2000, generator=generator)
    F = resnet_cube(alpha=0.0).evaluate(X)
    assert float((Y - F).square().sum(1).mean()) == pytest.approx(15 * 0.3**2)


def test_outputs_of_resnet_cube_on_the_whole_cube():
    X = corners(10)
    F = resnet_cube(d=10, alpha=0.0).evaluate(X)
    G = resnet_cube(d=10, alpha=1.0, beta=0.0).evaluate(X)
    assert torch.equal(F.T @ F, 1024 * torch.eye(5, dtype=torch.float64))
    assert torch.equal(F.T @ G, torch.zeros(5, 5, dtype=torch.float64))
    assert G[:, 0].sum() == 0
    assert torch.equal(G[:, 0], -G[:, 1])


def test_coordinates_beyond_the_pairs_play_no_part():
    concept, X = resnet_cube(d=10, k=4), corners(10)
    assert concept.num_outputs == 4
    flipped = X.clone()
    flipped[:, 8:] *= -1
    assert torch.equal(concept.evaluate(X), concept.evaluate(flipped))


def test_resnet_hard_by_the_formula(generator):
    concept = resnet_hard(d=9, d1=6, k=3, alpha=0.25, coordinates=(5, 0, 2))
    X, Y = concept.sample(50, generator=generator)
    assert X.shape == (50, 9)
    torch.testing.assert_close(X.abs(), torch.full((50, 9), 1 / 3, dtype=torch.float64))
    for x, y in zip(X.tolist(), Y.tolist(), strict=True):
        F = [3 * x[5], 3 * x[0], 3 * x[2]]
        assert y == pytest.approx([f + 0.25 * math.prod(F) for f in F])


def test_resnet_hard_on_another_background(generator):
    X, _ = resnet_hard(d=9, d1=5, k=2, background=Sphere(4)).sample(30, generator=generator)
    torch.testing.assert_close(X[:, :5].abs(), torch.full((30, 5), 1 / 3, dtype=torch.float64))
    torch.testing.assert_close(X[:, 5:].norm(dim=1), torch.ones(30, dtype=torch.float64))


def test_members_of_the_hard_class_are_orthogonal_in_their_last_term():
    X = corners(6) / 6**0.5
    terms = [
        resnet_hard(d=6, k=3, alpha=1.0, coordinates=chosen).evaluate(X)
        - resnet_hard(d=6, k=3, alpha=0.0, coordinates=chosen).evaluate(X)
        for chosen in ((0, 1, 2), (0, 1, 3))
    ]
    torch.testing.assert_close(terms[0].T @ terms[0], torch.full((3, 3), 64.0, dtype=torch.float64))
    assert (terms[0].T @ terms[1]).abs().max() < 1e-12


def test_parity6_by_the_formula(generator):
    chosen = (7, 1, 4, 0, 9, 3)
    X, Y = parity6(d=10, coordinates=chosen).sample(50, generator=generator)
    torch.testing.assert_close(X.norm(dim=1), torch.ones(50, dtype=torch.float64))
    expected = [[10**3 * math.prod(x[j] for j in chosen)] for x in X.tolist()]
    torch.testing.assert_close(Y, torch.tensor(expected, dtype=torch.float64))
    torch.testing.assert_close(Y.abs(), torch.ones(50, 1, dtype=torch.float64))


@pytest.mark.parametrize(
    ("concept", "formula"),
    [
        (
            three_sines(),
            lambda x: (
                (math.sin(3 * x[0]) + math.sin(3 * x[1]) + math.sin(3 * x[2]) - 2) ** 2 * math.cos(7 * x[3])
            ),
        ),
        (
            three_tanhs(),
            lambda x: (
                (math.tanh(8 * x[0]) + math.tanh(8 * x[1]) + math.tanh(8 * x[2]) - 2) ** 2
                * math.tanh(8 * x[3])
            ),
        ),
    ],
)
def test_targets_of_beyond_two_layers(concept, formula, generator):
    X, Y = concept.sample(100, generator=generator)
    assert (X.shape, Y.shape) == ((100, 4), (100, 1))
    torch.testing.assert_close(X.norm(dim=1), torch.ones(100, dtype=torch.float64))
    expected = torch.tensor([[formula(x)] for x in X.tolist()], dtype=torch.float64)
    torch.testing.assert_close(Y, expected)


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: resnet_cube(d=7), "d is 7, but must be a whole number from 8 to 10000"),
        (lambda: resnet_cube(k=16), "k is 16, but must be a whole number from 4 to 15"),
        (lambda: resnet_cube(k=3), "k is 3"),
        (lambda: resnet_hard(d=10, d1=11), "d1 is 11"),
        (lambda: resnet_hard(d=10, d1=5, k=6), "k is 6, but must be a whole number from 2 to 5"),
        (lambda: resnet_hard(d=10, d1=5, k=2, coordinates=(0, 5)), "2 distinct ones from 0 to 4"),
        (lambda: resnet_hard(d=10, k=2, coordinates=(3, 3)), "2 distinct"),
        (lambda: resnet_hard(d=10, d1=5, background=Sphere(4)), "background has 4 coordinates"),
        (lambda: parity6(d=5), "d is 5"),
        (lambda: parity6(coordinates=(0, 1, 2)), "6 distinct"),
    ],
)
def test_impossible_values_are_refused(build, said):
    with pytest.raises(InputError, match=said):
        build()
