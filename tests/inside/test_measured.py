import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from widenet.base.errors import InputError
from widenet.data import Dataset
from widenet.inside import measured
from widenet.inside.measured import cube_columns, measure_data, tensor_singular_value
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name


@pytest.fixture
def binary(table) -> Dataset:
    X = np.random.default_rng(0).normal(size=(80, 15))
    return table(X, np.where(X[:, 0] > 0, "up", "down"))


def test_numbers_are_those_of_a_decomposition(binary, generator):
    found = measure_data(binary, generator=generator)
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
    assert (found.cube_columns, found.num_opposite) == (0, 0)
    assert (found.power, found.power_sigma) == (1, found.sigma)


def test_singular_value_is_that_of_the_tensors(generator):
    X = torch.randn(12, 5, generator=generator, dtype=torch.float64)
    tensors = (X[:, :, None] * X[:, None, :]).flatten(1)
    found = tensor_singular_value(X)
    expected = float(torch.linalg.svdvals(tensors)[-1])
    assert found.value == pytest.approx(expected, rel=1e-3)
    assert 0 < found.lower <= expected


@pytest.mark.parametrize("p", [2, 3])
def test_singular_value_of_higher_powers(p, generator):
    X = torch.randn(20, 3, generator=generator, dtype=torch.float64)
    if p == 2:
        X = X[:14]
    tensors = X
    for _ in range(2 * p - 1):
        tensors = (tensors[:, :, None] * X[:, None, :]).flatten(1)
    found = tensor_singular_value(X, p)
    expected = float(torch.linalg.svdvals(tensors)[-1])
    assert found.value == pytest.approx(expected, rel=1e-3)
    assert 0 < found.lower <= expected


@pytest.mark.parametrize("p", [1, 2])
def test_singular_value_scales_with_the_rows(p, generator):
    X = torch.randn(12, 5, generator=generator, dtype=torch.float64)
    found = tensor_singular_value(X, p)
    for exponent in (200, -200):
        scaled = tensor_singular_value(X * 2.0**exponent, p)
        assert (scaled.value, scaled.lower) == (
            math.ldexp(found.value, 2 * p * exponent),
            math.ldexp(found.lower, 2 * p * exponent),
        )


def test_singular_values_beyond_a_float_are_hidden(generator):
    X = torch.randn(12, 5, generator=generator, dtype=torch.float64)
    for factor in (1e100, 1e-100):
        found = tensor_singular_value(X * factor, 2)
        assert (found.value, found.lower) == (0.0, 0.0)


@pytest.mark.parametrize("factor", [0.0, 1e200, 1e-200])
def test_rows_that_cannot_be_scaled_get_a_sentence(factor, table, generator):
    X = np.random.default_rng(0).normal(size=(12, 5))
    X[3] *= factor
    with pytest.raises(InputError, match="The norms of the rows"):
        measure_data(table(X, np.arange(12.0) % 7, "raw"), generator=generator)


def test_the_power_is_raised_until_the_rows_are_independent(table, generator):
    """Of 30 rows in 5 dimensions there are 15 squares and 70 fourth powers."""
    X = np.random.default_rng(2).normal(size=(30, 5))
    found = measure_data(table(X, np.arange(30.0) % 7), generator=generator)
    assert (found.sigma, found.power) == (0.0, 2)
    assert 0 < found.power_sigma_floor <= found.power_sigma


def test_more_rows_than_forms_have_no_singular_value(generator):
    X = torch.randn(16, 5, generator=generator, dtype=torch.float64)
    assert tensor_singular_value(X).value == 0.0


def test_repeated_rows_are_told_and_left_out(table, generator):
    X = np.random.default_rng(1).normal(size=(30, 8))
    found = measure_data(table(np.concatenate([X, X[:5]]), np.arange(35.0) % 7), generator=generator)
    assert (found.n, found.num_measured, found.num_repeated) == (35, 30, 5)
    assert found.lambda_min > 0


def test_a_part_of_the_rows_asks_for_no_more(binary, generator, monkeypatch):
    whole = measure_data(binary, generator=generator)
    monkeypatch.setattr(measured, "MOST_ROWS", 40)
    part = measure_data(binary, generator=generator)
    assert (part.n, part.num_measured) == (80, 40)
    assert part.lambda_min >= whole.lambda_min * (1 - 1e-3)
    assert part.sigma >= whole.sigma * (1 - 1e-3)
    assert part.quadratic <= whole.quadratic_upper


def test_opposite_rows_are_told_and_left_out_of_sigma(table, generator):
    X = np.random.default_rng(1).normal(size=(20, 8))
    found = measure_data(table(np.concatenate([X, -X[:4]]), np.arange(24.0) % 7), generator=generator)
    assert (found.n, found.num_measured, found.num_repeated, found.num_opposite) == (24, 24, 0, 4)
    alone = measure_data(table(X, np.arange(20.0) % 7), generator=generator)
    assert found.sigma == pytest.approx(alone.sigma, rel=1e-9)
    assert found.sigma_floor > 0


def test_parallel_rows_of_other_lengths_repeat(binary, generator):
    longer = replace(binary, X=torch.cat([binary.X[:40], 3 * binary.X[:40]]))
    assert measure_data(longer, generator=generator).num_repeated == 40


def test_the_cube_is_seen(table, generator):
    X = np.array([[1.0, 1, 1, 1, 1], [1, -1, 1, 1, -1], [-1, 1, 1, -1, 1], [1, 1, -1, -1, -1]])
    found = measure_data(table(X, np.array([0.5, 1.0, -1.0, 2.0])), generator=generator)
    assert found.cube_columns == 5
    assert math.isfinite(found.lambda_max)


def test_a_cube_among_background_columns_is_seen(table, generator):
    """Rows of norm 1 make the cube's size another in each row; constant and other columns are background."""
    rng = np.random.default_rng(3)
    cube = rng.choice([-1.0, 1.0], size=(40, 6))
    X = np.concatenate(
        [rng.normal(size=(40, 3)), cube, np.ones((40, 1)), rng.choice([-3.0, 3.0], (40, 2))], 1
    )
    assert measure_data(table(X, np.arange(40.0) % 7), generator=generator).cube_columns == 6
    assert cube_columns(torch.tensor(X[:, :3]), generator) == 0
    assert cube_columns(torch.tensor(np.concatenate([X[:, :3], -X[:, :3]], 1)), generator) == 0  # copies
    assert cube_columns(torch.ones(3, 4), generator) == 0
