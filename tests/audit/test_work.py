"""Kernel matrices of audits on rows that are made to break single precision, or double."""

from dataclasses import replace

import pytest
import torch

import widenet
from widenet.audit.findings import Estimate
from widenet.audit.generalise import loo_summary
from widenet.audit.work import Work
from widenet.base.progress import SILENT
from widenet.data import load
from widenet.data.duplicates import find_duplicates
from widenet.kernels.matrix import gram_matrix
from widenet.kernels.names import kernel_by_name
from widenet.runs.checkpoints import Checkpoints
from widenet.spectrum.gram import DenseGram, TiledGram
from widenet.testing import unit_rows

KERNEL = kernel_by_name("relu2-hidden")


def tiles(kernel, X, dtype):
    return TiledGram(kernel, X, keep_bytes=10**9, dtype=dtype)


def work_of(X, labels):
    dataset = load(X, labels, prepare="unit")
    points, generator = find_duplicates(dataset).points, torch.Generator().manual_seed(0)
    return Work(dataset, points, tiles, generator, SILENT, Checkpoints(None, lambda: None))


@pytest.mark.parametrize(
    ("num_points", "count", "dtype"),
    [(0, 1, torch.float32), (1, 15_000, torch.float64), (5, 3000, torch.float64), (3, 200, torch.float64)],
)
def test_bounds_hold_however_often_rows_repeat(num_points, count, dtype, generator):
    """Rows that repeat enlarge what rounding of their kernel values does."""
    centres = unit_rows(8, 50, generator=generator).repeat(75, 1)
    X = torch.nn.functional.normalize(centres + 0.1 * unit_rows(600, 50, generator=generator), dim=1)
    rows = torch.cat([torch.arange(600), torch.arange(num_points).repeat(count - 1)])
    flipped = torch.rand(len(rows), generator=generator) < 0.05
    work = work_of(X[rows], ((X[rows, 0] > 0) ^ flipped).long())
    problem = work.problem(KERNEL)
    assert problem.gram.dtype == dtype
    found = work.spectrum(problem)
    weights, targets = work.points.counts.sqrt(), problem.targets
    H = weights[:, None] * gram_matrix(KERNEL, work.dataset.X[work.points.first]) * weights
    exact = float((targets * torch.linalg.solve(H, targets)).sum())
    lower, upper = (
        float(end[: found.num_targets].sum()) for end in (found.inverse.lower, found.inverse.upper)
    )
    assert lower <= exact <= upper
    assert upper / lower - 1 < 2e-6


@pytest.mark.parametrize("num_rows", [300, 400])
def test_rows_so_nearly_opposite_that_their_matrix_is_singular(num_rows):
    """λ_min is proved to be positive, and smaller than the rounding of entries."""
    angles = torch.arange(num_rows, dtype=torch.float64) / num_rows * 6.2831853
    result = widenet.audit(torch.stack([angles.cos(), angles.sin()], 1), angles > 1, prepare="unit")
    assert 0 < result.spectrum.eigenvalue_min_certified < 1e-8
    assert result.loo.method is Estimate.CLOSED_FORM
    assert result.chosen.loo.misclassified < 0.05


def test_an_error_that_is_not_known_is_not_told(generator):
    """Opposite rows, more than columns, make the matrix singular, and random signs miss some then."""
    half = unit_rows(150, 5, generator=generator)
    work = work_of(torch.cat([half, -half]), torch.arange(300) % 2)
    problem = work.problem(KERNEL)
    found = work.interpolate(KERNEL, problem, work.spectrum(problem))
    assert loo_summary(work.dataset, work.points, found.loo).method is Estimate.TOO_ROUGH
    whole = replace(work, make_gram=lambda kernel, X, dtype: DenseGram(gram_matrix(kernel, X)))
    problem = whole.problem(KERNEL)
    found = whole.interpolate(KERNEL, problem, whole.spectrum(problem))
    assert loo_summary(work.dataset, work.points, found.loo).method is Estimate.CLOSED_FORM


@pytest.mark.parametrize("degree", [2, 30])
def test_single_precision_is_measured_by_the_size_of_kernel_values(degree, generator):
    """100 ε √n times it: eigenvalues of some 10⁻³ suffice for entries of size 1, but not of size 2³⁰."""
    kernel = kernel_by_name(f"polynomial:degree={degree},offset=1")
    X = unit_rows(300, 100, generator=generator)
    entry = float(kernel.diag(X[:1]))
    work = work_of(X, torch.arange(300) % 2)
    for floor, dtype in ((1e-3 * entry, torch.float32), (1e-4 * entry, torch.float64)):
        assert work._gram_above(kernel, floor).dtype == dtype


@pytest.mark.parametrize(("spread", "dtype"), [(1.0, torch.float32), (0.1, torch.float64)])
def test_rows_that_are_all_close_stay_in_double_precision(spread, dtype, generator):
    """In float32, kernels would compute nearly every pair again."""
    X = 1 + spread * torch.randn(300, 100, generator=generator, dtype=torch.float64)
    work = work_of(X, torch.arange(300) % 2)
    problem = work.problem(KERNEL)
    assert problem.gram.dtype == torch.float32
    assert problem.gram.X.dtype == dtype
    assert problem.close_pair is not None
