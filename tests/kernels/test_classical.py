"""Classical kernels against their formulas, entry by entry."""

import math

import pytest
import torch

from widenet.base.errors import InputError
from widenet.kernels.classical import Arcsin, Gaussian, Laplacian, Polynomial, RandomFeatures, Recursive

X = torch.tensor([[0.6, 0.8], [0.0, 0.5], [-0.3, 0.1]], dtype=torch.float64)
FORMULAS = [
    (Gaussian(h=0.5), lambda x, z: math.exp(-((x - z).norm() ** 2) / 0.5)),
    (Laplacian(h=2.0), lambda x, z: math.exp(-(x - z).norm() / 2)),
    (Arcsin(), lambda x, z: math.asin(max(-1, min(1, x @ z / (x.norm() * z.norm()))))),
    (Polynomial(degree=2, offset=0.5), lambda x, z: (x @ z + 0.5) ** 2),
    (Recursive(depth=2), lambda x, z: 1 / (2 - 1 / (2 - x @ z))),
    (Recursive(depth=1, recursion=torch.exp), lambda x, z: math.exp(x @ z)),
]


@pytest.mark.parametrize(("kernel", "formula"), FORMULAS, ids=lambda value: getattr(value, "name", ""))
def test_kernels_match_their_formulas(kernel, formula) -> None:
    expected = torch.tensor([[float(formula(x, z)) for z in X] for x in X], dtype=torch.float64)
    torch.testing.assert_close(kernel.tile(X, X), expected, rtol=1e-7, atol=1e-8)
    off_diagonal = ~torch.eye(3, dtype=torch.bool)
    torch.testing.assert_close(
        kernel.tile(X, X)[off_diagonal], expected[off_diagonal], rtol=1e-14, atol=1e-15
    )
    torch.testing.assert_close(kernel.diag(X), expected.diagonal(), rtol=1e-7, atol=0)


def test_random_relu_features_approach_the_conjugate_kernel(generator: torch.Generator) -> None:
    """E σ(w·x)σ(w·z), against an integral over the angle of w in R²."""
    weights = torch.randn(400_000, 2, dtype=torch.float64, generator=generator)
    kernel = RandomFeatures(lambda X, W: torch.relu(X @ W.T), weights)
    angles = torch.linspace(0, 2 * math.pi, 20_001, dtype=torch.float64)[:-1]
    circle = torch.relu(X @ torch.stack([angles.cos(), angles.sin()]))
    expected = 2 * circle @ circle.T / 20_000  # E‖w‖² = 2
    torch.testing.assert_close(kernel.tile(X, X), expected, rtol=0, atol=5e-3)
    torch.testing.assert_close(kernel.diag(X), kernel.tile(X, X).diagonal())


@pytest.mark.parametrize(
    "build", [lambda: Gaussian(h=0), lambda: Laplacian(h=-1), lambda: Gaussian(h=math.nan)]
)
def test_widths_must_be_positive(build) -> None:
    with pytest.raises(InputError, match=r"h is .* must be positive"):
        build()


def test_the_recursive_kernel_refuses_rows_outside_the_unit_ball() -> None:
    with pytest.raises(InputError, match="norm at most 1, but one has norm 2"):
        Recursive().tile(2 * torch.eye(2), torch.eye(2))


def test_degrees_and_depths_must_be_whole_and_positive() -> None:
    with pytest.raises(InputError, match="degree is 0"):
        Polynomial(degree=0)
    with pytest.raises(InputError, match="offset is -1"):
        Polynomial(offset=-1)
    with pytest.raises(InputError, match="depth is 0"):
        Recursive(depth=0)
