import pytest
import torch
from hypothesis import assume, given, settings, strategies as st

from widenet.memorise.landscape import landscape, loss_bound, spectral_norm
from widenet.memorise.sigma import smallest_singular_value
from widenet.networks.quadratic import curvature, quadratic_outputs, signs


def draws(n, k, r, seed, scale):
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)  # noqa: E731
    return draw(n, k), draw(n), scale * draw(k, r)


def loss_of(Z, y, W):
    delta = (Z @ W).square() @ signs(W.shape[1]) - y
    return delta.square().sum() / (4 * len(Z))


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(1, 8),
    k=st.integers(1, 4),
    extra=st.integers(0, 2),
    seed=st.integers(0, 2**20),
    scale=st.sampled_from([0.0, 0.1, 1.0, 5.0]),
)
def test_lemma_3_against_the_dense_hessian(n, k, extra, seed, scale):
    r = 2 * k + 2 + 2 * extra
    Z, y, W = draws(n, k, r, seed, scale)
    hessian = torch.autograd.functional.hessian(lambda V: loss_of(Z, y, V), W).reshape(k * r, k * r)
    eigenvalues = torch.linalg.eigvalsh(hessian)
    found = landscape(Z, y, W, sigma=1.0)
    rounding = 1e-12 * max(1.0, float(eigenvalues.abs().max()))
    assert found.lambda_min == pytest.approx(float(eigenvalues[0]), abs=rounding)


@settings(deadline=None, max_examples=100)
@given(
    k=st.integers(1, 6),
    share=st.floats(0, 1),
    seed=st.integers(0, 2**20),
    scale=st.sampled_from([0.0, 0.1, 1.0, 5.0]),
)
def test_lemma_4(k, share, seed, scale):
    n = max(1, round(share * k * (k + 1) / 2))
    Z, y, W = draws(n, k, 2 * k + 2, seed, scale)
    sigma = float(torch.linalg.svdvals(torch.stack([torch.outer(z, z).flatten() for z in Z]))[-1])
    assume(sigma > 1e-6)
    found = landscape(Z, y, W, sigma)
    assert found.loss <= found.bound * (1 + 1e-9)
    assert found.holds
    certified = landscape(Z, y, W, smallest_singular_value(Z).lower)
    assert certified.holds
    assert certified.bound >= found.bound * (1 - 1e-9)


@settings(deadline=None, max_examples=50)
@given(k=st.integers(2, 5), copies=st.integers(1, 5), seed=st.integers(0, 2**20))
def test_lemma_4_with_rows_repeated_up_to_sign(k, copies, seed):
    Z, y, W = draws(k, k, 2 * k + 2, seed, 1.0)
    sigma = smallest_singular_value(Z).lower
    assume(sigma > 1e-6)
    Z, y = torch.cat([Z, *[-Z[:1]] * copies]), torch.cat([y, *[y[:1]] * copies])
    assert landscape(Z, y, W, sigma).holds


def test_the_bound_is_tight_for_one_row_of_one_column():
    """With n = k = 1: M = δ z², σ = z², so that n k ‖M‖² / (4σ²) = δ²/4 = f."""
    Z, y, W = draws(1, 1, 4, 0, 1.0)
    found = landscape(Z, y, W, float(Z[0, 0] ** 2))
    assert found.bound == pytest.approx(found.loss, rel=1e-12)


def test_numbers_are_those_of_their_definitions():
    Z, y, W = draws(6, 3, 8, 1, 0.5)
    delta = quadratic_outputs(Z, W) - y
    found = landscape(Z, y, W, 0.25)
    assert found.loss == pytest.approx(float(loss_of(Z, y, W)), rel=1e-12)
    assert found.max_residual == pytest.approx(float(delta.abs().max()), rel=1e-12)
    assert found.curvature_norm == pytest.approx(float(torch.linalg.matrix_norm(curvature(Z, delta), 2)))
    assert found.lambda_min == -found.curvature_norm
    assert found.bound == pytest.approx(6 * 3 * found.curvature_norm**2 / (4 * 0.25**2), rel=1e-12)


def test_nothing_holds_without_a_positive_sigma():
    Z, y, W = draws(3, 2, 6, 0, 1.0)
    found = landscape(Z, y, W, 0.0)
    assert found.bound == float("inf")
    assert not found.holds


def test_the_norm_counts_negative_eigenvalues():
    assert spectral_norm(torch.diag(torch.tensor([1.0, -3.0], dtype=torch.float64))) == 3.0
    assert loss_bound(2, 3, 4.0, 2.0) == 6.0
