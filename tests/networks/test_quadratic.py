import pytest
import torch

from widenet.networks import quadratic
from widenet.networks.quadratic import (
    RandomLayer,
    choose_gradient,
    curvature,
    form,
    form_outputs,
    hessian_product,
    loss,
    neuron_gradient,
    neuron_outputs,
    quadratic_gradient,
    quadratic_outputs,
    signs,
)


def naive_outputs(Z, W):
    """The definition, one neuron after the other."""
    half = W.shape[1] // 2
    return sum((1 if i < half else -1) * (Z @ W[:, i]).square() for i in range(W.shape[1]))


def naive_loss(Z, y, W):
    return (naive_outputs(Z, W) - y).square().sum() / (4 * len(Z))


@pytest.fixture(params=[(7, 3, 8), (40, 9, 20), (30, 300, 12)], ids=str)
def problem(request, generator):
    n, k, r = request.param
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)  # noqa: E731
    return draw(n, k) / k**0.5, draw(n), draw(k, r) / r**0.5, draw(k, r)


@pytest.fixture(params=[2**27, 500], ids=["one block", "blocks"])
def room(request, monkeypatch):
    monkeypatch.setattr(quadratic, "ROOM", request.param)


def test_half_of_the_signs_are_negative():
    assert signs(6).tolist() == [1, 1, 1, -1, -1, -1]


def test_outputs_are_those_of_the_definition_by_every_way(problem, room):
    Z, _, W, _ = problem
    expected = naive_outputs(Z, W)
    for found in (quadratic_outputs(Z, W), neuron_outputs(Z, W), form_outputs(Z, form(W))):
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


def test_form_and_curvature_are_exactly_symmetric(problem):
    Z, y, W, _ = problem
    for matrix in (form(W), curvature(Z, y)):
        assert torch.equal(matrix, matrix.T)


def test_curvature_is_the_mean_of_outer_products(problem, room):
    Z, y, _, _ = problem
    expected = sum(delta * torch.outer(z, z) for z, delta in zip(Z, y, strict=True)) / len(Z)
    torch.testing.assert_close(curvature(Z, y), expected, rtol=1e-12, atol=1e-14)


def test_loss_is_that_of_the_definition(problem):
    Z, y, W, _ = problem
    assert loss(quadratic_outputs(Z, W) - y) == pytest.approx(float(naive_loss(Z, y, W)), rel=1e-12)


@pytest.mark.parametrize("way", [quadratic_gradient, neuron_gradient])
def test_gradient_is_that_of_autograd(way, problem, room):
    Z, y, W, _ = problem
    leaf = W.clone().requires_grad_()
    (expected,) = torch.autograd.grad(naive_loss(Z, y, leaf), leaf)
    assert (way(Z, y, W) - expected).abs().max() <= 1e-10 * expected.abs().max()


def test_hessian_product_is_that_of_autograd(problem, room):
    Z, y, W, V = problem
    _, expected = torch.autograd.functional.hvp(lambda leaf: naive_loss(Z, y, leaf), W, V)
    assert (hessian_product(Z, y, W, V) - expected).abs().max() <= 1e-10 * expected.abs().max()


def test_no_temporary_is_larger_than_its_room():
    Z = torch.empty(60_000, 784, device="meta", dtype=torch.float64)
    blocks = list(quadratic._row_blocks(Z, 3000))
    assert max(block.stop - block.start for block in blocks) * 3000 * 8 <= 2**28
    assert [block.start for block in blocks[1:]] == [block.stop for block in blocks[:-1]]
    assert blocks[-1].stop == 60_000


@pytest.mark.parametrize(
    ("n", "k", "r", "way"),
    [
        (60_000, 784, 3000, "form"),
        (128, 784, 3000, "neurons"),
        (60_000, 784, 100, "neurons"),
        (3, 1, 4, "form"),
    ],
)
def test_the_cheaper_way_is_chosen(n, k, r, way):
    assert choose_gradient(n, k, r) == way


def test_float32_stays_float32(problem):
    Z, y, W, V = (part.to(torch.float32) for part in problem)
    assert (
        quadratic_gradient(Z, y, W).dtype
        == neuron_gradient(Z, y, W).dtype
        == hessian_product(Z, y, W, V).dtype
    )
    assert quadratic_gradient(Z, y, W).dtype == torch.float32


def test_random_layer_is_a_scaled_power(generator):
    R, X = (torch.randn(n, 4, generator=generator, dtype=torch.float64) for n in (5, 3))
    Z = RandomLayer(R, 3, 0.5)(X)
    assert Z.shape == (3, 5)
    for j in range(3):
        for i in range(5):
            assert float(Z[j, i]) == pytest.approx(0.5 * float(R[i] @ X[j]) ** 3, rel=1e-12)
