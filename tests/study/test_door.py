"""Data in memory goes through the same door as files: tables, arrays, tensors, torch data sets."""

import json
from dataclasses import replace
from html import unescape
from typing import get_type_hints

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from scipy import sparse
from sklearn.datasets import load_iris
from torch.utils.data import TensorDataset

import widenet
from widenet.audit.door import AuditOptions
from widenet.base.errors import InputError
from widenet.compare.door import CompareOptions
from widenet.data.leaks import Leak, LeakKind
from widenet.memorise.door import MemoriseOptions
from widenet.study.door import ReadingOptions
from widenet.study.reading import Reading

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=60) > 0, 7, 5)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=RNG.choice(["u", "v"], 60), y=Y)


class Interchange:
    """A table that has only the dataframe interchange protocol."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.table = pa.Table.from_pandas(frame)

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True):
        return self.table.__dataframe__(nan_as_null, allow_copy)


TABLES = {
    "pandas": lambda: widenet.load(FRAME, target="y"),
    "another index": lambda: widenet.load(FRAME.set_index(np.arange(60) * 3 + 100), target="y"),
    "polars": lambda: widenet.load(pl.from_pandas(FRAME), target="y"),
    "arrow": lambda: widenet.load(pa.Table.from_pandas(FRAME), target="y"),
    "interchange": lambda: widenet.load(Interchange(FRAME), target="y"),
    "table and series": lambda: widenet.load(FRAME.drop(columns="y"), FRAME["y"]),
    "table and list": lambda: widenet.load(FRAME.drop(columns="y"), Y.tolist()),
    "table and tensor": lambda: widenet.load(FRAME.drop(columns="y"), torch.tensor(Y)),
    "polars and polars": lambda: widenet.load(pl.from_pandas(FRAME).drop("y"), pl.Series("y", Y)),
    "categories": lambda: widenet.load(FRAME.astype({"kind": "category"}), target="y"),
    "columns by name": lambda: widenet.load(dict(FRAME.items()), target="y"),
    "records": lambda: widenet.load(FRAME.to_records(index=False), target="y"),
}
ARRAYS = {
    "numpy": lambda: widenet.load(X, Y),
    "column of targets": lambda: widenet.load(X, Y[:, None]),
    "lists": lambda: widenet.load(X.tolist(), Y.tolist()),
    "tensors": lambda: widenet.load(torch.tensor(X), torch.tensor(Y)),
    "gradients": lambda: widenet.load(torch.tensor(X, requires_grad=True), torch.tensor(Y)),
    "sparse": lambda: widenet.load(sparse.csr_matrix(X), Y),
    "torch data set": lambda: widenet.load(TensorDataset(torch.tensor(X), torch.tensor(Y))),
    "list of pairs": lambda: widenet.load(list(zip(X, Y.tolist(), strict=True))),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_of_every_library_are_one_table(kind):
    data, expected = TABLES[kind](), TABLES["pandas"]()
    assert data.columns.used == ("a", "b", "c", "kind")
    assert data.classes == ("5", "7")
    torch.testing.assert_close(data.X, expected.X, rtol=0, atol=1e-13)
    assert data.rows.tolist() == list(range(1, 61))
    assert data.origin is None


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_of_every_library_are_one_array(kind):
    data, expected = ARRAYS[kind](), ARRAYS["numpy"]()
    assert (data.classes, data.d) == (("5", "7"), 4)
    torch.testing.assert_close(data.X, expected.X, rtol=0, atol=1e-13)


@pytest.mark.parametrize("shape", [(60, 1, 4, 5), (60, 3, 4, 5), (60, 4, 5), (60, 4, 5, 3)])
def test_images_in_memory(shape):
    pixels = RNG.uniform(0.1, 1, shape).astype(np.float32)
    data = widenet.load(TensorDataset(torch.tensor(pixels), torch.tensor(Y)))
    height_first = np.moveaxis(pixels, 1, 3) if shape[1] in (1, 3) else pixels
    assert data.preparation.kind == "unit"
    assert data.images.shape == np.squeeze(height_first).shape
    assert (data.images.min(), data.images.max()) == (0, 255)
    flat = height_first.reshape(60, -1).astype(float)
    np.testing.assert_allclose(data.X, flat / np.linalg.norm(flat, axis=1, keepdims=True), rtol=1e-12)


def test_columns_have_names_of_any_kind():
    numbered = FRAME.set_axis(range(FRAME.shape[1]), axis=1)
    place = FRAME.columns.get_loc("y")
    data = widenet.load(numbered, target=place, drop=[0])
    assert (data.classes, data.columns.used) == (("5", "7"), ("1", "2", "3"))
    levels = FRAME.set_axis(pd.MultiIndex.from_product([["all"], FRAME.columns]), axis=1)
    assert widenet.load(levels, target=("all", "y")).columns.used == ("all a", "all b", "all c", "all kind")
    assert widenet.load(numbered, target=place, drop=0).columns.used == ("1", "2", "3")
    empty = FRAME.set_axis(pd.MultiIndex.from_product([FRAME.columns, [""]]), axis=1)
    assert widenet.load(empty, target="y").columns.used == ("a", "b", "c", "kind")


def test_columns_by_name_stand_row_by_row():
    apart = {"a": pd.Series(X[:, 0], index=range(60, 120)), "y": pd.Series(Y)}
    assert widenet.load(apart, target="y").n == 60
    text = np.array([(0.5, b"u"), (1.5, b"v"), (2.5, b"u"), (3.5, b"v")], [("a", float), ("y", "S3")])
    assert widenet.load(text, target="y").classes == ("u", "v")


def test_objects_in_an_array_are_a_table():
    mixed = np.array([[1.5, "u"], [2.5, "v"], [3.5, "u"]] * 5, dtype=object)
    data = widenet.load(mixed, list("ab") * 7 + ["a"])
    assert data.names == ("x1", "x2=u", "x2=v", "constant")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: widenet.load(X), "no targets in data of type ndarray: give them as `y`"),
        (lambda: widenet.load(X, Y[:5]), "'X' has 60 rows and array 'y' has 5"),
        (lambda: widenet.load(FRAME, Y[:5]), "60 rows and y has 5"),
        (lambda: widenet.load(FRAME, Y, target="y"), "leave one of them out"),
        (lambda: widenet.load(X, Y, drop=["a"]), "no columns with names"),
        (lambda: widenet.load(X, target="y"), "`target` names a column of a table"),
        (lambda: widenet.load("digits", Y), "leave `y` out"),
        (lambda: widenet.load(FRAME, target="z"), "no column 'z'"),
        (lambda: widenet.load(pl.from_pandas(FRAME).lazy(), target="y"), "call its collect()"),
        (lambda: widenet.load([{"a": 1}, {"a": 2}]), "not pairs of an input and a target"),
        (lambda: widenet.load([]), "empty"),
        (lambda: widenet.load(load_iris()), "Data of type Bunch is read as columns by their names"),
        (lambda: widenet.load({"a": [1, 2], "y": [1, 2, 3]}), "not of one length"),
        (lambda: widenet.load({"a": {1, 2}, "y": [1, 2]}), "Data of type dict is read as columns"),
        (lambda: widenet.load({"a": 1, "y": 2}), "Data of type dict is read as columns"),
        (lambda: widenet.load(np.zeros(3, [("a", float, 2), ("y", int)])), "Data of type ndarray is read"),
        (lambda: widenet.load(pd.DataFrame(), target="y"), "no columns"),
        (lambda: widenet.audit(widenet.load(X, Y), target="y"), "loaded already, so `target` does not apply"),
        (lambda: widenet.audit(FRAME, target="y", kernel="relu9000"), "kernel"),
        (lambda: widenet.audit(FRAME, target="y", eta=-1.0), "`eta` is -1.0"),
    ],
)
def test_what_cannot_be_read_is_told(call, said):
    with pytest.raises(InputError) as error:
        call()
    assert said in str(error.value)


def test_repeated_names_of_a_table_are_numbered():
    frame = pd.DataFrame(np.column_stack([X, X[:, 0] ** 2]), columns=["a", "b", "a", "y"])
    data = widenet.load(frame)
    assert data.columns.used == ("a", "b", "a (2)")
    with pytest.raises(InputError, match="More than one column is named 'a'"):
        widenet.load(frame, target="a")


@pytest.fixture(scope="module")
def result():
    gaps = FRAME.assign(y=FRAME["y"].astype("Int64").mask(FRAME.index == 4), id=np.arange(60))
    return widenet.audit(gaps, target="y", seed=3)


def test_suspects_are_found_again_in_the_table(result):
    frame = result.labels
    assert list(frame.columns) == ["row", "given", "suggested", "score"]
    assert frame.index.name == "index"
    assert sorted(frame.index) == [k for k in range(60) if k != 4]
    assert (frame["row"] == frame.index + 1).all()
    assert (FRAME["y"].iloc[frame.index].astype(str).to_numpy() == frame["given"]).all()
    assert frame["score"].is_monotonic_decreasing


def test_columns_stand_in_the_json(result):
    assert result.to_dict()["columns"] == {
        "used": ["a", "b", "c", "kind"],
        "dropped": [{"name": "id", "why": "numbers the rows"}],
        "imputed": [],
        "texts": [],
    }
    assert "columns" not in result.to_dict()["data"]


def test_a_name_that_is_a_number_of_numpy_is_saved(tmp_path):
    numbered = FRAME.set_axis(np.array([10, 20, 30, 40, 50]), axis=1)
    saved = widenet.audit(numbered, target=numbered.columns[-1], drop=[np.int64(10)])
    saved.save(tmp_path / "out")
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert (config["target"], config["drop"]) == ("50", ["10"])


def test_a_result_is_saved_as_the_command_line_saves_it(result, tmp_path):
    page = result.save(tmp_path / "out")
    assert page == tmp_path / "out" / "report.html"
    assert {path.name for path in page.parent.iterdir()} == {
        "report.html",
        "result.json",
        "labels.csv",
        "config.json",
    }
    assert '"seed": 3' in (tmp_path / "out" / "config.json").read_text()
    assert '"target": "y"' in (tmp_path / "out" / "config.json").read_text()
    with pytest.raises(InputError, match="already exists"):
        result.save(tmp_path / "out")
    result.save(str(tmp_path / "out"), force=True)


def test_a_result_opens_in_a_browser(result, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    fresh = replace(result)
    page = fresh.open()
    assert page.is_file()
    assert page.is_relative_to(tmp_path)
    assert opened == [page.as_uri()]
    assert fresh.open() == page  # and is not written again
    saved = fresh.save(tmp_path / "mine")
    assert fresh.open() == saved


def test_a_notebook_shows_the_answer_escaped(result):
    leak = Leak(LeakKind.COUNTS, ("<b>column",), 0.0)
    named = replace(result, data=replace(result.data, name="<b>table", leaks=(leak,)))
    shown = named._repr_html_()
    assert "<b>" not in shown
    assert "&lt;b&gt;table" in shown
    assert "&lt;b&gt;column" in shown
    assert "These labels depend on the inputs" in unescape(shown)


SOURCES = {  # what a study is called with: its data, and how they are read
    "pandas": lambda: ((FRAME,), {"target": "y"}),
    "polars": lambda: ((pl.from_pandas(FRAME),), {"target": "y"}),
    "interchange": lambda: ((Interchange(FRAME),), {"target": "y"}),
    "numpy": lambda: ((X, Y), {}),
    "tensors": lambda: ((torch.tensor(X), torch.tensor(Y)), {}),
    "torch data set": lambda: ((TensorDataset(torch.tensor(X), torch.tensor(Y)),), {}),
}
STUDIES = {
    "compare": lambda *data, **reading: widenet.compare(*data, methods=("ridge",), folds=2, **reading),
    "memorise": lambda *data, **reading: widenet.memorise(*data, layers=3, **reading),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("study", STUDIES)
def test_every_study_takes_data_of_every_kind(study, source):
    data, reading = SOURCES[source]()
    summary = STUDIES[study](*data, **reading).data
    assert (summary.n, summary.task) == (60, "binary")
    assert summary.num_features == (4 if reading else 3)


def test_the_other_studies_have_the_same_doors(tmp_path):
    memorised = widenet.memorise(FRAME, target="y", layers=3)
    assert memorised.certified
    assert memorised.to_dict()["columns"]["used"] == ["a", "b", "c", "kind"]
    assert memorised.save(tmp_path / "memorised").is_file()
    compared = widenet.compare(X, Y, methods=("ridge",), folds=2)
    assert compared.data.num_features == 3
    assert compared.config["methods"] == ["ridge"]
    assert compared.save(tmp_path / "compared").is_file()


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (AuditOptions, widenet.AuditSettings),
        (CompareOptions, widenet.CompareSettings),
        (MemoriseOptions, widenet.MemoriseSettings),
    ],
)
def test_keyword_arguments_are_the_settings(options, settings):
    own = {
        name: hint
        for name, hint in get_type_hints(options).items()
        if name not in get_type_hints(ReadingOptions)
    }
    assert own == get_type_hints(settings)
    assert set(get_type_hints(ReadingOptions)) == set(get_type_hints(Reading))
