"""Lists inside of columns, as JSON and Parquet have them."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from widenet.data import load
from widenet.files.jsonlines import flat
from widenet.files.lists import without_lists
from widenet.files.opening import check_file

ROWS = [
    {
        "at": [k / 7, (k * k % 11) / 3],
        "tags": [["red", "new"], ["blue"], []][k % 3],
        "parts": [{"k": k}],
        "y": "ab"[k % 2],
    }
    for k in range(30)
]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_lists_are_columns_or_text(tmp_path, ending):
    path = tmp_path / f"some.{ending}"
    if ending == "jsonl":
        path.write_text("\n".join(map(json.dumps, ROWS)))
    else:
        pd.DataFrame(ROWS).to_parquet(path)
    check_file(str(path), "y", ["at 1"], (), ())
    data = load(path, target="y")
    assert data.columns.used == ("at 1", "at 2", "tags")
    assert [each.name for each in data.columns.dropped] == ["parts"]
    assert {"tags=red, new", "tags=blue", "tags is missing"} <= set(data.names)
    assert data.cells["at 2"].tolist() == [row["at"][1] for row in ROWS]


def test_places_on_a_map_are_coordinates(tmp_path):
    places = [
        {
            "type": "Feature",
            "properties": {"city": "ab"[k % 2]},
            "geometry": {"type": "Point", "coordinates": [k / 7, 60 - k % 5]},
        }
        for k in range(30)
    ]
    (tmp_path / "some.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": places}))
    data = load(tmp_path / "some.geojson", target="properties.city")
    assert data.columns.used == ("geometry.coordinates 1", "geometry.coordinates 2")
    assert load(tmp_path / "some.geojson").target == "properties.city"


def test_large_numbers_in_lists_keep_their_type(tmp_path):
    lists = [[2**63 + 2**61 * (k % 4), k * k % 7] for k in range(30)]
    columns = {"at": pa.array(lists, pa.list_(pa.uint64())), "y": ["a", "b"] * 15}
    pq.write_table(pa.table(columns), tmp_path / "some.parquet")
    data = load(tmp_path / "some.parquet", target="y")
    assert data.columns.used == ("at 1", "at 2")
    assert data.cells["at 1"].tolist() == [first for first, _ in lists]


def written(rows, path):
    """A file of rows, lines of JSON or Parquet by its ending."""
    if path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        pd.DataFrame(rows).to_parquet(path)
    return path


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_points_may_miss_numbers_or_be_missing(tmp_path, ending):
    """A null among coordinates, or none at all, makes no text of the others."""
    rows = [{"at": row["at"], "y": row["y"]} for row in ROWS]
    rows[3]["at"], rows[5]["at"], rows[6]["at"] = [None, 1.5], [], None
    data = load(written(rows, tmp_path / f"some.{ending}"), target="y")
    assert data.columns.used == data.columns.imputed == ("at 1", "at 2")
    assert data.cells["at 1"].isna().to_numpy().nonzero()[0].tolist() == [3, 5, 6]
    assert data.cells["at 2"].isna().to_numpy().nonzero()[0].tolist() == [5, 6]


def test_lists_without_a_number_are_no_points():
    assert without_lists({"a": [[None, None], []]}) == {"a": [None, None]}


def test_lists_that_change_late_can_be_left_out_by_their_name(tmp_path):
    """What they become is known only once all of them are read."""
    rows = [{"at": [k / 7, k % 5], "x": k * k % 11, "y": "ab"[k % 2]} for k in range(3000)]
    rows[-1]["at"].append(1.5)
    path = tmp_path / "some.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    check_file(str(path), "y", ["at"], (), ())
    assert load(path, target="y", drop=["at"]).columns.used == ("x",)


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_columns_of_lists_take_no_name_of_others(tmp_path, ending):
    own = ["at 1", "at 1 (inside)"]
    rows = [
        {"at": row["at"], **{name: k * k % (7 + j) for j, name in enumerate(own)}, "y": row["y"]}
        for k, row in enumerate(ROWS)
    ]
    data = load(written(rows, tmp_path / f"some.{ending}"), target="y")
    assert data.columns.used == ("at 1 (inside 2)", "at 2", *own)
    assert data.cells["at 1"].astype(float).tolist() == [row["at 1"] for row in rows]
    assert data.cells["at 1 (inside 2)"].tolist() == [row["at"][0] for row in rows]


def test_keys_inside_of_objects_take_no_name_of_others():
    record = {"a": {"b": 1, "b (inside)": 2}, "a.b": 3, "a.b (inside)": 4}
    assert flat(record) == {"a.b (inside 2)": 1, "a.b (inside) (inside)": 2, "a.b": 3, "a.b (inside)": 4}
    assert flat({"a.b": {"c": 1}, "a": {"b.c": 2}}) == {"a.b.c": 1, "a.b.c (inside)": 2}


def test_keys_inside_of_objects_take_no_name_of_other_rows(tmp_path):
    rows = [{"a": {"b": k % 5}, "y": "ab"[k % 2]} | ({"a.b": k % 7} if k % 3 else {}) for k in range(30)]
    (tmp_path / "some.jsonl").write_text("\n".join(map(json.dumps, rows)))
    data = load(tmp_path / "some.jsonl", target="y")
    assert data.cells["a.b (inside)"].astype(float).tolist() == [k % 5 for k in range(30)]
