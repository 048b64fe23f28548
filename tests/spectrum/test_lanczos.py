import pytest
import torch

from widenet.spectrum.gram import DenseGram
from widenet.spectrum.lanczos import gauss_measure, lanczos, radau_measure, smallest_ritz_value
from widenet.testing import decaying_matrix


@pytest.fixture
def matrix(generator):
    return decaying_matrix(60, generator=generator)


@pytest.mark.parametrize("num_columns", [1, 3])
def test_tridiagonal_is_the_projection_of_the_matrix(matrix, generator, num_columns):
    V = torch.randn(60, num_columns, generator=generator, dtype=torch.float64)
    krylov = lanczos(DenseGram(matrix), V, num_steps=5)
    power = torch.cat([torch.linalg.matrix_power(matrix, k) @ V for k in range(5)], dim=1)
    Q = torch.linalg.qr(power).Q
    expected = torch.linalg.eigvalsh(Q.T @ matrix @ Q)
    torch.testing.assert_close(torch.linalg.eigvalsh(krylov.tridiagonal()), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("rule", ["gauss", "radau"])
def test_quadrature_is_exact_for_low_degrees(matrix, generator, rule):
    V = torch.randn(60, 2, generator=generator, dtype=torch.float64)
    krylov = lanczos(DenseGram(matrix), V, num_steps=4)
    measure = gauss_measure(krylov) if rule == "gauss" else radau_measure(krylov, 1e-4)
    for degree in range(8 if rule == "gauss" else 9):
        exact = (V * (torch.linalg.matrix_power(matrix, degree) @ V)).sum(0)
        torch.testing.assert_close(measure.integrate(lambda x, k=degree: x**k), exact, rtol=1e-9, atol=0)


def test_radau_has_the_prescribed_node(matrix, generator):
    V = torch.randn(60, 3, generator=generator, dtype=torch.float64)
    nodes = radau_measure(lanczos(DenseGram(matrix), V, num_steps=4), 5e-4).nodes
    torch.testing.assert_close(nodes[:3], torch.full((3,), 5e-4, dtype=torch.float64), rtol=1e-6, atol=0)


def test_dependent_columns_and_an_exhausted_space(generator):
    """One-hot columns sum to the column of ones, and three eigenvalues need three steps."""
    H = torch.diag(torch.tensor([1.0, 2, 3, 1, 2, 3], dtype=torch.float64))
    one_hot = torch.eye(3, dtype=torch.float64).repeat(2, 1)
    V = torch.cat([one_hot, torch.ones(6, 1, dtype=torch.float64)], dim=1)
    krylov = lanczos(DenseGram(H), V, num_steps=10)
    assert krylov.exhausted
    exact = (V * (torch.linalg.inv(H) @ V)).sum(0)
    torch.testing.assert_close(gauss_measure(krylov).integrate(torch.reciprocal), exact)


def test_weights_sum_to_the_squared_norm_although_orthogonality_is_hard(generator):
    matrix = decaying_matrix(200, generator=generator, smallest=1e-9)
    v = torch.randn(200, 1, generator=generator, dtype=torch.float64)
    measure = gauss_measure(lanczos(DenseGram(matrix), v, num_steps=120))
    torch.testing.assert_close(measure.weights.sum(0), v.square().sum(0))
    assert measure.nodes.unique().numel() == measure.nodes.numel()
    copies = (measure.nodes[1:] - measure.nodes[:-1]) < 1e-10 * measure.nodes[1:]
    assert not copies[-50:].any()  # lost orthogonality shows as copies of the largest Ritz values


def test_an_eigenvalue_lies_within_the_residual_of_the_smallest_ritz_value(matrix, generator):
    V = torch.randn(60, 4, generator=generator, dtype=torch.float64)
    eigenvalues = torch.linalg.eigvalsh(matrix)
    for num_steps in (2, 6, 10, 14):
        value, residual = smallest_ritz_value(lanczos(DenseGram(matrix), V, num_steps=num_steps))
        assert value >= eigenvalues[0] - 1e-10
        assert (eigenvalues - value).abs().min() <= residual + 1e-10
    assert residual < 1e-2
