"""The bound on kernels, against spaces of every kind."""

import itertools
import math

import pytest
import torch

from widenet.base.errors import InputError
from widenet.theory.resnet_beyond_kernels.lower_bound import (
    QUANTITIES,
    class_size,
    far_share,
    fewest_samples,
    kernel_floor,
    kernel_lower_bound,
)

D1, K, ALPHA = 6, 3, 0.4


def errors_of_space(V: torch.Tensor, alpha: float) -> list[float]:
    """Distance of every output of every function from the columns of V (2^d₁, N), by least squares."""
    signs = torch.tensor(list(itertools.product((1.0, -1.0), repeat=D1)), dtype=torch.float64)
    found = []
    for subset in itertools.combinations(range(D1), K):
        product = signs[:, list(subset)].prod(1)
        outputs = []
        for j in subset:
            target = (signs[:, j] + alpha * product)[:, None]
            weights = torch.linalg.lstsq(V, target, driver="gelsd").solution
            outputs.append(float((target - V @ weights).square().mean()))
        found.append(sum(outputs) / K)
    return found


@pytest.mark.parametrize("num_samples", [1, 5, 12, 19])
@pytest.mark.parametrize("seed", range(3))
def test_no_space_of_n_functions_is_below(num_samples, seed):
    generator = torch.Generator().manual_seed(seed)
    V = torch.randn(2**D1, num_samples, generator=generator, dtype=torch.float64)
    assert sum(errors := errors_of_space(V, ALPHA)) / len(errors) >= kernel_floor(num_samples, D1, K, ALPHA)


def test_coordinates_and_parities_come_within_their_number():
    """The best space there is: all coordinates, and N − d₁ of the parities."""
    signs = torch.tensor(list(itertools.product((1.0, -1.0), repeat=D1)), dtype=torch.float64)
    sets = list(itertools.combinations(range(D1), K))[:8]
    V = torch.cat([signs, torch.stack([signs[:, list(each)].prod(1) for each in sets], dim=1)], dim=1)
    errors, n = errors_of_space(V, ALPHA), D1 + 8
    mean = sum(errors) / len(errors)
    assert mean == pytest.approx(kernel_floor(n - D1, D1, K, ALPHA))
    assert mean >= kernel_floor(n, D1, K, ALPHA)
    above = sum(error > ALPHA**2 / 2 for error in errors) / len(errors)
    assert above >= far_share(n, D1, K, ALPHA**2 / 2, ALPHA)


def test_samples_needed_are_the_inverse():
    for error in (0.0, 0.001, 0.05, 0.16):
        n = fewest_samples(error, D1, K, ALPHA)
        assert kernel_floor(n, D1, K, ALPHA) <= error + 1e-12
        assert n == 0 or kernel_floor(n - 1, D1, K, ALPHA) > error


def test_theorem_2_follows():
    """N ≤ C/1000 leaves an error above α²/16 on more than 99% of the class."""
    assert far_share(math.comb(30, 8) / 1000, 30, 8, ALPHA**2 / 16, ALPHA) > 0.99
    assert far_share(10, D1, K, 2 * ALPHA**2, ALPHA) == 0


def test_as_a_quantity():
    found = kernel_lower_bound(5, D1, K, ALPHA)
    assert found.value == pytest.approx(ALPHA**2 * (1 - 5 / 20))
    assert found.applies
    assert not kernel_lower_bound(20, D1, K, ALPHA).applies
    assert QUANTITIES[0]({"num_samples": "5", "d1": "6", "k": "3", "alpha": "0.4"}) == found
    with pytest.raises(InputError, match="`k` is 7"):
        class_size(D1, 7)
