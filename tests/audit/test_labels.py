import numpy as np
import pytest
import torch

from widenet.audit.findings import Suspect
from widenet.audit.labels import most_similar, suggested_words
from widenet.data import load, subset
from widenet.data.duplicates import find_duplicates


@pytest.fixture
def read(tmp_path):
    """A table with some targets, as they are written."""

    def reader(*targets):
        path = tmp_path / "table.csv"
        path.write_text("x,y\n" + "".join(f"{k % 7},{word}\n" for k, word in enumerate(targets)))
        return load(str(path))

    return reader


def test_classes_are_suggested_as_the_user_writes_them(read):
    data = read("6.0", "7.0", "6.0", "7.0", "6", "07")
    assert data.classes == ("6", "7")
    assert suggested_words(data, data.labels) == list(data.given)
    assert suggested_words(data, 1 - data.labels) == ["7.0", "6.0", "7.0", "6.0", "7.0", "6.0"]


def test_words_differ_exactly_where_classes_do(read):
    data = read(*(["1", "1.0", "2", "2.0", "+3", "3"] * 4))
    suggested = torch.from_numpy(np.random.default_rng(0).integers(0, 3, data.n))
    words = zip(suggested_words(data, suggested), data.given, strict=True)
    assert [word != given for word, given in words] == (suggested != data.labels).tolist()


def test_a_class_that_no_row_has_goes_by_its_name(read):
    data = subset(read("6.0", "7.0", "6.0", "7.0"), torch.tensor([0, 2]))
    assert suggested_words(data, torch.tensor([1, 0])) == ["7", "6.0"]


def test_numbers_that_print_the_same_are_the_same(read):
    data = read("6.0", "0.50", "31770.26", "1e3", "2.123456789")
    assert suggested_words(data, data.Y + 1e-12) == list(data.given)
    assert suggested_words(data, data.Y.flip(0)) == ["2.12346", "1000", "31770.26", "0.5", "6"]


def test_large_numbers_are_suggested_without_an_exponent(read):
    data = read("5585700", "1372843.2", "-2500000", "74.5", "1e16")
    small = subset(data, torch.arange(4))
    assert suggested_words(small, small.Y.flip(0)) == ["74.5", "-2500000", "1372840", "5585700"]
    assert suggested_words(data, data.Y.roll(1, 0))[0] == "1e+16"


def test_nearest_rows_are_those_of_the_smallest_angles(arrays):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 4))
    X[7] = X[3]  # its twin is no other point
    dataset = arrays(X, rng.choice(["a", "b"], 40))
    points = find_duplicates(dataset).points
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    angles = np.arccos(np.clip(unit @ unit.T, -1, 1))
    found = most_similar(dataset, points, [Suspect(row, "a", "b", 1.0) for row in (4, 20, 33)], 2)
    for row, near in found.items():
        others = [other for other in range(40) if not np.array_equal(X[other], X[row - 1])]
        assert list(near) == [other + 1 for other in sorted(others, key=lambda k: angles[row - 1, k])[:2]]


def test_few_points_have_few_neighbours(arrays):
    dataset = arrays(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array(["a", "b", "a"]))
    points = find_duplicates(dataset).points
    suspects = [Suspect(row, "a", "b", 1.0) for row in (1, 3)]
    assert most_similar(dataset, points, suspects, 2) == {1: (3,), 3: (1, 2)}
    assert most_similar(dataset, points, [], 2) == {}
