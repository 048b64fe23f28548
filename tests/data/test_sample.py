import numpy as np
import pytest
import torch

from widenet.data import load, with_labels
from widenet.data.sample import drawn_rows, some_rows

RNG = np.random.default_rng(0)
CLASSES = load(RNG.normal(size=(120, 3)), np.arange(120) % 3)
NUMBERS = load(RNG.normal(size=(60, 3)), RNG.normal(size=60))


def test_rows_are_drawn_with_a_note():
    drawn = some_rows(CLASSES, 30, seed=0)
    assert (drawn.n, drawn.drawn_from) == (30, 120)
    assert bool((torch.bincount(drawn.labels) >= 8).all())
    assert "30 of 120 rows" in drawn.provenance[-1]
    assert some_rows(NUMBERS, 40, seed=0).n == 40
    assert some_rows(NUMBERS, 60, seed=0) is NUMBERS
    assert NUMBERS.drawn_from is None


@pytest.mark.parametrize("num_rows", [3, 40, 117, 119])
def test_any_number_of_rows_can_be_drawn(num_rows):
    single = torch.where(CLASSES.labels == 2, 0, CLASSES.labels)
    single[7] = 2
    for labels in (CLASSES.labels, single):
        drawn = some_rows(with_labels(CLASSES, labels), num_rows, seed=0)
        counts, found = torch.bincount(labels), torch.bincount(drawn.labels, minlength=3)
        assert drawn.n == num_rows
        assert bool((found >= 1).all())
        assert bool(((found - counts * num_rows / 120).abs() <= 1.5).all())
        assert len(set(drawn.rows.tolist())) == num_rows


def test_rows_are_drawn_by_the_seed():
    first, again, other = (drawn_rows(CLASSES, 50, seed=seed).tolist() for seed in (0, 0, 1))
    assert first == again == sorted(first)
    assert first != other
