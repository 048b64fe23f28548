import pytest
import torch

from widenet.spectrum.gram import DenseGram
from widenet.spectrum.lanczos import galerkin, gauss_measure, lanczos, radau_measure, smallest_ritz_value
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


@pytest.mark.parametrize(("dtype", "smallest"), [(torch.float64, 1e-12), (torch.float32, 1e-8)])
def test_ritz_values_stay_within_the_spectrum_where_little_is_new(generator, dtype, smallest):
    """What rounding of products adds along the basis outweighs what is new.

    Without orthogonality T has eigenvalues far from those of the matrix, below 0 and above the largest.
    """
    matrix = decaying_matrix(300, generator=generator, smallest=smallest)
    V = torch.randn(300, 4, generator=generator, dtype=torch.float64)
    nodes = gauss_measure(lanczos(DenseGram(matrix.to(dtype)), V, num_steps=75)).nodes
    rounding = 10 * torch.finfo(dtype).eps * 300
    assert len(nodes) > 200
    assert nodes[0] >= -rounding
    assert nodes[-1] <= 300 + rounding


@pytest.mark.parametrize(("dtype", "eps"), [(torch.float64, 2e-15), (torch.float32, 1e-6)])
@pytest.mark.parametrize("num_columns", [4, 16, 32])
def test_a_block_wider_than_the_number_of_large_eigenvalues(generator, dtype, eps, num_columns):
    """Along the other directions a new block is all but rounding, which lies along the basis, too."""
    eigenvalues = torch.cat([torch.arange(5.0, 0, -1), 1e-9 * torch.rand(395)]).double()
    U = torch.linalg.qr(torch.randn(400, 400, generator=generator, dtype=torch.float64)).Q
    gram = DenseGram((U * eigenvalues @ U.T).to(dtype))
    V = torch.randn(400, num_columns, generator=generator, dtype=torch.float64)
    nodes = gauss_measure(lanczos(gram, V, num_steps=300 // num_columns)).nodes
    assert nodes[0] >= -5 * eps
    assert nodes[-1] == pytest.approx(5, abs=5 * eps)
    torch.testing.assert_close(nodes[-5:], eigenvalues[:5].flip(0), rtol=0, atol=5 * eps)
    assert (nodes[:-5].abs() <= 1e-9 + 5 * eps).all()  # no copies


def test_an_eigenvalue_lies_within_the_residual_of_the_smallest_ritz_value(matrix, generator):
    V = torch.randn(60, 4, generator=generator, dtype=torch.float64)
    eigenvalues = torch.linalg.eigvalsh(matrix)
    for num_steps in (2, 6, 10, 14):
        value, residual = smallest_ritz_value(lanczos(DenseGram(matrix), V, num_steps=num_steps))
        assert value >= eigenvalues[0] - 1e-10
        assert (eigenvalues - value).abs().min() <= residual + 1e-10
    assert residual < 1e-2


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_solutions_within_the_space(generator, dtype):
    """Of all vectors in the space, z minimises the energy of the error; its residual is what T says it is."""
    matrix = decaying_matrix(60, generator=generator, smallest=0.05)
    V = torch.randn(60, 2, generator=generator, dtype=torch.float64)
    krylov = lanczos(DenseGram(matrix.to(dtype)), V, num_steps=6, solve=True)
    power = torch.cat([torch.linalg.matrix_power(matrix, k) @ V for k in range(6)], dim=1)
    Q = torch.linalg.qr(power).Q
    expected = Q @ torch.linalg.solve(Q.T @ matrix @ Q, Q.T @ V)
    close = {"rtol": 1e-8, "atol": 1e-8} if dtype == torch.float64 else {"rtol": 1e-3, "atol": 1e-3}
    torch.testing.assert_close(krylov.solution, expected, **close)
    found = galerkin(krylov)
    torch.testing.assert_close(found.quadratic, (V * expected).sum(0), **close)
    torch.testing.assert_close(found.residual, (V - matrix @ expected).norm(dim=0), **close)
    assert lanczos(DenseGram(matrix), V, num_steps=6).solution is None


def test_a_space_that_rounding_made_indefinite_solves_nothing(generator):
    negative = decaying_matrix(30, generator=generator) - 0.5 * torch.eye(30, dtype=torch.float64)
    krylov = lanczos(DenseGram(negative), torch.ones(30, 1, dtype=torch.float64), num_steps=20, solve=True)
    assert krylov.solution is None
    assert galerkin(krylov) is None
    value, residual = smallest_ritz_value(krylov)
    assert (torch.linalg.eigvalsh(negative) - value).abs().min() <= residual + 1e-10


def test_a_basis_in_float32_solves_beyond_its_own_precision(generator):
    """Blocks far apart are orthogonal up to float32 only, which the largest eigenvalue makes large."""
    ones = torch.ones(300, 1, dtype=torch.float64) / 300**0.5
    matrix = decaying_matrix(300, generator=generator, smallest=0.3) + 1e5 * ones @ ones.T
    gram = RoundedGram(matrix.to(torch.float32))
    V = torch.randn(300, 4, generator=generator, dtype=torch.float64)
    krylov = lanczos(gram, V, num_steps=60, solve=True)
    left = (V - gram.matmul(krylov.solution)).norm(dim=0)
    assert (left <= 3 * galerkin(krylov).residual).all()


class RoundedGram(DenseGram):
    """Entries in float32, products in float64."""

    def matmul(self, V):
        return self.matrix.to(V.dtype) @ V
