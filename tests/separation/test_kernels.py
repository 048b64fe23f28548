"""Oracle weights by projection, against least squares on every function."""

import itertools
import math

import pytest
import torch
from torch.testing import assert_close

from widenet.kernels.names import kernel_by_name
from widenet.separation.kernels import ParityKernel, cube, numerical_range, oracle_errors, parities, subsets
from widenet.theory.resnet_beyond_kernels.lower_bound import kernel_floor

D1, K, ALPHA = 6, 3, 0.4
NAMES = ("relu2-all", "relu3-all", "resnet3-all", "gaussian:h=2", "laplacian", "polynomial", "arcsin")


@pytest.fixture
def samples(generator):
    points = cube(D1)
    return points[torch.randint(len(points), (24,), generator=generator)]  # some of them twice


def least_squares_error(kernel, samples):
    """By solving for the weights of every output of every function."""
    points = cube(D1)
    signs, columns, errors = points.sign(), kernel.tile(points, samples), []
    for subset in itertools.combinations(range(D1), K):
        for j in subset:
            target = (signs[:, j] + ALPHA * signs[:, list(subset)].prod(1))[:, None]
            weights = torch.linalg.lstsq(columns, target, driver="gelsd").solution
            errors.append(float((target - columns @ weights).square().mean()))
    return sum(errors) / len(errors)


KERNELS = [*map(kernel_by_name, NAMES), ParityKernel(D1, K)]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda each: each.name)
def test_errors_are_those_of_least_squares_and_not_below_the_bound(kernel, samples):
    sizes = (3, 9, 18, 24)
    found = oracle_errors(kernel, cube(D1), samples, sizes, K, ALPHA)
    for size, error in zip(sizes, found, strict=True):
        assert error == pytest.approx(least_squares_error(kernel, samples[:size]), abs=1e-7)
        assert error >= kernel_floor(size, D1, K, ALPHA) - 1e-12


def test_the_cube_and_its_parities_are_orthonormal():
    points, sets = cube(D1), subsets(D1, K)
    assert len(points.unique(dim=0)) == 2**D1
    assert_close(points.norm(dim=1), torch.ones(2**D1, dtype=torch.float64))
    chi = parities(points, sets)
    assert chi.shape == (2**D1, math.comb(D1, K))
    assert_close(chi.T @ chi / 2**D1, torch.eye(20, dtype=torch.float64))
    assert_close(chi.T @ points, torch.zeros(20, D1, dtype=torch.float64), rtol=0, atol=1e-12)


def test_the_kernel_made_for_the_class_is_the_sum_of_its_parities(samples):
    kernel, points = ParityKernel(D1, K), cube(D1)
    chi, of_samples = parities(points, subsets(D1, K)), parities(samples, subsets(D1, K))
    linear = 1e3 * points.sign() @ samples.sign().T
    assert_close(kernel.tile(points, samples), linear + chi @ of_samples.T)
    assert_close(kernel.diag(points), kernel.tile(points, points).diagonal())


def test_it_comes_within_the_number_of_coordinates(generator):
    """Its error is at most that of d₁ samples fewer, up to what its emphasis leaves of F."""
    d1, k = 9, 3
    points = cube(d1)
    samples = points[torch.randperm(len(points), generator=generator)[:60]]
    sizes = (20, 40, 60)
    errors = oracle_errors(ParityKernel(d1, k), points, samples, sizes, k, 0.5)
    for size, error in zip(sizes, errors, strict=True):
        assert kernel_floor(size, d1, k, 0.5) <= error <= kernel_floor(size - d1, d1, k, 0.5) + 0.02


def test_directions_of_rounding_are_left_out(generator):
    R = torch.randn(6, 3, generator=generator, dtype=torch.float64) @ torch.ones(3, 6, dtype=torch.float64)
    span = numerical_range(R)
    assert span.shape == (6, 1)
    assert_close(span @ span.T @ R, R)
