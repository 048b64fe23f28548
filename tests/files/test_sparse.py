"""Sparse rows as LIBSVM has them: excerpts of real files, and what is refused."""

import gzip

import numpy as np
import pytest

from widenet.base.errors import InputError
from widenet.data import load
from widenet.files import limits
from widenet.files.opening import check_file
from widenet.files.sparse import is_sparse

HEART = (  # of LIBSVM's heart_scale: indices from 1, some left out
    "+1 1:0.708333 2:1 3:1 4:-0.320755 5:-0.105023 6:-1 8:-0.419847 9:-1 12:-1 13:1 \n"
    "-1 1:0.583333 2:-1 3:0.333333 4:-0.603774 5:1 6:-1 7:1 8:0.358779 9:-1 10:-0.483871 13:1 \n"
    "+1 1:0.166667 2:1 3:-0.333333 4:-0.433962 5:-0.383562 6:-1 7:-1 8:0.0687023 9:-1 13:-1 \n"
) * 4
MUSHROOMS = "1 3:1 10:1 11:1\n0 3:1 9:1 19:1\n0 1:1 9:1 20:1\n1 3:1 10:1 19:1 # poisonous\n" * 5
RANKED = "2 qid:1 0:0.5 2:1e-3\n0 qid:1 1:0.25\n1 qid:2 0:0.125 1:2\n" * 5
FIELDS = "1 0:0:0.3651 2:1163:0.3651\n0 0:1:0.25 2:8672:0.5\n" * 5


def refusal(path, **options) -> str:
    with pytest.raises(InputError) as error:
        load(path, **options)
    return str(error.value)


@pytest.mark.parametrize("name", ["heart.txt", "heart.libsvm", "heart.svm", "heart.train", "heart.data"])
def test_sparse_rows_are_a_table(tmp_path, name):
    path = tmp_path / name
    path.write_text(HEART)
    check_file(str(path), None, (), (), ())
    data = load(path)
    assert (data.n, data.classes, data.target) == (12, ("-1", "1"), "label")
    assert data.cells is not None
    assert list(data.cells.columns) == ["label", *(f"feature {k}" for k in range(1, 14))]
    assert data.cells["feature 7"].tolist()[:3] == [0, 1, -1]
    assert data.cells["feature 4"].tolist()[:3] == [-0.320755, -0.603774, -0.433962]
    assert "a label and index:value as LIBSVM has them" in data.provenance[0]


def test_ones_alone_are_no_times_of_a_day(tmp_path):
    with gzip.open(tmp_path / "agaricus.txt.gz", "wt") as file:
        file.write(MUSHROOMS)
    data = load(tmp_path / "agaricus.txt.gz", target="label")
    assert data.classes == ("0", "1")
    assert data.columns.used == tuple(f"feature {k}" for k in (1, 3, 9, 10, 11, 19, 20))


def test_queries_are_left_out_and_indices_may_begin_at_0(tmp_path):
    (tmp_path / "rank.txt").write_text(RANKED)
    data = load(tmp_path / "rank.txt")
    assert (data.classes, data.columns.used) == (("0", "1", "2"), ("feature 0", "feature 1", "feature 2"))


def test_labels_may_be_numbers(tmp_path):
    rows = "".join(f"{0.37 * k} 1:{k} 2:{k * k % 7}\n" for k in range(1, 20))
    (tmp_path / "numbers.svm").write_text(rows)
    assert load(tmp_path / "numbers.svm").task == "regression"


def test_fields_are_refused_with_advice(tmp_path):
    (tmp_path / "ffm.txt").write_text(FIELDS)
    assert "leave the fields out and write index:value" in refusal(tmp_path / "ffm.txt")


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("1 3:1 2:5\n0 1:1 2:1\n", "in increasing order"),
        ("1,2 1:1 2:5\n0 1:1 2:1\n", "give one label for each row"),
        ("1 1:1 2:5\n0 1:1 99999999:1\n", "more than the 100,000 columns"),
        ("1 1:1 2:5\n0 1:1 99999999999999999999:1\n", "cannot be read so"),
        ("1 1:1 2:5\n" * 60 + "0 1:x\n", "cannot be read so"),
    ],
)
def test_damaged_rows_get_one_sentence(tmp_path, rows, told):
    (tmp_path / "some.txt").write_text(rows)
    message = refusal(tmp_path / "some.txt")
    assert told in message
    assert "\n" not in message


def test_zeros_are_filled_in_only_where_they_fit(tmp_path, monkeypatch):
    from widenet.base import memory

    rows = "".join(f"{k % 2} {k + 1}:1 {limits.MOST_COLUMNS - 2}:1\n" for k in range(400))
    (tmp_path / "wide.txt").write_text(rows)
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**28)
    assert "with its zeros filled in," in refusal(tmp_path / "wide.txt")


def test_a_table_with_times_is_no_sparse_one(tmp_path):
    rows = "".join(f"{k},{k % 24}:{k % 60:02},{'ab'[k % 2]}\n" for k in np.arange(30))
    (tmp_path / "times.csv").write_text("n,at,y\n" + rows)
    assert load(tmp_path / "times.csv").target == "y"


def test_a_number_and_a_time_are_not_sparse(tmp_path):
    path = tmp_path / "measured.txt"
    path.write_text("".join(f"{k}.5 {8 + k % 9:02}:{k * 7 % 60:02}\n" for k in range(30)))
    assert not is_sparse(path)
    path.with_suffix(".svm").write_text("1 3:0.5\n0 4:1\n")
    assert is_sparse(path.with_suffix(".svm"))
