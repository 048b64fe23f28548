"""Bounds on rounding, against exact arithmetic and against those that verifying uses."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from widenet.memorise.checker import recheck
from widenet.memorise.problem import random_weights
from widenet.memorise.rounding import layer_errors, output_rounding, squares_moved
from widenet.networks.quadratic import RandomLayer, neuron_outputs


@pytest.fixture
def draw(generator):
    return lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)


def fractions(matrix):
    return [[Fraction(value) for value in row] for row in matrix.tolist()]


def exact_features(layer, X):
    """Features without any rounding; the inputs themselves without a layer."""
    if layer is None:
        return fractions(X)
    scale, R = Fraction(layer.scale), fractions(layer.R)
    return [
        [scale * sum(a * b for a, b in zip(r, x, strict=True)) ** layer.power for r in R]
        for x in fractions(X)
    ]


def exact_outputs(Z, W):
    """ŷ of a net of squares without any rounding, for exact features."""
    half = W.shape[1] // 2
    signs = [1] * half + [-1] * half
    values = ([sum(w * v for w, v in zip(column, z, strict=True)) for column in fractions(W.T)] for z in Z)
    return [sum(a * value**2 for a, value in zip(signs, row, strict=True)) for row in values]


@pytest.mark.parametrize("power", [None, 2, 3, 17])
def test_outputs_are_within_their_rounding(draw, power):
    X, y = draw(10, 5), draw(10)
    layer = None if power is None else RandomLayer(random_weights(7, 5, seed=0), power, 0.3)
    Z = X if layer is None else layer(X)
    W = 10 * draw(Z.shape[1], 16)
    exact = exact_outputs(exact_features(layer, X), W)
    computed = neuron_outputs(Z, W).tolist()
    error = max(abs(float(Fraction(here) - there)) for here, there in zip(computed, exact, strict=True))
    assert 0 < error <= output_rounding(Z, layer_errors(layer, X), W, y) < 1e7 * error


@pytest.mark.parametrize(("size", "scale"), [(1.0, 0.3), (1e-155, 1e300), (1e-4, 1e200), (1.0, 1e-321)])
@pytest.mark.parametrize("power", [2, 40])
def test_features_are_within_their_errors(draw, size, scale, power):
    """Also where products, powers or the scaling underflow."""
    layer, X = RandomLayer(random_weights(4, 3, seed=0), power, scale), size * draw(6, 3)
    bounds = layer_errors(layer, X).tolist()
    for row, exact, bound in zip(layer(X).tolist(), exact_features(layer, X), bounds, strict=True):
        squared = sum((Fraction(here) - there) ** 2 for here, there in zip(row, exact, strict=True))
        assert squared <= Fraction(bound) ** 2


def test_squares_move_no_further_than_their_bound(draw):
    Z, errors = draw(8, 5), torch.rand(8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    directions = torch.nn.functional.normalize(draw(8, 5), dim=1)
    columns = [
        torch.stack([torch.outer(z, z).flatten() for z in rows])
        for rows in (Z, Z + errors[:, None] * directions)
    ]
    singular = [torch.linalg.svdvals(matrix) for matrix in columns]
    moved = squares_moved(Z, errors)
    assert torch.linalg.matrix_norm(columns[1] - columns[0]) <= moved
    assert (singular[1] - singular[0]).abs().max() <= moved
    assert squares_moved(Z, torch.zeros(8, dtype=torch.float64)) == 0.0


def test_verifying_allows_for_the_same(draw):
    """The two are written apart; if one were larger, true certificates might fail or false ones pass."""
    X, y = draw(12, 5), draw(12)
    layer = RandomLayer(random_weights(6, 5, seed=0), 3, 0.2)
    Z, W = layer(X), draw(6, 14)
    net = recheck.Net(W.numpy(), layer.R.numpy(), layer.power, layer.scale)
    errors = layer_errors(layer, X)
    np.testing.assert_allclose(errors, recheck.feature_errors(net, X.numpy()), rtol=1e-12)
    fit = recheck.fit_of(net, X.numpy(), Z.numpy(), y.numpy())
    assert squares_moved(Z, errors) == pytest.approx(1.001 * float(np.linalg.norm(fit.moved)), rel=1e-12)
    assert 100 * fit.rounding.max() <= output_rounding(Z, errors, W, y)  # they add up in extended precision
