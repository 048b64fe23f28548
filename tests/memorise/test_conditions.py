from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from widenet.data import load
from widenet.memorise import conditions, problem, sigma
from widenet.memorise.conditions import conditions_of, nearest_rows
from widenet.memorise.problem import problem_of
from widenet.memorise.rounding import squares_moved
from widenet.memorise.sigma import SquaresGram, smallest_certifiable, smallest_singular_value
from widenet.report.memorise.sentences import requirements


def dense_sigma(Z):
    squares = torch.stack([torch.outer(z, z).flatten() for z in Z])
    return float(torch.linalg.svdvals(squares)[min(squares.shape) - 1])


def measured(dataset, **options):
    return conditions_of(dataset, problem_of(dataset, **options))


@pytest.mark.parametrize(("n", "k"), [(1, 1), (5, 3), (6, 3), (40, 12), (150, 20)])
def test_sigma_is_the_smallest_singular_value_of_the_squares(n, k, generator):
    Z = torch.randn(n, k, generator=generator, dtype=torch.float64)
    found, expected = smallest_singular_value(Z), dense_sigma(Z)
    assert found.value == pytest.approx(expected, rel=1e-3)
    assert 0.8 * expected < found.lower <= expected * (1 + 1e-12)


@pytest.mark.parametrize("size", [1e-150, 1e-90, 1e-3, 1e90, 1e150])
def test_sigma_goes_with_the_square_of_the_inputs(size, generator):
    Z = torch.randn(12, 6, generator=generator, dtype=torch.float64)
    assert smallest_certifiable(size * Z) == pytest.approx(size**2 * smallest_certifiable(Z), rel=1e-12)
    one, scaled = smallest_singular_value(Z), smallest_singular_value(size * Z)
    assert scaled.value == pytest.approx(size**2 * one.value, rel=1e-3)
    assert scaled.lower == pytest.approx(size**2 * one.lower, rel=1e-3)


def test_the_estimate_for_many_rows_leads_to_the_same(generator, monkeypatch):
    Z = torch.randn(150, 20, generator=generator, dtype=torch.float64)
    monkeypatch.setattr(sigma, "MANY_ROWS", 10)
    assert smallest_singular_value(Z).value == pytest.approx(dense_sigma(Z), rel=1e-3)


def test_squares_gram_is_one_matrix(generator):
    Z, V = (torch.randn(30, width, generator=generator, dtype=torch.float64) for width in (7, 3))
    gram, G = SquaresGram(Z), (Z @ Z.T) ** 2
    torch.testing.assert_close(gram.matmul(V), G @ V)
    torch.testing.assert_close(gram.diag(), G.diagonal())
    torch.testing.assert_close(gram.tile(3, 9, 20, 30), G[3:9, 20:30])


def test_the_rounding_of_the_gram_matrix_counts(generator, monkeypatch):
    """Entries of G against exact fractions, and the allowance for them where λ_min is bounded."""
    Z = torch.randn(6, 9, generator=generator, dtype=torch.float64)
    rows = [[Fraction(entry) for entry in row] for row in Z.tolist()]
    exact = [[sum(a * b for a, b in zip(u, v, strict=True)) ** 2 for v in rows] for u in rows]
    G = SquaresGram(Z).tile(0, 6, 0, 6).tolist()
    for i in range(6):
        for j in range(6):
            squared = (Fraction(G[i][j]) - exact[i][j]) ** 2
            assert squared <= Fraction(sigma.formation(9)) ** 2 * exact[i][i] * exact[j][j]
    allowed = []
    real = sigma.smallest_eigenvalue
    monkeypatch.setattr(
        sigma,
        "smallest_eigenvalue",
        lambda *args, **named: allowed.append(named["formation"]) or real(*args, **named),
    )
    smallest_singular_value(Z)
    assert allowed == [sigma.formation(9)]


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 6), st.integers(1, 5), st.integers(0, 2**20), st.sampled_from([1.0, 1e-6, 1e6]))
def test_inputs_in_a_small_subspace_never_have_a_positive_sigma(k, rank, seed, size):
    """More than q(q+1)/2 rows of rank q have dependent squares, whatever rounding does to them."""
    rank = min(rank, k - 1)
    generator = torch.Generator().manual_seed(seed)
    n = rank * (rank + 1) // 2 + 1
    coordinates, basis = (
        torch.randint(-99, 100, shape, generator=generator).double() for shape in ((n, rank), (rank, k))
    )
    Z = size * (coordinates @ basis)  # exact but for the size: no row leaves the subspace by rounding
    if size == 1.0:
        assert smallest_singular_value(Z).lower == 0.0
    else:
        assert smallest_singular_value(Z).lower <= 1e-12 * float(Z.norm() ** 2)


def test_errors_of_the_rows_are_taken_off_the_bound(generator):
    Z = torch.randn(12, 6, generator=generator, dtype=torch.float64)
    errors = torch.full((12,), 1e-5, dtype=torch.float64)
    exact, off = smallest_singular_value(Z), smallest_singular_value(Z, errors)
    assert off.value == exact.value
    assert off.lower == pytest.approx(exact.lower - 3 * squares_moved(Z, errors), rel=1e-9)
    assert smallest_singular_value(Z, 1e5 * errors).lower == 0.0
    assert smallest_certifiable(Z, errors) > 3 * squares_moved(Z, errors)


def test_the_rounding_of_a_random_layer_counts(table, monkeypatch):
    """With errors as large as the rows nothing is proved, neither where layers are chosen nor at the end."""
    rng = np.random.default_rng(0)
    dataset = table(rng.normal(size=(40, 4)), rng.normal(size=40))
    assert measured(dataset).sigma_min.lower > 0
    for module in (problem, conditions):
        monkeypatch.setattr(module, "layer_errors", lambda layer, X: torch.ones(len(X)).double())
    found = measured(dataset)
    assert found.sigma_min.lower == 0.0
    assert found.sigma_min.value < found.certifiable
    assert found.mending_noise is None


def test_repeated_rows_have_no_sigma_and_more_rows_than_forms_neither(generator):
    Z = torch.randn(4, 5, generator=generator, dtype=torch.float64)
    assert smallest_singular_value(torch.cat([Z, -Z[:1]])).lower == 0.0
    assert smallest_singular_value(torch.randn(4, 2, generator=generator, dtype=torch.float64)).value == 0.0


def test_what_can_be_certified_lies_where_certificates_end(generator):
    Z = torch.randn(20, 8, generator=generator, dtype=torch.float64)
    direction = torch.randn(8, generator=generator, dtype=torch.float64)
    for exponent in range(3, 12):
        Z[1] = Z[0] + 10.0**-exponent * direction
        found, threshold = smallest_singular_value(Z), smallest_certifiable(Z)
        assert (found.lower > 0) == (dense_sigma(Z) > threshold)


def test_random_data_of_the_paper(table):
    """N=300, d=100, r=300, rows from a cube, normalised [mild-memorisation, fig2]."""
    rng = np.random.default_rng(0)
    found = measured(table(rng.uniform(size=(300, 100)), rng.uniform(size=300)), r=300)
    assert (found.layers, found.k, found.r, found.r_needed) == (2, 100, 300, 202)
    assert found.sigma_min.lower > 0
    assert found.mending_noise is None
    assert found.rows_tried == 0
    words = " ".join(requirements(found))
    assert "300 rows ≤ d(d+1)/2 = 5,050, r = 2d + 2 = 202 and σ_min = 0." in words
    assert found.sigma_two_layers == found.sigma_min.value
    assert "the theorem applies" in words


def test_digits_take_three_layers():
    found = measured(load("digits"))
    assert (found.layers, found.k, found.r, found.power, found.rank) == (3, 86, 174, 2, 61)
    assert 0 < found.sigma_min.lower <= found.sigma_min.value
    assert found.sigma_two_layers == 0.0
    assert (
        "1,797 rows ≤ 1,891 (rank 61), r = 2d + 2 = 130 and σ_min = 0 to rounding" in requirements(found)[0]
    )
    assert "Three layers are used: k = 86 random features of power 2" in requirements(found)[1]
    assert found.equal_rows
    assert "norm √d each, which is ours; the paper has N(0, I)" in requirements(found)[2]


def test_rows_of_the_paper_are_called_so(table):
    rng = np.random.default_rng(0)
    dataset = table(rng.normal(size=(9, 4)), rng.normal(size=9))
    papers = measured(dataset, layers=3, equal_rows=False)
    assert not papers.equal_rows
    assert requirements(papers)[2] == "Rows of the random layer are drawn from N(0, I), as in the paper."
    assert not any("random layer" in sentence for sentence in requirements(measured(dataset, layers=2)))


def test_nearly_identical_inputs_are_mended_by_a_perturbation(table):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 10))
    X[7] = X[3] + 1e-9 * rng.normal(size=10)
    dataset = table(X, rng.normal(size=40))
    found = measured(dataset, layers=2)
    assert found.sigma_min.lower == 0.0
    assert found.sigma_min.value < found.certifiable
    assert found.mending_noise == 1e-4
    assert f"`perturb={found.mending_noise:g}` would fix it" in requirements(found)[-1]
    assert measured(dataset, layers=2, noise=found.mending_noise).sigma_min.lower > 0


def test_what_no_perturbation_mends_is_said(table):
    rng = np.random.default_rng(0)
    dataset = table(rng.normal(size=(40, 3)), rng.normal(size=40))
    found = measured(dataset, layers=3, power=2)
    assert requirements(found)[0] == "Two layers are too few: 40 rows > d(d+1)/2 = 6."
    assert found.most_points == 15
    assert found.sigma_min.lower == 0.0
    assert found.mending_noise is None
    assert "40 points exceed the 15 that this network tells apart" in requirements(found)[-2]
    assert "No perturbation" in requirements(found)[-1]


def test_perturbations_of_many_rows_are_tried_on_the_nearest(table, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    X[50] = X[3] + 1e-9 * rng.normal(size=12)
    monkeypatch.setattr(conditions, "MOST_TRIED", 20)
    found = measured(table(X, rng.normal(size=60)), layers=2)
    assert found.rows_tried == 20
    assert found.mending_noise == 1e-4
    assert "tried on the 20 rows nearest to others" in requirements(found)[-1]


def test_nearest_rows_hold_the_nearest_pair(generator, monkeypatch):
    monkeypatch.setattr(conditions, "TILE", 16)
    X = torch.randn(50, 6, generator=generator, dtype=torch.float64)
    X[31] = -2 * X[4]
    assert nearest_rows(X, 2).tolist() == [4, 31]
    assert nearest_rows(X, 50).tolist() == list(range(50))


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("n", [10, 60])
@pytest.mark.parametrize("prepare", ["standard", "unit"])
def test_any_small_table_gets_an_answer(n, d, prepare, table):
    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d))
    X = X if d > 1 or prepare == "standard" else np.abs(X) @ np.ones((1, 2)) + [[0, 1]]
    found = measured(table(X, rng.normal(size=n), prepare))
    assert found.num_points == n
    assert found.most_points >= n
    assert found.sigma_min.lower <= found.sigma_min.value
    assert all(sentence.endswith(".") for sentence in requirements(found))
