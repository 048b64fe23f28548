import itertools
import math

import numpy as np
import pytest
import torch
from scipy.stats import kstest

from widenet.audit import shuffles
from widenet.audit.problem import KernelProblem, weighted_gram
from widenet.audit.shuffles import ShuffleTest, shuffle_test
from widenet.data.points import points_of
from widenet.predict.loo import inverse_root
from widenet.spectrum.gram import DenseGram
from widenet.testing import decaying_matrix


def problem_of(H, Y, group=None):
    points = points_of(torch.arange(len(Y)) if group is None else group)
    return KernelProblem(weighted_gram(DenseGram(H), points), points, Y, floor=0.0)


def shuffle(problem, generator):
    return shuffle_test(problem, inverse_root(problem.gram.held(), 0.0), generator=generator)


def test_shuffles_have_the_moments_of_all_orders(generator):
    """All 720 orders of six labels, three of whose rows are one point, by brute force."""
    H = decaying_matrix(4, generator=generator, smallest=0.2)
    place = torch.tensor([0, 1, 2, 0, 3, 0])
    Y = torch.nn.functional.one_hot(torch.tensor([0, 0, 1, 0, 2, 0]), 3).double()
    scale = float(H.diagonal()[place].mean())

    def judged(targets):
        means = torch.stack([targets[place == point].mean(0) for point in range(4)])
        left = float((targets - means[place]).square().sum())
        quadratic = float((means * torch.linalg.solve(H, means)).sum())
        return quadratic, quadratic + left / scale

    test = shuffle(problem_of(H, Y, place), generator)
    every = [judged(Y[list(order)]) for order in itertools.permutations(range(6))]
    quadratics, values = map(np.array, zip(*every, strict=True))
    assert math.isclose(test.observed, judged(Y)[1], rel_tol=1e-9)
    for found, exact in ((test.quadratics, quadratics), (test.samples, values)):
        assert math.isclose(float(found.mean()), exact.mean(), rel_tol=0.1)
        assert math.isclose(float(found.std()), exact.std(), rel_tol=0.1)
    assert abs(test.p_value - np.mean(values <= test.observed * (1 + 1e-9))) < 0.05


def test_with_a_ridge_it_is_the_quadratic_form_of_all_rows(generator):
    H = decaying_matrix(7, generator=generator, smallest=0.2)
    place = torch.tensor([0, 1, 2, 0, 3, 0, 4, 5, 6, 6])
    Y = torch.randn(10, 2, generator=generator, dtype=torch.float64)
    problem = problem_of(H, Y, place)
    ridge = problem.mean_diagonal
    assert math.isclose(ridge, float(H.diagonal()[place].mean()))
    test = shuffle_test(problem, inverse_root(problem.gram.held(), ridge), generator=generator)
    A = H[place][:, place] + ridge * torch.eye(10, dtype=torch.float64)
    assert math.isclose(test.observed, float((Y * torch.linalg.solve(A, Y)).sum()))


@pytest.mark.parametrize("copies", [True, False])
def test_rows_that_are_copies_have_a_uniform_p_value_by_point(copies, generator, monkeypatch):
    """Labels by chance at 60 points, some with up to four rows: each row its own label, or all the same."""
    monkeypatch.setattr(shuffles, "NUM_SHUFFLES", 199)
    H = decaying_matrix(60, generator=generator, smallest=0.05)
    place = torch.cat([torch.arange(60), torch.arange(40), torch.arange(20), torch.arange(20)])
    found = []
    for _ in range(100):
        drawn = torch.randn(60 if copies else len(place), 1, generator=generator, dtype=torch.float64).sign()
        problem = problem_of(H, drawn[place] if copies else drawn, place)
        root = inverse_root(problem.gram.held(), problem.mean_diagonal)
        found.append(shuffle_test(problem, root, generator=generator, by_point=True).p_value)
    assert kstest(found, "uniform").pvalue > 0.01


def test_a_ridge_finds_what_noise_hides(generator):
    """A third of the labels are drawn anew, which the last eigenvectors make much of."""
    H = decaying_matrix(200, generator=generator, smallest=1e-4)
    Y = torch.linalg.eigh(H).eigenvectors[:, -2:-1].sign()
    Y[::3] = torch.randn(67, 1, generator=generator, dtype=torch.float64).sign()
    problem = problem_of(H, Y)
    root = inverse_root(H, problem.mean_diagonal)
    assert shuffle_test(problem, root, generator=generator).p_value < 1e-6
    assert shuffle(problem, generator).p_value > 0.01


def test_repeated_rows_that_agree_are_told_from_shuffles(generator):
    """Of shuffled labels little can be fitted at few points, so that they alone would look easier."""
    H = decaying_matrix(10, generator=generator, smallest=0.05)
    place = torch.arange(10).repeat(30)
    Y = torch.where(place[:, None] < 5, 1.0, -1.0).double()
    Y[::11] *= -1
    test = shuffle(problem_of(H, Y, place), generator)
    assert test.p_value < 1e-6


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.98, 0.02), (0.97, 0.02, 0.01)])
def test_labels_that_do_not_depend_on_the_inputs_have_a_uniform_p_value(shares, generator, monkeypatch):
    monkeypatch.setattr(shuffles, "NUM_SHUFFLES", 199)
    H = decaying_matrix(200, generator=generator, smallest=0.05)
    root = inverse_root(H, 0.0)
    counts = [round(200 * share) for share in shares]
    labels = torch.repeat_interleave(torch.arange(len(shares)), torch.tensor(counts))
    found = []
    for _ in range(100):
        drawn = labels[torch.randperm(200, generator=generator)]
        problem = problem_of(H, torch.nn.functional.one_hot(drawn).double())
        found.append(shuffle_test(problem, root, generator=generator).p_value)
    assert kstest(found, "uniform").pvalue > 0.01


def test_labels_on_large_eigenvalues_are_told_from_shuffles(generator):
    H = decaying_matrix(150, generator=generator, smallest=0.01)
    first = torch.linalg.eigh(H).eigenvectors[:, -1:]
    assert shuffle(problem_of(H, first), generator).p_value < 1e-4
    last = torch.linalg.eigh(H).eigenvectors[:, :1]
    assert shuffle(problem_of(H, last), generator).p_value > 0.99


def test_beyond_all_shuffles_the_p_value_is_that_of_one_more_draw(generator):
    """Student's tail, by drawing samples and one more: how often does it come out below 1%?"""
    draws = torch.randn(4000, 21, generator=generator, dtype=torch.float64)
    small = sum(ShuffleTest(float(row[0]) + 100, row[1:] + 100, row[1:], 10).p_value <= 0.01 for row in draws)
    assert 20 <= small <= 62  # 40 expected


def test_no_p_value_is_below_one_of_all_arrangements(generator):
    """One odd label among 300 rows, at the one row that is far from all others, is there by chance 1/300."""
    H = torch.eye(300, dtype=torch.float64)
    H[0, 0] = 1e4
    Y = torch.zeros(300, 1, dtype=torch.float64)
    Y[0] = 1
    test = shuffle(problem_of(H, Y), generator)
    assert test.least == pytest.approx(1 / 300)
    assert test.p_value > 1e-3


def test_no_more_shuffles_than_the_answer_needs(generator):
    H = decaying_matrix(150, generator=generator, smallest=0.01)
    first = torch.linalg.eigh(H).eigenvectors[:, -1:]
    clear, unclear = (
        shuffle_test(problem_of(H, Y), inverse_root(H, 5.0), generator=generator)
        for Y in (first, first[torch.randperm(150, generator=generator)])
    )
    assert clear.p_value < shuffles.FAR
    assert shuffles.LEAST_SHUFFLES <= len(clear.samples) < shuffles.NUM_SHUFFLES
    assert len(unclear.samples) == shuffles.NUM_SHUFFLES


def test_large_data_gets_fewer_shuffles(generator, monkeypatch):
    monkeypatch.setattr(shuffles, "MOST_OPERATIONS", 2 * 150**2 * 300)
    H = decaying_matrix(150, generator=generator, smallest=0.01)
    Y = torch.randn(150, 1, generator=generator, dtype=torch.float64)
    assert len(shuffle(problem_of(H, Y), generator).samples) == 300
    assert len(shuffle(problem_of(H, Y.repeat(1, 30)), generator).samples) == shuffles.LEAST_SHUFFLES


def test_labels_that_no_shuffle_changes_have_no_spread():
    zeros = torch.zeros(8, dtype=torch.float64)
    assert ShuffleTest(1.0, zeros + 1, zeros, rows=8).spread(8) == 0.0
