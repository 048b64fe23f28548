import pytest
import torch
from hypothesis import given, strategies as st

from widenet.base.errors import InputError
from widenet.data import Dataset, flip_labels, load, redraw_labels, subset, with_labels


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
