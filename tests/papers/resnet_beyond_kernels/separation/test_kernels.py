"""Oracle weights by projection, against least squares on every function."""

import itertools
import math

import pytest
import torch
from torch.testing import assert_close

from widenet.kernels.names import kernel_by_name
from widenet.papers.resnet_beyond_kernels.separation.kernels import (
    ParityKernel,
    cube,
    cube_class,
    cube_values,
    num_operations,
    numerical_range,
    oracle_errors,
    oracle_seconds,
    parities,
    subsets,
)
from widenet.papers.resnet_beyond_kernels.separation.settings import COMPARED
from widenet.theory.resnet_beyond_kernels.lower_bound import kernel_floor

D1, K, ALPHA = 6, 3, 0.4
SMALL_CLASSES = ((3, 2), (4, 2), (5, 3), (5, 4), (7, 2), (8, 3))


def kernels_of(d1, k):
    return [*map(kernel_by_name, COMPARED), ParityKernel(d1, k)]


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


@pytest.mark.parametrize("kernel", kernels_of(D1, K), ids=lambda each: each.name)
def test_errors_are_those_of_least_squares(kernel, samples):
    sizes = (3, 9, 18, 24)
    found = oracle_errors(cube_values(kernel, cube(D1), samples), cube_class(D1, K, ALPHA), sizes)
    for size, error in zip(sizes, found, strict=True):
        assert error == pytest.approx(least_squares_error(kernel, samples[:size]), abs=1e-7)


@pytest.mark.parametrize(("d1", "k"), SMALL_CLASSES)
@pytest.mark.parametrize("alpha", [0.05, 1.0])
def test_no_kernel_is_below_the_bound(d1, k, alpha, generator):
    """Nor is any function of two inputs that is no kernel; samples are drawn with and without repetition."""
    functions = cube_class(d1, k, alpha)
    num_points, num_sets = functions.products.shape
    sizes = sorted({1, d1, num_sets // 2, num_sets - 1, min(num_sets, num_points), num_points})
    tables = [torch.randn(num_points, num_points, generator=generator, dtype=torch.float64)]
    drawn = torch.randint(num_points, (num_points,), generator=generator)
    for rows in (drawn, torch.randperm(num_points, generator=generator)):
        samples = functions.points[rows]
        tables += [cube_values(kernel, functions.points, samples) for kernel in kernels_of(d1, k)]
    assert len(tables) == 1 + 2 * 8
    for values in tables:
        errors = oracle_errors(values, functions, sizes)
        for size, error in zip(sizes, errors, strict=True):
            assert error >= kernel_floor(size, d1, k, alpha) - 1e-13


def test_a_space_of_coordinates_and_products_shows_that_the_bound_is_sharp():
    """d₁ coordinates and r of the χ_S: the error is α²(1 − r/C), that of the bound for r samples."""
    functions = cube_class(D1, K, ALPHA)
    values = torch.cat([functions.points.sign(), functions.products], dim=1)
    sizes = (D1, D1 + 5, D1 + 20)
    for size, error in zip(sizes, oracle_errors(values, functions, sizes), strict=True):
        assert error == pytest.approx(kernel_floor(size - D1, D1, K, ALPHA), abs=1e-13)


@pytest.mark.parametrize("kernel", kernels_of(D1, K), ids=lambda each: each.name)
def test_values_on_the_cube_are_the_kernels(kernel, samples):
    assert_close(cube_values(kernel, cube(D1), samples), kernel.tile(cube(D1), samples), rtol=0, atol=1e-7)


@pytest.mark.parametrize("d1", [6, 7, 10])
def test_rounding_spans_no_directions(d1, generator):
    """Functions of `relu2-all` are even or linear, so that it never learns anything of three signs."""
    functions = cube_class(d1, 3, 0.5)
    samples = functions.points[torch.randperm(2**d1, generator=generator)[: 2**d1 * 3 // 4]]
    values = cube_values(kernel_by_name("relu2-all"), functions.points, samples)
    (error,) = oracle_errors(values, functions, (len(samples),))
    assert error == pytest.approx(0.25, abs=1e-9)


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
    errors = oracle_errors(cube_values(ParityKernel(d1, k), points, samples), cube_class(d1, k, 0.5), sizes)
    for size, error in zip(sizes, errors, strict=True):
        assert kernel_floor(size, d1, k, 0.5) <= error <= kernel_floor(size - d1, d1, k, 0.5) + 0.02


def test_directions_of_rounding_are_left_out(generator):
    R = torch.randn(6, 3, generator=generator, dtype=torch.float64) @ torch.ones(3, 6, dtype=torch.float64)
    span = numerical_range(R)
    assert span.shape == (6, 1)
    assert_close(span @ span.T @ R, R)


def test_where_all_is_learned_the_error_is_not_negative():
    functions = cube_class(4, 2, 0.5)
    for kernel in kernels_of(4, 2)[3:]:
        values = cube_values(kernel, functions.points, functions.points)
        assert oracle_errors(values, functions, (16,))[0] >= 0.0


def test_the_forecast_grows_with_the_operations(samples, monkeypatch):
    functions = cube_class(D1, K, ALPHA)
    clock = iter((10.0, 12.0, 20.0, 22.0))
    monkeypatch.setattr(
        "widenet.papers.resnet_beyond_kernels.separation.kernels.time.perf_counter", lambda: next(clock)
    )
    kernel = ParityKernel(D1, K)
    assert oracle_seconds([kernel], functions, samples, (24,)) == 2.0
    more = num_operations(functions, (24, 640)) / num_operations(functions, (64,))
    assert oracle_seconds([kernel], functions, cube(D1), (24, 640)) == pytest.approx(2 * more)
    assert more > 60
