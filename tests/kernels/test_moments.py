"""Tiles of rows: general norms, close pairs, zero rows, both dtypes."""

import mpmath
import pytest
import torch
from torch import Tensor

from widenet.kernels.names import kernel_by_name

DTYPES = [torch.float32, torch.float64]


def exact_relu3_all(x: Tensor, z: Tensor) -> float:
    """The NTK of three ReLU layers from the rows themselves, to 60 digits."""
    with mpmath.workdps(60):
        u, v = mpmath.matrix(x.tolist()), mpmath.matrix(z.tolist())
        product, scale = (u.T * v)[0], mpmath.norm(u) * mpmath.norm(v)
        ntk, cosine = mpmath.mpf(product), min(product / scale, mpmath.mpf(1))
        for gain in (2, 1):
            angle = mpmath.acos(cosine)
            supplement = mpmath.pi - angle
            cosine = (mpmath.sin(angle) + supplement * mpmath.cos(angle)) / mpmath.pi
            ntk = gain * (ntk * supplement / (2 * mpmath.pi) + scale * cosine / 2)
        return float(ntk)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("distance", [0.0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3, 1e-2, 0.1, 0.3])
@pytest.mark.parametrize("norm", [1.0, 7.3])
def test_close_rows_are_as_accurate_as_others(
    dtype: torch.dtype, distance: float, norm: float, generator: torch.Generator
) -> None:
    x, direction = torch.randn(2, 50, dtype=torch.float64, generator=generator)
    z = x / x.norm() + distance * direction / direction.norm()
    rows = torch.stack([x / x.norm(), z / z.norm()]).mul(norm).to(dtype)
    value = kernel_by_name("relu3-all").tile(rows[:1], rows[1:])
    exact = exact_relu3_all(*rows)
    # ε^⅞ where the angle still comes from the cosine; 1.5 is k(x, x) of a unit row.
    assert float(value) == pytest.approx(exact, rel=3 * torch.finfo(dtype).eps ** 0.875)


@pytest.mark.parametrize(
    "name", ["relu2-hidden", "relu4-all", "erf3-all", "resnet3-all", "laplacian", "arcsin"]
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_duplicates_have_the_value_of_the_diagonal(
    name: str, dtype: torch.dtype, generator: torch.Generator
) -> None:
    rows = torch.randn(40, 30, dtype=dtype, generator=generator)
    rows /= rows.norm(dim=1, keepdim=True)
    kernel = kernel_by_name(name)
    assert torch.equal(kernel.tile(rows, rows.clone()).diagonal(), kernel.diag(rows))
    assert torch.equal(kernel.tile(rows, rows).diagonal(), kernel.diag(rows))


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_of_any_norm_scale_the_relu_kernel(dtype: torch.dtype, generator: torch.Generator) -> None:
    rows = torch.randn(30, 10, dtype=torch.float64, generator=generator)
    norms = rows.norm(dim=1)
    kernel = kernel_by_name("relu3-all")
    unit = (rows / norms[:, None]).to(torch.float64)
    expected = kernel.tile(unit, unit.flip(0)) * norms[:, None] * norms.flip(0)
    values = kernel.tile(rows.to(dtype), rows.flip(0).to(dtype))
    torch.testing.assert_close(values.double(), expected, rtol=30 * torch.finfo(dtype).eps, atol=1e-6)


@pytest.mark.parametrize(
    "name", ["relu2-all", "relu3-hidden", "erf2-all", "resnet3-all", "arcsin", "gaussian"]
)
def test_a_zero_row_gives_no_nan(name: str) -> None:
    rows = torch.tensor([[0.0, 0.0], [0.6, 0.8], [2.0, -1.0]], dtype=torch.float64)
    kernel = kernel_by_name(name)
    assert kernel.tile(rows, rows.clone()).isfinite().all()
    assert kernel.diag(rows).isfinite().all()


def test_opposite_rows_give_no_nan_and_no_negative_conjugate_kernel() -> None:
    rows = torch.nn.functional.normalize(torch.ones(1, 30))
    values = kernel_by_name("relu2-last").tile(rows, -rows)
    assert 0 <= float(values) < 1e-6


def test_strips_do_not_change_values(monkeypatch: pytest.MonkeyPatch, generator: torch.Generator) -> None:
    rows = torch.randn(60, 8, dtype=torch.float64, generator=generator)
    kernel = kernel_by_name("resnet3-all")
    whole = kernel.tile(rows, rows[:50])
    monkeypatch.setattr("widenet.kernels.moments.STRIP_ELEMENTS", 128)
    torch.testing.assert_close(kernel.tile(rows, rows[:50]), whole, rtol=1e-14, atol=0)


def test_float32_agrees_with_float64(generator: torch.Generator) -> None:
    rows = torch.nn.functional.normalize(torch.randn(200, 60, generator=generator))
    kernel = kernel_by_name("relu3-all")
    difference = (kernel.tile(rows, rows).double() - kernel.tile(rows.double(), rows.double())).abs().max()
    assert float(difference) < 1e-6


@pytest.mark.parametrize("name", ["relu2-all", "erf2-all", "recursive", "laplacian"])
def test_tiles_without_rows_or_columns(name: str) -> None:
    kernel, rows, none = kernel_by_name(name), torch.eye(3), torch.empty(0, 3)
    assert kernel.tile(rows, none).shape == (3, 0)
    assert kernel.tile(none, rows).shape == (0, 3)
    assert kernel.diag(none).shape == (0,)
