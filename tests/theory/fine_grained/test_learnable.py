import math

import pytest
import torch
from mpmath import mp

from widenet.base.errors import InputError
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.testing import unit_rows
from widenet.theory.fine_grained.learnable import (
    corollary_6_2,
    example_6_1,
    example_6_2,
    example_6_3,
    example_6_4,
    theorem_6_1,
)


@pytest.fixture(name="X")
def inputs(generator) -> torch.Tensor:
    return unit_rows(60, 6, generator=generator)


@pytest.fixture
def norm_of(X):
    """√(yᵀH∞⁻¹y) of labels on the rows."""
    factor = torch.linalg.cholesky(gram_matrix(kernel_by_name("relu2-hidden"), X))
    return lambda y: float(torch.linalg.solve_triangular(factor, y[:, None], upper=False).norm())


@pytest.mark.parametrize("p", [1, 2, 4, 6])
def test_bound_holds_on_100_draws(X, norm_of, generator, p):
    shares = []
    for _ in range(100):
        beta = 3 * torch.randn(6, generator=generator, dtype=torch.float64)
        alpha = float(torch.randn((), generator=generator))
        bound = theorem_6_1(p, alpha, float(beta.norm()))
        assert bound.applies
        norm = norm_of(alpha * (X @ beta) ** p)
        assert norm <= bound.terms["with the constant of the proof"] <= bound.value
        shares.append(norm / bound.value)
    assert max(shares) > 0.05  # it is no empty statement


def test_odd_powers_are_refused():
    bound = theorem_6_1(3, 1.0, 1.0)
    assert bound.applies is False
    assert "The power 3 is neither 1 nor even" in bound.why[0]
    assert corollary_6_2((2, 5), (1, 1), (1, 1)).applies is False


def test_sums_add_up(X, norm_of, generator):
    betas = torch.randn(3, 6, generator=generator, dtype=torch.float64)
    powers, alphas = (1, 2, 4), (0.5, -2.0, 1.5)
    y = sum(a * (X @ b) ** p for p, a, b in zip(powers, alphas, betas, strict=True))
    norms = betas.norm(dim=1).tolist()
    target = corollary_6_2(powers, alphas, norms, epsilon=0.2, delta=0.05, C=3.0)
    root = 3 * sum(p * abs(a) * b**p for p, a, b in zip(powers, alphas, norms, strict=True))
    assert norm_of(y) <= target.terms["√M_g"] == pytest.approx(root)
    assert target.value == pytest.approx(root**2)
    assert target.terms["samples"] == math.ceil(3.0 * (root**2 + math.log(20)) / 0.04)


def test_terms_must_be_complete():
    with pytest.raises(InputError, match="2 powers, 1 weights and 2 norms"):
        corollary_6_2((1, 2), (1.0,), (1.0, 1.0))


def test_linear_and_quadratic_functions(X, norm_of, generator):
    beta = torch.randn(6, generator=generator, dtype=torch.float64)
    A = torch.randn(6, 6, generator=generator, dtype=torch.float64)
    A = A + A.T
    assert norm_of(X @ beta) <= example_6_1(float(beta.norm())).terms["√M_g"]
    quadratic = example_6_2(torch.linalg.eigvalsh(A).tolist())
    assert norm_of(((X @ A) * X).sum(1)) <= quadratic.terms["√M_g"]
    assert quadratic.value == pytest.approx(36 * float(torch.linalg.matrix_norm(A, "nuc")) ** 2)


@pytest.mark.parametrize("b", [0.1, 1.0, 7.0])
def test_cosine_is_its_series(X, norm_of, generator, b):
    beta = torch.randn(6, generator=generator, dtype=torch.float64)
    beta *= b / beta.norm()
    series = 3 * mp.nsum(lambda j: 2 * j * mp.mpf(b) ** (2 * j) / mp.factorial(2 * j), [1, mp.inf])
    target = example_6_3(b)
    assert target.terms["√M_g"] == pytest.approx(float(series), rel=1e-12)
    assert norm_of(torch.cos(X @ beta) - 1) <= target.terms["√M_g"]


def test_cosine_of_a_long_vector_overflows_into_a_logarithm():
    target = example_6_3(1000.0)
    assert target.value == math.inf
    assert target.log10 == pytest.approx(2 * (math.log10(1500) + 1000 / math.log(10)))


@pytest.mark.parametrize("b", [0.2, 1.0])
def test_not_so_smooth_function_is_its_series(X, norm_of, generator, b):
    beta = torch.randn(6, generator=generator, dtype=torch.float64)
    beta *= b / beta.norm()
    series = mp.nsum(
        lambda j: 2 * j * mp.mpf(2) ** (1 - 2 * j) / (2 * j - 1) * mp.mpf(b) ** (2 * j), [1, mp.inf]
    )
    target = example_6_4(b)
    assert target.terms["√M_g"] == pytest.approx(3 * float(series), rel=1e-12)
    z = X @ beta
    assert norm_of(z * torch.arctan(z / 2)) <= target.terms["√M_g"]
    assert target.applies


def test_not_so_smooth_function_of_a_long_vector_is_outside():
    assert example_6_4(1.5).applies is False
    assert example_6_4(2.0).value == math.inf
