"""Every kind of file that people have is read, and is the same table whatever the kind."""

import gzip
import json
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest
import torch
from PIL import Image

from widenet.base.errors import InputError
from widenet.data import load
from widenet.files.opening import check_file, ending_of, stem_of

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "width": RNG.normal(size=40).round(2),
        "price": RNG.integers(1000, 99_000, 40),
        "colour": RNG.choice(["red", "grün", "blue"], 40),
        "y": RNG.choice(["no", "yes"], 40),
    }
)


def refusal(source, **options) -> str:
    with pytest.raises(InputError) as error:
        load(source, **options)
    return str(error.value)


def german(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(
        width=frame.width.map(lambda value: str(value).replace(".", ",")),
        price=frame.price.map(lambda value: f"{value:,}".replace(",", ".")),
    )


def titled_book(path) -> None:
    with pd.ExcelWriter(path) as writer:
        FRAME.to_excel(writer, index=False, startrow=3)
        writer.sheets["Sheet1"]["A1"] = "Prices of 2020"


WRITERS = {
    "plain.csv": lambda path: FRAME.to_csv(path, index=False),
    "upper.CSV": lambda path: FRAME.to_csv(path, index=False),
    "tabs.tsv": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "bars.txt": lambda path: FRAME.to_csv(path, index=False, sep="|"),
    "spaces.txt": lambda path: FRAME.to_csv(path, index=False, sep=" "),
    "packed.csv.gz": lambda path: FRAME.to_csv(path, index=False),
    "packed.csv.bz2": lambda path: FRAME.to_csv(path, index=False),
    "packed.tsv.xz": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "aligned.dat": lambda path: path.write_text(FRAME.to_string(index=False)),
    "tabs.tab": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "list.json": lambda path: FRAME.to_json(path, orient="records", indent=2, force_ascii=False),
    "packed.jsonl.gz": lambda path: FRAME.to_json(path, orient="records", lines=True),
    "packed.tsv.gz": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "mark.csv": lambda path: FRAME.to_csv(path, index=False, encoding="utf-8-sig"),
    "utf16.csv": lambda path: FRAME.to_csv(path, index=False, encoding="utf-16"),
    "latin.csv": lambda path: FRAME.to_csv(path, index=False, encoding="latin-1"),
    "german.csv": lambda path: german(FRAME).to_csv(path, index=False, sep=";"),
    "thousands.csv": lambda path: FRAME.assign(price=FRAME.price.map("{:,}".format)).to_csv(
        path, index=False
    ),
    "dollars.csv": lambda path: FRAME.assign(price=FRAME.price.map("${:,}".format)).to_csv(path, index=False),
    "titled.csv": lambda path: path.write_text("Prices of 2020\n\n" + FRAME.to_csv(index=False)),
    "trailing.csv": lambda path: path.write_text(
        "width,price,colour,y\n" + FRAME.to_csv(index=False, header=False).replace("\n", ",\n")
    ),
    "row_names.txt": lambda path: FRAME.to_csv(path, sep="\t", index_label=False),
    "index.csv": lambda path: FRAME.to_csv(path),
    "book.xlsx": lambda path: FRAME.to_excel(path, index=False),
    "titled.xlsx": lambda path: titled_book(path),
    "columns.parquet": lambda path: FRAME.to_parquet(path),
    "lines.jsonl": lambda path: FRAME.to_json(path, orient="records", lines=True, force_ascii=False),
}


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_table_in_every_kind_of_file(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path)
    data = load(path)
    expected = load(FRAME)
    assert data.columns.used == ("width", "price", "colour")
    torch.testing.assert_close(data.X, expected.X, rtol=0, atol=1e-13)
    assert (data.given, data.names) == (expected.given, expected.names)
    assert data.rows.tolist() == list(range(1, 41))
    check_file(str(path), "y", ["price"], ["colour"], [])


def test_what_was_guessed_is_told(tmp_path):
    def told(name: str) -> str:
        WRITERS[name](tmp_path / name)
        return " ".join(load(tmp_path / name).provenance)

    assert "read as Windows-1252, because it is not UTF-8" in told("latin.csv")
    assert "read as UTF-16." in told("utf16.csv")
    assert "read with decimal commas: 'width'." in told("german.csv")
    assert "read with points between thousands: 'price'." in told("german.csv")
    assert "commas between thousands: 'price'" in told("thousands.csv")
    assert "'$' was taken off the numbers of 'price'." in told("dollars.csv")
    assert "separated by semicolons" in told("german.csv")
    assert "Skipped 1 line above the column names." in told("titled.csv")
    assert "Skipped 1 row above the column names." in told("titled.xlsx")
    assert "Column 'column 1' numbers the rows; it was left out." in told("index.csv")
    plain = told("plain.csv")
    assert "commas between" not in plain
    assert "read as" not in plain


def test_the_sheet_that_was_read_is_told(tmp_path):
    with pd.ExcelWriter(tmp_path / "book.xlsx") as writer:
        pd.DataFrame().to_excel(writer, sheet_name="empty")
        FRAME.to_excel(writer, sheet_name="prices", index=False)
        FRAME.to_excel(writer, sheet_name="older", index=False)
    told = load(tmp_path / "book.xlsx").provenance
    assert "Read 40 rows and 4 columns from 'book.xlsx', sheet 'prices'." in told
    assert "Other sheets were not read: 'empty', 'older'." in told


def test_json_lines_have_gaps_and_lose_nested_keys(tmp_path):
    lines = [{"a": k / 2, "y": "no" if k % 2 else "yes", "tags": [{"k": k}]} for k in range(20)]
    del lines[3]["a"]
    path = tmp_path / "some.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    data = load(path, target="y")
    assert data.columns.used == data.columns.imputed == ("a",)
    assert [(each.name, each.why) for each in data.columns.dropped] == [
        ("tags", "holds lists or objects, not single values")
    ]
    path.write_text('{"a": 1, "y": 2}\n[1]\n{"a": \n')
    message = refusal(path)
    assert "2 problems" in message
    assert "Line 2 of 'some.jsonl' is not an object" in message
    assert "Line 3 of 'some.jsonl' is not JSON" in message


def test_json_that_is_no_list_of_objects_is_refused(tmp_path):
    path = tmp_path / "some.json"
    path.write_text('[{"a": 1, "y": 2}, 3]')
    assert "Item 2 of the list in 'some.json' is no object" in refusal(path)
    path.write_text('[{"a": 1, "y": 2}')
    assert "'some.json' is not JSON" in refusal(path)


def test_all_wrong_lines_are_told_at_once(tmp_path):
    path = tmp_path / "ragged.csv"
    path.write_text("a,b,y\n1,2,x\n3,z\n4,5,x\n6,7,x,8\n")
    message = refusal(path)
    assert "Line 3 of 'ragged.csv' (row 2) has 2 fields and the header has 3" in message
    assert "Line 5 of 'ragged.csv' (row 4) has 4 fields and the header has 3" in message


def test_all_wrong_columns_are_told_at_once(tmp_path):
    rows = [f"{k * 0.5},{k * k},2020-01-{k % 28 + 1:02},{k % 2}" for k in range(40)]
    path = tmp_path / "bad.csv"
    rows = [f"{row},t{k}" for k, row in enumerate(rows * 30)]
    text = "\n".join(["a,b,when,y,text", *rows, "-inf,inf,2020-01-01,oops,t", "7,1,2020-01-01,1,t"])
    path.write_text(text)
    message = refusal(path, target="y", categorical=["text"])
    lines = message.splitlines()
    assert lines[0] == "'bad.csv' has 2 problems:"
    assert "Column 'text' has 1,201 different values, but at most 1,000 can be categories" in lines[1]
    assert "Row 1201, column 'y': 'oops' is not a number, as 1,201 of 1,202 targets are" in lines[2]


def test_wrong_columns_in_the_arguments_are_told_at_once(tmp_path):
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(InputError) as error:
        check_file(str(tmp_path / "t.csv"), "z", ["colr"], [], ["price", "y"])
    message = str(error.value)
    assert "There is no column 'z'" in message
    assert "`drop` names no column: 'colr'; did you mean 'colour'?" in message
    assert "is the target, so `categorical` does not apply" in refusal(tmp_path / "t.csv", categorical=["y"])
    assert "is in `drop` and used" in refusal(tmp_path / "t.csv", drop=["price"], keep=["price"])


@pytest.mark.parametrize(
    ("first", "is_header"),
    [
        ("5.1,3.5,Iris-setosa", False),
        ("39,State-gov,77516,13", False),
        ("country,1990,1995", True),
        ("0,1,2", True),
        ("a,2,c", True),
        ("name,x.1,y", True),
    ],
)
def test_a_file_without_a_header_is_told_so(tmp_path, first, is_header):
    path = tmp_path / "rows.csv"
    text = first + "\n" + "\n".join(",".join(["1"] * (first.count(",") + 1)) for _ in range(9))
    path.write_text(text)
    assert ("not column names" in refusal(path)) is not is_header


def test_gz_bombs_are_noticed_while_they_are_small(tmp_path, monkeypatch):
    monkeypatch.setattr("widenet.files.packed.RATIO_MATTERS", 2**20)
    monkeypatch.setattr("widenet.files.packed.CHUNK", 2**16)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"a,y\n" + b"0" * 2**24))
    read = []
    monkeypatch.setattr("widenet.files.packed.require_memory", lambda num_bytes, what: read.append(num_bytes))
    assert "made to fill the memory" in refusal(path)
    assert len(read) < 200  # pieces of 64 KiB, of 257
    path.write_bytes(gzip.compress(b"a,y\n1,2\n")[:-6])
    assert "not a valid .gz file" in refusal(path)
    for ending in (".bz2", ".xz"):
        path = tmp_path / f"damaged.csv{ending}"
        path.write_bytes(b"a,y\n1,2\n")
        assert f"not a valid {ending} file" in refusal(path)


def test_xlsx_bombs_are_refused_by_their_own_sizes(tmp_path, monkeypatch):
    monkeypatch.setattr("widenet.files.packed.RATIO_MATTERS", 2**20)
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 2**24)
    assert "made to fill the memory" in refusal(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other", b"0")
    assert "cannot be read as a spreadsheet" in refusal(path)


def test_a_folder_of_images_by_class(tmp_path):
    folder = tmp_path / "pets"
    for name, shade in (("cat", 40), ("dog", 200)):
        (folder / name).mkdir(parents=True)
        for k in range(12):
            pixels = np.clip(RNG.normal(shade, 30, (8, 6)), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{k}.png")
    (folder / "readme.txt").write_text("mine")
    data = load(folder)
    assert (data.n, data.classes, data.images.shape) == (24, ("cat", "dog"), (24, 8, 6))
    assert data.files[2] == "cat/2.png"
    assert data.files[11] == "cat/11.png"
    assert data.origin.file_sha256 is not None
    Image.fromarray(np.full((20, 10, 3), 90, np.uint8)).save(folder / "dog" / "large.jpg")
    data = load(str(folder))
    assert data.images.shape == (25, 8, 6, 3)
    assert "1 image of another size was resized to 6 × 8 pixels." in data.provenance
    (folder / "dog" / "none.png").write_text("no image")
    (folder / "cat" / "none.png").write_text("no image")
    message = refusal(folder)
    assert "2 problems" in message
    assert "'dog/none.png' is not an image" in message
    assert "one folder further down: give its folder 'pets'" in refusal(tmp_path)
    (tmp_path / "empty").mkdir()
    assert "holds no folders with images" in refusal(tmp_path / "empty")


def test_large_images_are_made_smaller(tmp_path):
    for name in ("a", "b"):
        (tmp_path / "large" / name).mkdir(parents=True)
        for k in range(3):
            Image.fromarray(RNG.integers(0, 256, (100, 200), dtype=np.uint8)).save(
                tmp_path / "large" / name / f"{k}.png"
            )
    data = load(tmp_path / "large")
    assert data.images.shape == (6, 32, 64)
    assert "All images were resized to 64 × 32 pixels." in data.provenance


def test_names_without_endings():
    from pathlib import Path

    assert ending_of(Path("a.b.csv.gz")) == ".csv.gz"
    assert stem_of(Path("x/a.b.csv.gz")) == "a.b"
    assert stem_of(Path("x/images")) == "images"


GEO = {
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "properties": {"CRIME": 15.5 + k * 7 % 11, "HOVAL": k * 5 % 13, "NAME": f"n{k % 3}"},
            "geometry": {"type": "LineString", "coordinates": [[k, 2 * k], [k, k]]},
        }
        for k in range(30)
    ],
}


def test_objects_within_objects_are_columns(tmp_path):
    path = tmp_path / "columbus.json"
    path.write_text(json.dumps(GEO))
    data = load(path, target="properties.CRIME")
    assert data.columns.used == ("properties.HOVAL", "properties.NAME")
    left_out = {each.name: each.why for each in data.columns.dropped}
    assert left_out["geometry.coordinates"] == "holds lists or objects, not single values"
    assert "did you mean 'properties.CRIME'" in refusal(path, target="CRIME")
    assert load(path).target == "properties.NAME"  # the last that can be learned: no list, no constant


def test_objects_on_lines_are_spread_alike(tmp_path):
    path = tmp_path / "some.jsonl"
    rows = [
        {"a.b": k, "a": {"b": k * 3 % 7, "c": {"d": k % 5}}, "none": {}, "y": "uv"[k % 2]} for k in range(20)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    check_file(str(path), "y", ["a.c.d"], [], [])
    data = load(path, target="y", keep=["a.b"])
    assert data.columns.used == ("a.b", "a.b (inside)", "a.c.d")


def test_rows_by_their_keys(tmp_path):
    path = tmp_path / "limits.json"
    rows = {f"{k}-57-8": {"name": f"n{k % 4}", "limit": k * 7 % 11, "y": "ab"[k % 2]} for k in range(30)}
    path.write_text(json.dumps(rows))
    data = load(path, target="y")
    assert (data.n, data.columns.used) == (30, ("name", "limit"))
    assert [each.name for each in data.columns.dropped] == ["column 1"]
    frame = pd.DataFrame({f"x{k}": [0.5 * k, k * 3 % 7] for k in range(30)} | {"y": ["a", "b"]})
    frame.to_json(path)  # columns, whose rows pandas numbers
    assert load(path, target="y").n == 2


def test_a_json_with_a_key_of_its_own_in_every_column(tmp_path, monkeypatch):
    path = tmp_path / "bomb.json"
    path.write_text(json.dumps({f"c{k}": {f"r{k}": 1} for k in range(3000)}))
    monkeypatch.setattr("widenet.base.memory.available_bytes", lambda: 2**28)
    assert "A table of 3,000 × 3,000 cells" in refusal(path)


def test_a_sheet_without_rows_is_passed_over(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["Column1", "Column2"])
    sheet = book.create_sheet("expected")
    for row in [["a", "b", "y"], *([k, k * 3 % 7, k % 2] for k in range(12))]:
        sheet.append(row)
    book.save(tmp_path / "tables.xlsx")
    assert load(tmp_path / "tables.xlsx").n == 12
    alone = openpyxl.Workbook()
    for value in ("Some data", 0.103, 0.276):
        alone.active.append([value])
    alone.save(tmp_path / "alone.xlsx")
    assert "'alone.xlsx' has no sheet with two columns" in refusal(tmp_path / "alone.xlsx")


def test_many_columns_of_json_bring_no_warning(tmp_path, recwarn):
    path = tmp_path / "wide.jsonl"
    rows = [{f"x{j}": 0.5 * (k * j % 7) for j in range(150)} | {"y": k % 2} for k in range(12)]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert load(path, target="x3").n == 12
    assert not recwarn.list


def test_columns_of_a_sheet_without_a_name_are_read(tmp_path):
    """A cell beside the table is a remark of its author; a column of values is one of the table."""
    book = openpyxl.Workbook()
    book.active.append([None, "width", "y"])
    for k, row in enumerate(FRAME.itertuples()):
        book.active.append([None, row.width, row.y, row.price / 8, "look here" if k == 7 else None])
    book.save(tmp_path / "beside.xlsx")
    data = load(tmp_path / "beside.xlsx")
    assert data.columns.used == ("width", "column 4")
    assert "The target is column 'y'" in " ".join(data.provenance)


def test_a_map_is_a_table(tmp_path):
    places = [
        {
            "type": "Feature",
            "properties": {"price": k % 7, "rooms": k % 4, "city": "ab"[k % 2]},
            "geometry": None,
        }
        for k in range(30)
    ]
    (tmp_path / "houses.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": places}))
    data = load(tmp_path / "houses.geojson", target="properties.city")
    assert data.columns.used == ("properties.price", "properties.rooms")


def test_a_sheet_with_one_row_is_passed_over(tmp_path):
    """Settings, or a cover, before the table: one row is nothing to learn from."""
    with pd.ExcelWriter(tmp_path / "book.xlsx") as writer:
        pd.DataFrame({"Node": ["CH"], "Year": [2020]}).to_excel(writer, sheet_name="Main", index=False)
        FRAME.to_excel(writer, sheet_name="prices", index=False)
    told = load(tmp_path / "book.xlsx").provenance
    assert "Read 40 rows and 4 columns from 'book.xlsx', sheet 'prices'." in told
