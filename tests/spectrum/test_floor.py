import math

import pytest
import torch
from mpmath import mp

from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.spectrum import floor as floors
from widenet.spectrum.floor import cholesky_floor, close_pair, eigenvalue_floor, neighbour_counts, num_closer
from widenet.testing import unit_rows


@pytest.mark.parametrize(
    "name", ["relu2-hidden", "relu3-all", "erf2-all", "gaussian", "laplacian", "resnet3-all"]
)
@pytest.mark.parametrize("d", [3, 30])
def test_floor_is_below_the_smallest_eigenvalue(name, d, generator):
    kernel, X = kernel_by_name(name), unit_rows(150, d, generator=generator)
    smallest = float(torch.linalg.eigvalsh(gram_matrix(kernel, X))[0])
    assert 0 <= eigenvalue_floor(kernel, X, tile=64) <= smallest


def test_floor_is_not_far_below_on_spread_out_rows(generator):
    kernel, X = kernel_by_name("relu2-hidden"), unit_rows(300, 30, generator=generator)
    smallest = float(torch.linalg.eigvalsh(gram_matrix(kernel, X))[0])
    assert eigenvalue_floor(kernel, X) > 0.2 * smallest


def test_parallel_rows_have_no_floor(generator):
    X = unit_rows(20, 5, generator=generator)
    assert eigenvalue_floor(kernel_by_name("relu2-hidden"), torch.cat([X, X[:1]])) == 0.0


def test_a_polynomial_of_low_degree_has_no_floor(generator):
    assert eigenvalue_floor(kernel_by_name("polynomial"), unit_rows(40, 2, generator=generator)) == 0.0


def test_cholesky_floor_certifies_where_rows_are_nearly_parallel(generator):
    kernel, X = kernel_by_name("relu2-hidden"), unit_rows(60, 5, generator=generator)
    close = X[:1] + 1e-5 * unit_rows(1, 5, generator=generator)
    H = gram_matrix(kernel, torch.cat([X, close / close.norm()]))
    smallest = float(torch.linalg.eigvalsh(H)[0])
    assert 0 < cholesky_floor(H, len(H)) <= smallest


def test_a_singular_matrix_has_no_floor(generator):
    V = torch.randn(30, 10, generator=generator, dtype=torch.float64)
    assert cholesky_floor(V @ V.T, 30) == 0.0


def test_no_row_is_counted_farther_away_than_it_is():
    """Rows whose cosines lie on the edges of the bins, and a little to either side of them."""
    edges = 1 - 2.0 ** (-torch.arange(1, 159, dtype=torch.float64) / floors.BINS_PER_OCTAVE)
    for off in (-1e-8, 0.0, 1e-8):
        cosines = (edges + off).clamp(0, 1)
        X = torch.stack([cosines, (1 - cosines.square()).sqrt()], dim=1)
        X = torch.cat([torch.tensor([[1.0, 0.0]], dtype=torch.float64), X, -X])
        seen = floors.neighbour_counts(X, tile=50)[0]
        reached = torch.cat([edges, torch.ones(2, dtype=torch.float64)])
        for k in range(len(seen)):
            beyond = int(((X[1:] @ X[0]).abs() > reached[k]).sum())
            assert beyond <= int(seen[k + 1 :].sum())
        assert int(seen.sum()) == len(X) - 1


def test_norms_that_rounding_left_do_not_matter(generator):
    X = unit_rows(100, 10, generator=generator)
    scaled = X * (1 + 1e-6 * torch.rand(100, 1, generator=generator, dtype=torch.float64))
    kernel = kernel_by_name("relu2-hidden")
    assert eigenvalue_floor(kernel, scaled) == pytest.approx(eigenvalue_floor(kernel, X), rel=1e-4)


def test_values_of_h_infinity_are_as_accurate_as_the_floor_takes_them_to_be():
    """At all cosines that the floor asks for, for the shortest and the longest reach."""
    edges = 1 - 2.0 ** (-torch.arange(1, 161, dtype=torch.float64) / floors.BINS_PER_OCTAVE)
    with mp.workdps(40):
        for reach in (floors.REACHES[0], floors.REACHES[-1]):
            scale = math.exp(-1 / reach)
            for j in range(0, floors.ORDER + 1, 3):
                found = floors.at_cosines(kernel_by_name("relu2-hidden"), scale**j * edges)
                for edge, value in zip(edges.tolist(), found.tolist(), strict=True):
                    t = mp.mpf(scale) ** j * mp.mpf(edge)
                    exact = t * (mp.pi - mp.acos(t)) / (2 * mp.pi)
                    allowed = floors.KERNEL_ROUNDING / 2 * (1 + 1 / mp.sqrt(1 - t**2))
                    assert abs(value - exact) <= allowed / 2


def test_an_error_of_the_matrix_lowers_the_cholesky_floor(generator):
    """[[1, c], [c, 1]] may be off by 0.01 in each entry, which takes 0.02 from λ_min = 1 − c."""
    matrix = torch.tensor([[1.0, 0.95], [0.95, 1.0]], dtype=torch.float64)
    assert 0 < cholesky_floor(matrix, 2, error=0.02) <= 0.03
    assert cholesky_floor(matrix, 2, error=0.06) == 0.0


def test_cholesky_floor_is_below_the_exact_eigenvalue():
    """Integer matrices whose λ_min is 10⁻³ to 10⁻¹⁰ of their diagonal, in 40 digits."""
    for size in (10, 1000, 100_000):
        B = torch.randint(-size, size + 1, (12, 12), generator=torch.Generator().manual_seed(size))
        matrix = (B @ B.T + torch.eye(12, dtype=torch.int64)).to(torch.float64)
        with mp.workdps(40):
            smallest = min(mp.eigsy(mp.matrix(matrix.tolist()), eigvals_only=True))
            assert 0 <= cholesky_floor(matrix, 12) <= smallest


@pytest.mark.parametrize("name", ["relu2-hidden", "relu3-all", "gaussian", "erf2-all"])
def test_a_close_pair_is_the_closest_also_beside_opposite_rows(name, generator):
    X = unit_rows(80, 6, generator=generator)
    X[33] = X[12] + 0.01 * unit_rows(1, 6, generator=generator)[0]
    X[70:75] = -X[20:25] + 0.001 * unit_rows(5, 6, generator=generator)
    X = X / X.norm(dim=1, keepdim=True)
    lengths = 0.1 + 10 * torch.rand(80, 1, generator=generator, dtype=torch.float64)
    pair = close_pair(lengths * X, neighbour_counts(lengths * X, tile=32))
    assert pair.shape == (80, 1)
    assert pair.nonzero()[:, 0].tolist() == [12, 33]
    assert float(pair.sum()) == 0
    H = gram_matrix(kernel_by_name(name), X)
    along = float(pair.T @ H @ pair) / 2
    assert along < torch.linalg.eigvalsh(H).quantile(0.1)


def test_close_pairs_are_counted(generator):
    X = unit_rows(60, 4, generator=generator)
    cosines = (X @ X.T).abs().fill_diagonal_(0)
    counts = neighbour_counts(X)
    for cosine in (0.5, 0.9, 0.98):
        assert (
            int((cosines > cosine).sum())
            <= num_closer(counts, cosine)
            <= int((cosines > cosine - 0.05).sum())
        )


def test_one_row_is_a_pair_alone():
    X = torch.ones(1, 2, dtype=torch.float64)
    assert close_pair(X, neighbour_counts(X)).tolist() == [[1.0]]  # what else is there to begin at
