import math

import numpy as np
import pytest
import torch

from widenet.data import Dataset, load
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.theory import measured
from widenet.theory.measured import measure, tensor_singular_value


@pytest.fixture
def table(tmp_path):
    """A data set of rows X and targets y, from a file."""

    def make(X, y, prepare="unit") -> Dataset:
        path = tmp_path / "table.npz"
        np.savez(path, X=np.asarray(X, dtype=float), y=np.asarray(y))
        return load(str(path), prepare=prepare)

    return make


@pytest.fixture
def binary(table) -> Dataset:
    X = np.random.default_rng(0).normal(size=(80, 15))
    return table(X, np.where(X[:, 0] > 0, "up", "down"))


def test_numbers_are_those_of_a_decomposition(binary, generator):
    found = measure(binary, generator=generator)
    H = gram_matrix(kernel_by_name("relu2-hidden"), binary.X)
    eigenvalues = torch.linalg.eigvalsh(H)
    y = binary.Y[:, 0]
    assert (found.n, found.d, found.num_measured, found.num_repeated) == (80, 15, 80, 0)
    assert found.lambda_min == pytest.approx(float(eigenvalues[0]), rel=1e-3)
    assert 0 < found.lambda_floor <= found.lambda_min
    assert found.lambda_max == pytest.approx(float(eigenvalues[-1]), rel=1e-6)
    quadratic = float(y @ torch.linalg.solve(H, y))
    assert found.quadratic <= quadratic * (1 + 1e-9)
    assert quadratic <= found.quadratic_upper * (1 + 1e-9)
    assert found.quadratic == pytest.approx(quadratic, rel=2e-3)
    assert found.largest_norm == pytest.approx(1.0)
    assert (found.largest_label, found.start_loss) == (1.0, float(binary.labels.sum()) / 320)
    assert not found.on_cube


def test_singular_value_is_that_of_the_tensors(generator):
    X = torch.randn(12, 5, generator=generator, dtype=torch.float64)
    tensors = (X[:, :, None] * X[:, None, :]).flatten(1)
    found = tensor_singular_value(X)
    expected = float(torch.linalg.svdvals(tensors)[-1])
    assert found.value == pytest.approx(expected, rel=1e-3)
    assert 0 < found.lower <= expected


def test_more_rows_than_forms_have_no_singular_value(generator):
    X = torch.randn(16, 5, generator=generator, dtype=torch.float64)
    assert tensor_singular_value(X).value == 0.0


def test_repeated_rows_are_told_and_left_out(table, generator):
    X = np.random.default_rng(1).normal(size=(30, 8))
    found = measure(table(np.concatenate([X, X[:5]]), np.arange(35.0) % 7), generator=generator)
    assert (found.n, found.num_measured, found.num_repeated) == (35, 30, 5)
    assert found.lambda_min > 0


def test_a_part_of_the_rows_asks_for_no_more(binary, generator, monkeypatch):
    whole = measure(binary, generator=generator)
    monkeypatch.setattr(measured, "MOST_ROWS", 40)
    part = measure(binary, generator=generator)
    assert (part.n, part.num_measured) == (80, 40)
    assert part.lambda_min >= whole.lambda_min * (1 - 1e-3)
    assert part.sigma >= whole.sigma * (1 - 1e-3)
    assert part.quadratic <= whole.quadratic_upper


def test_the_cube_is_seen(table, generator):
    X = np.array([[1.0, 1, 1, 1, 1], [1, -1, 1, 1, -1], [-1, 1, 1, -1, 1], [1, 1, -1, -1, -1]])
    found = measure(table(X, np.array([0.5, 1.0, -1.0, 2.0])), generator=generator)
    assert found.on_cube
    assert math.isfinite(found.lambda_max)
