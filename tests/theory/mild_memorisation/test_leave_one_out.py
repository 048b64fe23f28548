"""Lemma 8 by least squares and by its definition, on matrices and on drawn problems."""

import math

import pytest
import torch

from widenet.networks.quadratic import RandomLayer
from widenet.theory.mild_memorisation.leave_one_out import (
    leave_one_out_distances,
    lemma8,
    smoothed_features,
    tensor_squares,
)


def distance_by_least_squares(M: torch.Tensor, i: int) -> float:
    others = torch.cat([M[:, :i], M[:, i + 1 :]], dim=1)
    fit = torch.linalg.lstsq(others, M[:, i : i + 1], driver="gelsd").solution
    return float((M[:, i : i + 1] - others @ fit).norm())


@pytest.mark.parametrize("shape", [(9, 4), (6, 6), (5, 1)])
def test_distances_are_those_of_least_squares(shape, generator):
    M = torch.randn(shape, generator=generator, dtype=torch.float64)
    exact = [distance_by_least_squares(M, i) for i in range(shape[1])]
    assert leave_one_out_distances(M).tolist() == pytest.approx(exact)


def test_bracket_holds_for_all_kinds_of_matrices(generator):
    """Orthogonal columns reach the upper end; where all fall short together, the lower one is reached."""
    for n in (2, 5, 12):
        M = torch.randn(20, n, generator=generator, dtype=torch.float64) @ torch.diag(
            torch.logspace(0, -4, n, dtype=torch.float64)
        )
        least, sigma = float(leave_one_out_distances(M).min()), float(torch.linalg.svdvals(M)[-1])
        assert least / math.sqrt(n) <= sigma <= least
    n = 6
    orthogonal = torch.linalg.qr(torch.randn(9, n, generator=generator, dtype=torch.float64)).Q
    assert float(leave_one_out_distances(orthogonal).min()) == pytest.approx(1.0)
    ones = torch.ones(n, dtype=torch.float64) / math.sqrt(n)
    weak = orthogonal @ (torch.eye(n, dtype=torch.float64) - (1 - 1e-6) * torch.outer(ones, ones))
    smallest, least = float(torch.linalg.svdvals(weak)[-1]), float(leave_one_out_distances(weak).min())
    assert smallest == pytest.approx(least / math.sqrt(n), rel=1e-3)


def test_dependent_columns_have_no_distance(generator):
    M = torch.randn(8, 3, generator=generator, dtype=torch.float64)
    M[:, 2] = M[:, 0] - 2 * M[:, 1]
    assert float(leave_one_out_distances(M).min()) < 1e-12
    M[:, 2] = 0
    assert float(leave_one_out_distances(M)[2]) == 0
    assert leave_one_out_distances(M.T).tolist() == [0.0] * 8


def test_squares_are_the_tensors(generator):
    """Coordinates of the symmetric tensors keep all products, so singular values are those of [z⊗z]."""
    Z = torch.randn(4, 3, generator=generator, dtype=torch.float64)
    full = torch.stack([torch.outer(z, z).flatten() for z in Z], dim=1)
    M = tensor_squares(Z)
    assert M.shape == (6, 4)
    assert torch.allclose(torch.linalg.svdvals(M), torch.linalg.svdvals(full))
    assert torch.allclose(M.T @ M, (Z @ Z.T) ** 2)


def test_features_are_the_random_layers(generator):
    Z = smoothed_features(5, 4, 6, 3, 0.04, generator=generator)
    again = torch.Generator().manual_seed(0)
    X = torch.randn(5, 4, generator=again, dtype=torch.float64)
    X = X / X.norm(dim=1, keepdim=True) + 0.2 * torch.randn(5, 4, generator=again, dtype=torch.float64)
    R = torch.randn(4, 6, generator=again, dtype=torch.float64).T
    assert torch.allclose(Z, RandomLayer(R, 3, 1.0)(X))


@pytest.mark.parametrize("sizes", [{"n": 54, "d": 10}, {"n": 100, "d": 12, "k": 20, "p": 2, "v": 0.01}])
def test_lemma8_on_drawn_problems(sizes):
    found = lemma8(**sizes)
    assert found.applies
    assert found.terms["l(M)/√n"] < found.value < found.terms["l(M)"]


def test_too_many_columns_and_hidden_values_are_not_called_a_bracket():
    assert lemma8(56, 10).applies is False
    assert lemma8(56, 10).value == 0
    hidden = lemma8(30, 3, k=12, p=2)  # 12 features of degree 2 in 3 variables span only 15 forms of degree 4
    assert hidden.applies is None
    assert hidden.why[0].startswith("Rounding hides σ_min")
