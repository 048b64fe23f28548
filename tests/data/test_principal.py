import pytest
import torch
from torch.testing import assert_close

from widenet.base.errors import InputError
from widenet.data.principal import principal_components


@pytest.fixture(name="X")
def rows_far_from_the_origin(generator) -> torch.Tensor:
    scales = torch.tensor([3.0, 0.1, 1.0, 0.5], dtype=torch.float64)
    return 5 + scales * torch.randn(60, 4, generator=generator, dtype=torch.float64)


def test_coordinates_are_those_of_the_singular_vectors(X):
    """Up to signs, which are free."""
    found = principal_components(X, 2).apply(X)
    U, values, _ = torch.linalg.svd(X - X.mean(0), full_matrices=False)
    assert found.shape == (60, 2)
    assert_close(found.abs(), (U * values)[:, :2].abs(), rtol=0, atol=1e-10)


def test_new_rows_take_the_same_way(X):
    components = principal_components(X, 3)
    assert_close(components.apply(X[:7]), components.apply(X)[:7], rtol=0, atol=1e-12)
    assert_close(components.apply(components.mean[None]), torch.zeros(1, 3, dtype=torch.float64))
    assert_close(components.directions.T @ components.directions, torch.eye(3, dtype=torch.float64))


def test_rows_in_a_subspace_lose_nothing(X):
    flat = X.clone()
    flat[:, 3] = flat[:, 0] - 2 * flat[:, 1]
    components = principal_components(flat, 3)
    back = components.apply(flat) @ components.directions.T + components.mean
    assert_close(back, flat, rtol=0, atol=1e-10)


def test_more_directions_than_columns_are_refused(X):
    with pytest.raises(InputError, match="60 rows of 4 columns have at most 4 principal components, not 5"):
        principal_components(X, 5)
