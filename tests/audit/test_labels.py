import numpy as np
import pytest
import torch

from widenet.audit.labels import suggested_words
from widenet.data import load, subset


@pytest.fixture
def read(tmp_path):
    """A table with some targets, as they are written."""

    def reader(*targets):
        path = tmp_path / "table.csv"
        path.write_text("x,y\n" + "".join(f"{k % 7},{word}\n" for k, word in enumerate(targets)))
        return load(str(path))

    return reader


def test_classes_are_suggested_as_the_user_writes_them(read):
    data = read("6.0", "7.0", "6.0", "7.0", "6", "07")
    assert data.classes == ("6", "7")
    assert suggested_words(data, data.labels) == list(data.given)
    assert suggested_words(data, 1 - data.labels) == ["7.0", "6.0", "7.0", "6.0", "7.0", "6.0"]


def test_words_differ_exactly_where_classes_do(read):
    data = read(*(["1", "1.0", "2", "2.0", "+3", "3"] * 4))
    suggested = torch.from_numpy(np.random.default_rng(0).integers(0, 3, data.n))
    words = zip(suggested_words(data, suggested), data.given, strict=True)
    assert [word != given for word, given in words] == (suggested != data.labels).tolist()


def test_a_class_that_no_row_has_goes_by_its_name(read):
    data = subset(read("6.0", "7.0", "6.0", "7.0"), torch.tensor([0, 2]))
    assert suggested_words(data, torch.tensor([1, 0])) == ["7", "6.0"]


def test_numbers_that_print_the_same_are_the_same(read):
    data = read("6.0", "0.50", "31770.26", "1e3", "2.123456789")
    assert suggested_words(data, data.Y + 1e-12) == list(data.given)
    assert suggested_words(data, data.Y.flip(0)) == ["2.12346", "1000", "31770.26", "0.5", "6"]
