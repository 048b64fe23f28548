"""Data as the paper has them, and what is proven of H∞ on them."""

import numpy as np
import pytest
import torch
from mpmath import mp

from widenet.base.errors import InputError
from widenet.testing import exact_h_infinity, rows_that_nearly_meet, unit_rows
from widenet.theory.fine_grained.rows import (
    h_infinity,
    independent_samples,
    proves_floor,
    take_rows,
    unit_directions,
)


def exact_smallest(X: torch.Tensor) -> float:
    with mp.workdps(40):
        return float(min(mp.eigsy(exact_h_infinity(X), eigvals_only=True)))


def test_floors_are_proven_up_to_the_true_one_and_not_beyond(generator):
    X = unit_rows(12, 3, generator=generator)
    H, smallest = h_infinity(X), exact_smallest(X)
    assert proves_floor(X, H, smallest - 1e-11)
    assert not proves_floor(X, H, smallest)


def test_rows_that_nearly_meet_leave_less_room(generator):
    X = unit_directions(rows_that_nearly_meet(4, 3, 1e-2, generator=generator))
    H, smallest = h_infinity(X), exact_smallest(X)
    assert proves_floor(X, H, smallest - 1e-6)
    close = unit_directions(rows_that_nearly_meet(4, 3, 1e-9, generator=generator))
    assert not proves_floor(close, h_infinity(close), 1e-8)
    assert exact_smallest(close) < 1e-8


def test_opposite_rows_leave_a_proof(generator):
    rows = unit_rows(6, 4, generator=generator)
    X = torch.cat([rows, -rows[:2]])
    assert proves_floor(X, h_infinity(X), exact_smallest(X) - 1e-6)
    same = torch.cat([rows, rows[:1]])
    assert not proves_floor(same, h_infinity(same), 1e-12)


def test_rows_and_labels_are_the_datas(tmp_path, generator):
    X, y = np.random.default_rng(0).normal(size=(30, 4)), np.arange(30.0)
    path = tmp_path / "small.npz"
    np.savez(path, X=X, y=y)
    taken = take_rows(str(path), 10, 0, generator=generator)
    assert torch.allclose(taken.X.norm(dim=1), torch.ones(10, dtype=torch.float64))
    assert float(taken.y.abs().max()) <= 1
    parts = list(independent_samples(str(path), 7, 100, generator=generator))
    assert len(parts) == 4
    together = torch.cat(parts)
    assert len(together.unique(dim=0)) == len(together) == 28
    with pytest.raises(InputError, match="has 30 rows, fewer than n = 31"):
        take_rows(str(path), 31, 0, generator=generator)
    with pytest.raises(InputError, match="there is no column 1"):
        take_rows(str(path), 5, 1, generator=generator)


def test_concepts_are_drawn_anew(generator):
    parts = list(independent_samples("three-sines", 5, 3, generator=generator))
    assert len(parts) == 3
    assert len(torch.cat(parts).unique(dim=0)) == 15


def test_rows_of_zeros_have_no_direction():
    with pytest.raises(InputError, match="all zeros"):
        unit_directions(torch.zeros(2, 3, dtype=torch.float64))
