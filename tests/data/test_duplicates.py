from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

from widenet.data import Dataset, duplicates, find_duplicates, load, subset
from widenet.data.duplicates import CHORD, COSINE_TOLERANCE


@pytest.fixture(scope="module")
def digits() -> Dataset:
    return load("digits")


MOST_COMPARED = 5_000_000  # pairs of rows, of which tests have 200 million and more


@pytest.fixture
def compared(monkeypatch) -> list[int]:
    """How many pairs of rows were compared, each time that some were: what a search costs on any machine."""
    counts = list[int]()
    chords = duplicates._chords

    def counting(X, left, right):
        counts.append(len(left))
        assert sum(counts) < MOST_COMPARED
        return chords(X, left, right)

    monkeypatch.setattr(duplicates, "_chords", counting)
    return counts


def with_points(like: Dataset, points: torch.Tensor, labels: torch.Tensor | None = None) -> Dataset:
    """A data set of these points, scaled to norm 1, with rows numbered from 101."""
    X = points.double() / points.double().norm(dim=1, keepdim=True)
    n = len(X)
    labels = torch.zeros(n, dtype=torch.int64) if labels is None else labels
    return replace(like, X=X, Y=labels.double()[:, None], labels=labels, rows=torch.arange(101, 101 + n))


def brute_force(X: torch.Tensor) -> tuple[list[int], set[tuple[int, int]]]:
    """First equal row of each row, and opposite pairs of distinct points, from all pairs."""
    n = len(X)
    equal = torch.cdist(X, X, compute_mode="donot_use_mm_for_euclid_dist") <= CHORD
    mirrored = torch.cdist(X, -X, compute_mode="donot_use_mm_for_euclid_dist") <= CHORD
    first = [int(equal[i].nonzero()[0]) for i in range(n)]
    pairs = {(i, j) for i in range(n) for j in range(i) if mirrored[i, j] and first[i] == i and first[j] == j}
    return first, {(j, i) for i, j in pairs}


def test_by_hand(digits):
    points = torch.tensor([[1, 2], [3, -1], [2, 4], [-3, -6], [0.1, 0.2], [1, 0], [6, -2]])
    found = find_duplicates(with_points(digits, points, torch.tensor([0, 1, 0, 0, 2, 0, 1])))
    assert found.groups == ((101, 103, 105), (102, 107))
    assert found.conflicts == ((101, 103, 105),)
    assert found.opposite == ((101, 104),)
    assert found.group.tolist() == [0, 1, 0, 3, 0, 5, 1]
    assert found.unique.tolist() == [0, 1, 3, 5]
    assert found.points.num_repeated == 3


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 4), st.integers(2, 40), st.integers(0, 10_000))
def test_agrees_with_all_pairs(digits, d, n, seed):
    generator = torch.Generator().manual_seed(seed)
    points = torch.randint(-2, 3, (n, d), generator=generator).double()
    points[(points == 0).all(1)] = 1
    scales = torch.rand(n, 1, generator=generator, dtype=torch.float64) + 0.1
    data = with_points(digits, points * scales)
    found = find_duplicates(data)
    first, opposite = brute_force(data.X)
    assert found.group.tolist() == first
    assert {(i - 101, j - 101) for i, j in found.opposite} == opposite


@pytest.mark.parametrize(("columns", "levels"), [(8, 2), (5, 5)])
def test_repeats_are_found_where_an_odd_value_crowds_the_others(columns, levels, table):
    rng = np.random.default_rng(0)
    X = rng.integers(1, 1 + levels, size=(1000, columns)).astype(float)
    X[np.arange(columns), np.arange(columns)] = 1e6  # a code for what is missing, say
    data = table(X, rng.integers(0, 2, size=len(X)), "standard")
    found = find_duplicates(data)
    _, point = torch.unique(data.X, dim=0, return_inverse=True)
    assert torch.equal(found.group[:, None] == found.group, point[:, None] == point)


def test_tolerance_is_a_cosine_distance(digits):
    base = torch.randn(1, 50, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    base /= base.norm()
    across = torch.randn(1, 50, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    across -= (across @ base.T) * base
    across /= across.norm()
    for factor, num_groups in ((0.5, 1), (2.0, 0)):
        angle = (2 * factor * COSINE_TOLERANCE) ** 0.5
        data = with_points(digits, torch.cat([base, base + angle * across]))
        assert len(find_duplicates(data).groups) == num_groups


def test_regression_targets_conflict(digits):
    data = with_points(digits, torch.tensor([[1.0, 2], [1, 2], [3, 4], [3, 4]]))
    data = replace(data, labels=None, Y=torch.tensor([[0.5], [0.5], [0.5], [0.25]], dtype=torch.float64))
    found = find_duplicates(data)
    assert found.groups == ((101, 102), (103, 104))
    assert found.conflicts == ((103, 104),)


def test_row_numbers_are_the_users(digits):
    part = subset(digits, torch.tensor([7, 9, 7, 100]))
    assert find_duplicates(part).groups == ((8, 8),)


def test_all_rows_equal(digits):
    found = find_duplicates(with_points(digits, torch.ones(5000, 3)))
    assert len(found.groups) == 1
    assert len(found.groups[0]) == 5000
    assert found.unique.tolist() == [0]


def test_rows_crowded_within_the_tolerance_end_soon(digits, compared):
    """A large offset brings all rows within about the tolerance; that must not cost all pairs."""
    generator, n = torch.Generator().manual_seed(0), 20_000
    points = torch.cat([1e6 * torch.ones(n, 1), torch.randn(n, 20, generator=generator)], dim=1)
    found = find_duplicates(with_points(digits, points))
    assert len(compared) <= 2 * duplicates.MAX_ROUNDS  # of rows, then of points and their mirror images
    assert 0 < sum(compared) < MOST_COMPARED < n * n / 50
    for rows in found.groups:
        assert len(rows) > 1


def test_digits_have_no_duplicates(digits):
    found = find_duplicates(digits)
    assert (found.groups, found.opposite, found.conflicts) == ((), (), ())
    assert found.unique.tolist() == list(range(1797))


@pytest.mark.slow
def test_mnist_compares_few_pairs(data_dir, compared):
    data = load("mnist")
    copied = subset(data, torch.cat([torch.arange(data.n), torch.tensor([5, 59_999])]))
    copied.X[-2:] *= 1 + 4e-16  # so that not every number is the same
    found = find_duplicates(copied)
    assert 0 < sum(compared) < 100
    assert found.groups == ((6, 6), (60_000, 60_000))
