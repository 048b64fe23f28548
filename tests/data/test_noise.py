import math

import pytest
import torch
from hypothesis import given, strategies as st

from widenet.base.errors import InputError
from widenet.data import Dataset, flip_labels, load, redraw_labels, subset, with_labels
from widenet.data.noise import flip_by_inputs, flip_one_way


@pytest.fixture(scope="module")
def digits() -> Dataset:
    return load("digits")


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@given(st.integers(1, 60), st.integers(2, 10), st.floats(0, 1), st.integers(0, 5))
def test_flips_are_exactly_as_many_and_always_another_class(n, num_classes, rate, seed):
    labels = torch.randint(num_classes, (n,), generator=generator(seed))
    noisy, flipped = flip_labels(labels, rate, num_classes, generator=generator(seed))
    assert int(flipped.sum()) == round(rate * n)
    assert torch.equal(noisy != labels, flipped)
    assert 0 <= int(noisy.min()) <= int(noisy.max()) < num_classes


def test_flips_are_uniform_over_the_other_classes():
    labels = torch.zeros(30_000, dtype=torch.int64)
    noisy, _ = flip_labels(labels, 1.0, 4, generator=generator())
    counts = torch.bincount(noisy, minlength=4)
    assert counts[0] == 0
    assert (counts[1:] - 10_000).abs().max() < 5 * (30_000 * 2 / 9) ** 0.5


def test_redrawn_labels_are_uniform_over_all_classes():
    labels = torch.zeros(40_000, dtype=torch.int64)
    noisy, redrawn = redraw_labels(labels, 0.75, 3, generator=generator())
    assert int(redrawn.sum()) == 30_000
    assert (noisy[~redrawn] == 0).all()
    counts = torch.bincount(noisy[redrawn], minlength=3)
    assert (counts - 10_000).abs().max() < 5 * (30_000 * 2 / 9) ** 0.5


def test_rows_to_change_are_uniform():
    """Each row is chosen in about the given share of draws."""
    labels = torch.zeros(10, dtype=torch.int64)
    stream = generator()
    share = sum(flip_labels(labels, 0.3, 2, generator=stream)[1].double() for _ in range(2000)) / 2000
    assert (share - 0.3).abs().max() < 5 * (0.21 / 2000) ** 0.5


@given(st.integers(2, 60), st.integers(2, 10), st.floats(0, 1), st.integers(0, 5))
def test_one_way_flips_lead_from_one_class_to_one_other(n, num_classes, rate, seed):
    labels = torch.randint(num_classes, (n,), generator=generator(seed))
    noisy, flipped = flip_one_way(labels, rate, num_classes, generator=generator(seed))
    assert torch.equal(noisy != labels, flipped)
    assert int(flipped.sum()) <= round(rate * n)
    if flipped.any():
        (source,), (_,) = labels[flipped].unique().tolist(), noisy[flipped].unique().tolist()
        size = int((labels == source).sum())
        assert int(flipped.sum()) == min(round(rate * n), int(0.4 * size))


def test_one_way_flips_take_every_ordered_pair_of_classes():
    labels = torch.arange(30) % 3
    stream = generator()
    pairs = set()
    for _ in range(100):
        noisy, flipped = flip_one_way(labels, 0.1, 3, generator=stream)
        pairs.add((int(labels[flipped][0]), int(noisy[flipped][0])))
    assert pairs == {(a, b) for a in range(3) for b in range(3) if a != b}


@given(st.integers(2, 60), st.integers(2, 10), st.floats(0, 1), st.integers(0, 5))
def test_flips_by_inputs_are_exactly_as_many(n, num_classes, rate, seed):
    labels = torch.randint(num_classes, (n,), generator=generator(seed))
    X = torch.randn(n, 3, generator=generator(seed), dtype=torch.float64)
    noisy, flipped = flip_by_inputs(labels, X, rate, num_classes, generator=generator(seed))
    assert int(flipped.sum()) == round(rate * n)
    assert torch.equal(noisy != labels, flipped)
    assert 0 <= int(noisy.min()) <= int(noisy.max()) < num_classes


def test_flips_by_inputs_follow_the_chance_along_the_direction():
    """In one dimension the direction is the axis, so the rate at each place is known but for its sign."""
    n, rate = 100_000, 0.1
    z = torch.randn(n, 1, generator=generator(), dtype=torch.float64)
    _, flipped = flip_by_inputs(torch.zeros(n, dtype=torch.int64), 5 + 3 * z, rate, 2, generator=generator(1))
    sign = 1 if z[flipped].mean() > 0 else -1
    for middle in (-1.5, 0.0, 1.5):
        near = (sign * z[:, 0] - middle).abs() < 0.1
        expected = 2 * rate / (1 + math.exp(-2 * middle))
        # Drawing without replacement flattens the weights by about the rate.
        assert float(flipped[near].double().mean()) == pytest.approx(expected, rel=0.12, abs=0.003)


def test_same_generator_same_noise():
    labels = torch.arange(50) % 5
    assert torch.equal(*(flip_labels(labels, 0.4, 5, generator=generator(3))[0] for _ in range(2)))


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_impossible_shares_are_refused(rate):
    with pytest.raises(InputError, match="from 0 to 1"):
        flip_labels(torch.zeros(4, dtype=torch.int64), rate, 2, generator=generator())


def test_with_labels_rebuilds_every_form(digits):
    noisy, flipped = flip_labels(digits.labels, 0.1, 10, generator=generator())
    data = with_labels(digits, noisy)
    assert torch.equal(data.labels, noisy)
    assert torch.equal(data.Y.argmax(1), noisy)
    assert (data.Y.sum(1) == 1).all()
    assert [int(word) for word in data.given] == noisy.tolist()
    assert torch.equal(digits.labels[~flipped], data.labels[~flipped])
    assert data.X is digits.X


def test_subset_keeps_rows_and_classes(digits):
    indices = torch.tensor([10, 3, 1796])
    part = subset(digits, indices)
    assert part.rows.tolist() == [11, 4, 1797]
    assert part.given == tuple(digits.given[i] for i in (10, 3, 1796))
    assert torch.equal(part.images, digits.images[indices])
    assert torch.equal(part.Y, digits.Y[indices])
    assert (part.n, part.classes) == (3, digits.classes)


def test_regression_has_no_labels_to_replace(tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text("a,y\n" + "".join(f"{i},{i * 1.5}\n" for i in range(30)))
    data = load(str(path))
    with pytest.raises(InputError, match="no labels"):
        with_labels(data, torch.zeros(30, dtype=torch.int64))
    assert subset(data, torch.tensor([2])).given == ("3.0",)
