import math
from dataclasses import replace

import pytest
import torch

from widenet.audit.problem import ExactGram, KernelProblem, weighted_gram
from widenet.audit.spectral import _pair, _shuffled_complexity, label_spectrum, spectrum_summary
from widenet.data.points import every_row, points_of
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.spectrum.floor import close_pair, eigenvalue_floor, neighbour_counts
from widenet.spectrum.gram import DenseGram
from widenet.testing import unit_rows

KERNEL = kernel_by_name("relu2-hidden")
NUM = 1500


def clusters(generator):
    """Rows in thirty heaps, so that many eigenvalues lie near the smallest."""
    centres = unit_rows(30, 10, generator=generator).repeat_interleave(NUM // 30, 0)
    X = centres + 0.1 * unit_rows(NUM, 10, generator=generator)
    return X / X.norm(dim=1, keepdim=True)


def problem_of(X, place):
    """A problem whose matrix counts as not held, with rows at these places."""
    points, H = points_of(place), DenseGram(gram_matrix(KERNEL, X))
    Y = X[place][:, :2].sign()
    gram, exact = weighted_gram(H, points), ExactGram(H, 1e-13, is_proof=False)
    pair = close_pair(X, neighbour_counts(X))
    return KernelProblem(gram, points, Y, eigenvalue_floor(KERNEL, X), exact, pair)


def test_a_close_pair_leads_to_the_smallest_eigenvalue(generator):
    X = clusters(generator)
    problem = problem_of(X, torch.arange(NUM))
    smallest = float(torch.linalg.eigvalsh(gram_matrix(KERNEL, X))[0])
    with_pair, without = (
        label_spectrum(each, generator=torch.Generator().manual_seed(0))
        for each in (problem, replace(problem, close_pair=None))
    )
    assert with_pair.krylov.num_steps == without.krylov.num_steps
    assert spectrum_summary(without).eigenvalue_min == pytest.approx(smallest, rel=0.03)
    assert spectrum_summary(with_pair).eigenvalue_min == pytest.approx(smallest, rel=0.0005)


def test_a_pair_whose_rows_repeat_is_the_difference_of_their_points(generator):
    X = clusters(generator)
    one = close_pair(X, neighbour_counts(X)).argmax()  # the other is not repeated
    problem = problem_of(X, torch.cat([torch.arange(NUM), one.repeat(20)]))
    pair, difference = _pair(problem), problem.close_pair
    assert float(pair.norm()) == pytest.approx(math.sqrt(NUM))
    energy = float(difference.T @ gram_matrix(KERNEL, X) @ difference) / (1 + 1 / 21)
    assert float(pair.T @ problem.gram.matmul(pair)) / NUM == pytest.approx(energy)


def test_a_run_that_rounding_spoilt_bounds_nothing(generator):
    """T is not positive definite although the matrix is."""
    X = unit_rows(300, 8, generator=generator)
    problem = problem_of(X, torch.arange(300))
    off = DenseGram(problem.gram.held() - 0.1 * torch.eye(300, dtype=torch.float64))
    found = label_spectrum(replace(problem, gram=off), generator=generator)
    assert problem.floor > 0
    assert found.solved is None
    assert found.inverse.upper is None
    assert not found.inverse.lower.any()


@pytest.mark.parametrize("size", [1e-6, 1e-10, 1e-14, 1e-30])
def test_bounds_hold_of_a_target_far_smaller_than_another(generator, size):
    eigenvalues = torch.linspace(1, 10, 200, dtype=torch.float64)
    Y = torch.randn(200, 2, generator=generator, dtype=torch.float64) * torch.tensor([1, size])
    problem = KernelProblem(DenseGram(torch.diag(eigenvalues)), every_row(200), Y, floor=0.9)
    found = label_spectrum(problem, generator=generator).inverse
    exact = (Y.square() / eigenvalues[:, None]).sum(0)
    assert (found.lower[:2] <= exact).all()
    assert (exact <= found.upper[:2]).all()
    assert (found.upper[:2] / found.lower[:2] - 1 < 2e-6).all()


def test_targets_of_zeros_have_no_complexity(generator):
    problem = problem_of(unit_rows(100, 8, generator=generator), torch.arange(100))
    problem = replace(problem, Y=torch.zeros_like(problem.Y))
    spectrum = label_spectrum(problem, generator=generator)
    assert _shuffled_complexity(spectrum.inverse, spectrum, 100) == (0.0, 0.0)


def test_a_close_pair_is_no_probe(generator):
    X = clusters(generator)
    problem = problem_of(X, torch.arange(NUM))
    found = label_spectrum(problem, generator=generator)
    inverse = gram_matrix(KERNEL, X).inverse()
    assert found.inverse.lower.shape == (found.num_targets + 1 + found.solved.probes.shape[1],)
    expected = (problem.targets * (inverse @ problem.targets)).sum(0)
    torch.testing.assert_close(found.inverse.lower[:2], expected, rtol=2e-6, atol=0)
    # Shuffled labels are the probes' mean, of which the pair, along small eigenvalues, would be most.
    total = float(inverse.trace()) - float(inverse.sum()) / NUM
    shuffled = found.shuffled(found.inverse.lower).mean()
    assert float(shuffled) == pytest.approx(
        found.mean * float(inverse.sum()) + found.variance * total, rel=0.1
    )
