"""Lemmas 6, 7, 9 and 10 by full tensors and by quadrature."""

import itertools
import math

import numpy as np
import pytest

from widenet.theory.mild_memorisation.random_layer import lemma18, symmetric_dimension
from widenet.theory.mild_memorisation.symmetric_tensors import (
    gaussian_variance,
    lemma6,
    lemma7,
    lemma9,
    lemma10,
    most_places,
    multi_indices,
    num_places,
    shifted,
    split_polynomial,
    tensor_polynomial,
)


def drawn(d: int, p: int) -> dict[tuple[int, ...], float]:
    rng = np.random.default_rng(0)
    return {i: float(rng.normal()) for i in multi_indices(d, p)}


def full_tensor(reduced: dict[tuple[int, ...], float], d: int, p: int) -> np.ndarray:
    """Entry (j_1, …, j_p) is the coordinate of how often each index occurs."""
    M = np.zeros((d,) * p)
    for places in itertools.product(range(d), repeat=p):
        M[places] = reduced[tuple(places.count(j) for j in range(d))]
    return M


def contracted(M: np.ndarray, vectors: list[np.ndarray]) -> float:
    for x in vectors:
        M = np.tensordot(M, x, axes=([0], [0]))
    return float(M)


def quadrature_variance(f, dimension: int, degree: int) -> float:
    """Var f(x), x ~ N(0, I), by a product of Gauss rules that are exact for f²."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(degree + 1)
    weights = weights / math.sqrt(2 * math.pi)
    values, mass = [], []
    for chosen in itertools.product(range(len(nodes)), repeat=dimension):
        values.append(f(nodes[list(chosen)]))
        mass.append(math.prod(weights[c] for c in chosen))
    values, mass = np.array(values), np.array(mass)
    return float(mass @ values**2 - (mass @ values) ** 2)


def value_at(f, x) -> float:
    return sum(c * math.prod(z**n for z, n in zip(x, i, strict=True)) for i, c in f.items())


def test_indices_and_places():
    indices = list(multi_indices(3, 4))
    assert len(set(indices)) == len(indices) == symmetric_dimension(3, 4)
    assert sum(map(num_places, indices)) == 3**4
    for d, p in ((2, 5), (3, 4), (3, 5), (5, 3)):
        assert most_places(d, p) == max(map(num_places, multi_indices(d, p)))


def test_reduced_norm_is_at_least_its_share():
    d, p = 3, 3
    smallest = min(
        1 / np.linalg.norm(full_tensor({j: float(i == j) for j in multi_indices(d, p)}, d, p))
        for i in multi_indices(d, p)
    )
    found = lemma6(d, p)
    assert found.terms["least ‖M‖_rv/‖M‖, exactly"] == pytest.approx(smallest)
    assert found.value == pytest.approx(1 / math.sqrt(6))
    assert found.applies
    assert lemma6(2, 5).terms["least ‖M‖_rv/‖M‖, exactly"] > lemma6(2, 5).value


def test_polynomials_are_those_of_the_tensors():
    d, p = 2, 4
    reduced = drawn(d, p)
    M, rng = full_tensor(reduced, d, p), np.random.default_rng(1)
    x, u, v = rng.normal(size=(3, d))
    assert value_at(tensor_polynomial(reduced), x) == pytest.approx(contracted(M, [x] * p))
    both = np.concatenate([u, v])
    assert value_at(split_polynomial(reduced), both) == pytest.approx(contracted(M, [u] * 2 + [v] * 2))
    moved = shifted(tensor_polynomial(reduced), tuple(u))
    assert value_at(moved, x) == pytest.approx(contracted(M, [u + x] * p))


def test_variances_are_those_of_quadrature():
    reduced, at = drawn(2, 3), (0.4, -1.1)
    f = shifted(tensor_polynomial(reduced), at)
    M = full_tensor(reduced, 2, 3)
    exact = quadrature_variance(lambda x: contracted(M, [x + np.array(at)] * 3), 2, 3)
    assert gaussian_variance(f) == pytest.approx(exact)
    g = split_polynomial(drawn(2, 2))
    assert gaussian_variance(g) == pytest.approx(quadrature_variance(lambda x: value_at(g, x), 4, 2))
    assert gaussian_variance({(0, 0): 5.0}) == 0
    assert gaussian_variance({(2,): 1.0}) == pytest.approx(2)  # χ² with one degree of freedom


@pytest.mark.parametrize("seed", range(5))
def test_lemmas_9_and_10_hold(seed):
    assert lemma9(3, 3, distance=0.0, seed=seed).applies
    assert lemma9(2, 4, distance=2.0, seed=seed).value >= 1
    assert lemma10(2, 2, distance=0.0, seed=seed).applies
    assert lemma10(2, 1, seed=seed).terms["stated"] == pytest.approx(1 / 4)


def test_linear_functions_reach_the_bound():
    assert lemma9(4, 1, seed=3).value == pytest.approx(1.0)


def test_net_is_that_of_lemma_18():
    """Lemma 18 has the logarithm of a 1/10-net in its bound."""
    found = lemma7(4, 2, 0.1)
    assert found.terms["ln N"] == pytest.approx(lemma18(4, 100, 2, 0.1).terms["L"])
    assert found.value == pytest.approx((1 + 20 * math.sqrt(2)) ** 10)
    assert lemma7(4, 2, 0.1, C=3.0).value == pytest.approx(3 * found.value)
