"""Network kernels against the papers' formulas and against gradients of wide finite networks."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.kernels.layers import Dense, Relu, Residual
from widenet.kernels.names import kernel_by_name
from widenet.kernels.networks import Serial

MODES = ["all", "hidden", "last"]
X = torch.tensor([[0.6, 0.8, 0.0], [0.0, 0.6, -0.8], [0.48, 0.6, 0.64]], dtype=torch.float64)


def empirical_ntks(
    outputs: Callable[[list[Tensor]], Tensor], shapes: list[tuple[int, ...]], num_draws: int, seed: int
) -> Tensor:
    """⟨∂f(x_i), ∂f(x_j)⟩ over each of the weights, shape (weights, n, n), averaged over draws and outputs.

    `outputs` maps standard normal weights of the given shapes to f of shape (n, k).
    """
    generator = torch.Generator().manual_seed(seed)
    kernels = torch.zeros(len(shapes), len(X), len(X))
    for _ in range(num_draws):
        weights = [torch.randn(*shape, generator=generator, requires_grad=True) for shape in shapes]
        columns = outputs(weights).T
        for values in columns:
            gradients = [torch.autograd.grad(value, weights, retain_graph=True) for value in values]
            for kernel, per_row in zip(kernels, zip(*gradients, strict=True), strict=True):
                flat = torch.stack([gradient.flatten() for gradient in per_row])
                kernel += flat @ flat.T / (num_draws * len(columns))
    return kernels.double()


def assert_modes_agree(family: str, empirical: Tensor, tolerance: float) -> None:
    """Compare `all`, `hidden` and `last` with the kernels of the weights; the output's come last."""
    for mode, expected in (
        ("all", empirical.sum(0)),
        ("hidden", empirical[:-1].sum(0)),
        ("last", empirical[-1]),
    ):
        exact = kernel_by_name(f"{family}-{mode}").tile(X, X)
        torch.testing.assert_close(
            exact, expected, rtol=0, atol=tolerance, msg=lambda text, mode=mode: mode + text
        )


def test_two_relu_layers_are_those_of_a_wide_network() -> None:
    m = 100_000

    def outputs(weights: list[Tensor]) -> Tensor:
        return torch.relu(X.float() @ weights[0].T) @ weights[1].T / m**0.5

    assert_modes_agree(
        "relu2", empirical_ntks(outputs, [(m, 3), (1, m)], num_draws=2, seed=1), tolerance=0.01
    )


@pytest.mark.parametrize(("activation", "sigma"), [("relu", torch.relu), ("erf", torch.erf)])
def test_three_layers_are_those_of_a_wide_network(activation: str, sigma: Callable[[Tensor], Tensor]) -> None:
    m, gain = 800, 2.0 if activation == "relu" else math.pi / (2 * math.asin(2 / 3))

    def outputs(weights: list[Tensor]) -> Tensor:
        hidden = sigma(X.float() @ weights[0].T)
        return sigma(hidden @ weights[1].T * (gain / m) ** 0.5) @ weights[2].T / m**0.5

    empirical = empirical_ntks(outputs, [(m, 3), (m, m), (1, m)], num_draws=40, seed=2)
    assert_modes_agree(f"{activation}3", empirical, tolerance=0.04)


def test_resnet3_is_that_of_a_wide_network_with_one_shared_output_matrix() -> None:
    m, k = 1500, 500

    def outputs(weights: list[Tensor]) -> Tensor:
        W, V, A = weights
        first = torch.relu(X.float() @ W[:, :3].T + W[:, 3]) @ A.T / m**0.5
        second = torch.relu(first @ V[:, :k].T / k**0.5 + V[:, k])
        return (first + second @ A.T / m**0.5)[:, :2]

    empirical = empirical_ntks(outputs, [(m, 4), (m, k + 1), (k, m)], num_draws=25, seed=3)
    # Without the overlap of the two hidden layers `last` and `all` would be off by 0.6 on the diagonal.
    assert_modes_agree("resnet3", empirical, tolerance=0.08)


def test_hidden_of_two_layers_is_the_papers_matrix() -> None:
    """[fine-grained, equation 3]: H∞_ij = x_i·x_j (π − arccos x_i·x_j)/2π."""
    kernel = Serial(Dense(), Relu(), Dense(), trained="hidden")
    cosines = (X @ X.T).clamp(-1, 1)
    expected = cosines * (math.pi - torch.arccos(cosines)) / (2 * math.pi)
    torch.testing.assert_close(kernel.tile(X, X.clone()), expected, rtol=0, atol=1e-8)
    assert kernel.diag(X).tolist() == [0.5, 0.5, 0.5]


@pytest.mark.parametrize("family", ["relu2", "relu5", "erf3", "resnet3"])
def test_all_is_the_sum_of_hidden_and_last(family: str) -> None:
    rows = torch.randn(20, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    whole, hidden, last = (kernel_by_name(f"{family}-{mode}") for mode in MODES)
    torch.testing.assert_close(whole.tile(rows, rows), hidden.tile(rows, rows) + last.tile(rows, rows))
    torch.testing.assert_close(whole.diag(rows), hidden.diag(rows) + last.diag(rows))


def test_residual_network_is_that_of_a_wide_network() -> None:
    m = 800
    layers = (Dense(), Relu(), Dense(bias_var=0.5), Residual(Relu(), Dense(weight_var=2.0)), Relu(), Dense())

    def outputs(weights: list[Tensor]) -> Tensor:
        W, U, bias, V, A = weights
        units = torch.relu(X.float() @ W.T) @ U.T / m**0.5 + bias * 0.5**0.5
        units = units + torch.relu(units) @ V.T * (2 / m) ** 0.5
        return torch.relu(units) @ A.T / m**0.5

    empirical = empirical_ntks(outputs, [(m, 3), (m, m), (m,), (m, m), (1, m)], num_draws=40, seed=5)
    torch.testing.assert_close(Serial(*layers).tile(X, X), empirical.sum(0), rtol=0.03, atol=0)


def test_wrong_compositions_are_refused() -> None:
    with pytest.raises(InputError, match="begin with a Dense"):
        Serial(Relu(), Dense())
    with pytest.raises(InputError, match="trained is 'none'"):
        Serial(Dense(), Relu(), Dense(), trained="none")  # type: ignore[arg-type]
