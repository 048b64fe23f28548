from dataclasses import replace

import numpy as np
import pytest
import torch

from widenet.base.errors import InputError
from widenet.data import Dataset, load
from widenet.memorise.problem import first_of_point, has_equal_rows, problem_of, random_weights
from widenet.memorise.sigma import smallest_singular_value
from widenet.memorise.sizes import default_features, num_forms, smallest_power


@pytest.fixture(scope="module")
def digits() -> Dataset:
    return load("digits")


@pytest.fixture
def gaussian(table):
    rng = np.random.default_rng(0)
    return lambda n, d: table(rng.normal(size=(n, d)), rng.normal(size=n))


def test_two_layers_take_the_inputs_as_they_are(gaussian):
    dataset = gaussian(20, 8)
    problem = problem_of(dataset)
    assert problem.layers == 2
    assert problem.layer is None
    assert problem.r == 18
    assert torch.equal(problem.Z, dataset.X)
    assert torch.equal(problem.y, dataset.Y[:, 0])
    assert problem.num_parameters == 8 * 18


def test_three_layers_take_a_random_layer_of_the_theorems_size(gaussian):
    dataset = gaussian(50, 5)
    problem = problem_of(dataset)
    assert problem.layers == 3
    assert problem.k == 2 * 8
    assert problem.r == 2 * 16 + 2
    assert problem.layer.power == 3  # C(8, 4) = 70 forms of degree 4 are too few, C(10, 6) = 210 are enough
    expected = problem.layer.scale * (dataset.X @ problem.layer.R.T) ** 3
    torch.testing.assert_close(problem.Z, expected)
    assert float(problem.Z.square().sum(1).mean()) == pytest.approx(1.0)


def test_digits_span_too_little_for_two_layers(digits):
    """1,797 ≤ 64 · 65 / 2, but constant pixels leave a rank of 61, and quadratic forms a σ of 0."""
    problem = problem_of(digits)
    assert problem.layers == 3
    assert problem.k == 86
    assert problem.layer.power == 2
    assert torch.equal(problem.y, digits.labels.double())


def test_two_layers_are_refused_for_too_many_rows_with_an_offer(gaussian):
    with pytest.raises(InputError, match=r"d\(d\+1\)/2 = 15 .* has 16: pass `layers=3`"):
        problem_of(gaussian(16, 5), layers=2)
    assert problem_of(gaussian(15, 5), layers=2).layers == 2


def test_repeated_rows_count_once(table):
    X = np.random.default_rng(0).normal(size=(6, 3))
    dataset = table(np.concatenate([X, -X, X]), np.tile(np.arange(6.0) ** 1.5, 3))
    problem = problem_of(dataset, layers=2)
    assert first_of_point(problem.Z).tolist() == [*range(6)] * 3
    assert problem.n == 18
    three = problem_of(dataset, layers=3, power=3)
    assert first_of_point(three.Z).tolist() == [*range(6)] * 3
    assert three.k == default_features(6)


@pytest.mark.parametrize("factor", [1.0, 3.0, -1.0, -7.0])
def test_equal_and_opposite_inputs_with_different_targets_are_named(factor, table):
    X = np.random.default_rng(0).normal(size=(9, 4))
    X[6] = factor * X[2]
    relation = "the same input" if factor > 0 else "opposite inputs"
    with pytest.raises(InputError, match=f"Rows 3 and 7 are {relation}.*'2.5' and '6.5'.*`perturb=0.01`"):
        problem_of(table(X, np.arange(9) + 0.5))


def test_all_conflicting_inputs_are_counted(table):
    X = np.random.default_rng(0).normal(size=(8, 4))
    X[5:] = X[2]
    X[1] = X[0]
    with pytest.raises(InputError, match=r"Rows 1 and 2 \(and 1 other pair\) are the same input"):
        problem_of(table(X, np.arange(8) + 0.5))


def test_nearly_equal_inputs_are_no_conflict(table):
    X = np.random.default_rng(0).normal(size=(9, 4))
    X[6] = X[2]
    X[6, 0] += 1e-9
    assert problem_of(table(X, np.arange(9) + 0.5)).n == 9


def test_a_perturbation_tells_equal_inputs_apart(table):
    X = np.ones((6, 5))
    dataset = table(X, np.arange(6) + 0.5)
    problem = problem_of(dataset, noise=0.01, seed=3)
    draws = np.random.Generator(np.random.PCG64(3)).standard_normal((6, 5))
    torch.testing.assert_close(problem.Z, dataset.X + 0.01 * torch.from_numpy(draws), rtol=0, atol=1e-16)
    assert (problem.noise, problem.seed) == (0.01, 3)


def test_a_row_of_zeros_can_only_be_zero(table):
    X = np.random.default_rng(0).normal(size=(5, 4))
    X[3] = 0
    dataset = table(X, np.arange(5) + 0.5, prepare="raw")
    with pytest.raises(InputError, match="Row 4 is all zeros"):
        problem_of(dataset)


def test_one_seed_gives_one_problem(gaussian):
    dataset = gaussian(40, 4)
    one, same, other = (problem_of(dataset, layers=3, noise=0.1, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(one.Z, same.Z)
    assert not torch.equal(one.layer.R, other.layer.R)


def test_random_weights_are_gaussian_directions():
    R = random_weights(20_000, 3, seed=1)
    torch.testing.assert_close(R.square().sum(1), torch.full((20_000,), 3.0, dtype=torch.float64))
    torch.testing.assert_close(R.T @ R / 20_000, torch.eye(3, dtype=torch.float64), rtol=0, atol=0.03)
    assert float(R.mean(0).abs().max()) < 0.03


def test_random_weights_of_the_paper_are_gaussian():
    R, equal = random_weights(20_000, 3, seed=1, equal_rows=False), random_weights(20_000, 3, seed=1)
    torch.testing.assert_close(equal, R * (3**0.5 / R.norm(dim=1, keepdim=True)))
    lengths = R.square().sum(1)
    assert float(lengths.mean()) == pytest.approx(3, abs=0.06)  # χ² with 3 degrees of freedom
    assert float(lengths.var()) == pytest.approx(6, abs=0.5)
    torch.testing.assert_close(R.T @ R / 20_000, torch.eye(3, dtype=torch.float64), rtol=0, atol=0.03)


def test_rows_of_either_kind_memorise_the_same(gaussian):
    """W takes up the lengths: the features differ by a factor each."""
    dataset = gaussian(30, 4)
    ours, papers = (problem_of(dataset, layers=3, equal_rows=equal) for equal in (True, False))
    assert has_equal_rows(ours.layer)
    assert not has_equal_rows(papers.layer)
    ratios = papers.Z / ours.Z
    torch.testing.assert_close(ratios, ratios[:1].expand_as(ratios))


@pytest.mark.parametrize(("n", "d"), [(20, 1), (100, 2), (200, 3), (500, 5)])
def test_few_columns_get_a_layer_that_shows_in_sigma(n, d, table):
    rng = np.random.default_rng(0)
    dataset = table(rng.normal(size=(n, d)), rng.normal(size=n), prepare="standard")
    assert smallest_singular_value(problem_of(dataset).Z).lower > 0
    given = problem_of(dataset, k=100, power=5)
    assert (given.k, given.layer.power) == (100, 5)


def test_classes_are_their_index(table):
    X = np.random.default_rng(0).normal(size=(12, 6))
    problem = problem_of(table(X, np.array(["b", "a", "c"] * 4)))
    assert problem.y.tolist() == [1, 0, 2] * 4


def test_several_targets_are_refused(gaussian):
    dataset = gaussian(10, 4)
    with pytest.raises(InputError, match="2 target columns, but the network has one output"):
        problem_of(replace(dataset, Y=dataset.Y.repeat(1, 2)))


def test_more_columns_than_rows(gaussian):
    problem = problem_of(gaussian(5, 300))
    assert (problem.layers, problem.k, problem.r) == (2, 300, 602)


def test_a_very_wide_table_takes_three_layers(gaussian, monkeypatch):
    monkeypatch.setattr("widenet.memorise.problem.MANY_WEIGHTS", 10_000)
    assert problem_of(gaussian(5, 300)).layers == 3


def test_constant_columns_do_no_harm(table):
    X = np.random.default_rng(0).normal(size=(30, 3))
    X = np.concatenate([X, np.ones((30, 2)), np.zeros((30, 4))], axis=1)
    problem = problem_of(table(X, np.arange(30) + 0.5))
    assert problem.layers == 3  # rank 4: at most 10 points for two layers


def test_points_on_one_line_are_refused(table):
    X = np.arange(1.0, 9.0)[:, None]
    with pytest.raises(InputError, match="one line through 0"):
        problem_of(table(X, np.arange(8) + 0.5, prepare="raw"))
    assert problem_of(table(X, np.arange(8) + 0.5, prepare="standard")).layers == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layers": 4}, "Networks have 2 or 3 layers"),
        ({"layers": 2, "k": 9}, "Two layers have no random layer"),
        ({"layers": 2, "power": 2}, "Two layers have no random layer"),
        ({"layers": 3, "k": 3}, r"k\(k\+1\)/2 = 6 distinct rows .* there are 20: use at least 10"),
        ({"layers": 2, "r": 17}, "even number of at least 2k \\+ 2 = 18"),
        ({"layers": 2, "r": 19}, "even number of at least 2k \\+ 2 = 18"),
        ({"layers": 3, "power": 0}, "at least 1"),
        ({"noise": -0.1}, "standard deviation, at least 0"),
        ({"noise": float("nan")}, "standard deviation, at least 0"),
    ],
)
def test_wrong_options_are_refused(options, message, gaussian):
    with pytest.raises(InputError, match=message):
        problem_of(gaussian(20, 8), **options)


def test_sizes():
    assert num_forms(3, 2) == 6
    assert [default_features(n) for n in (1, 2, 4, 5, 1797, 60_000)] == [2, 4, 4, 6, 86, 490]
    assert smallest_power(1797, 61) == 2
    assert smallest_power(10, 2) == 10  # 2p + 1 forms in two variables
    assert smallest_power(2, 1) is None
    assert all(num_forms(default_features(n), 2) > n for n in range(1, 200))
