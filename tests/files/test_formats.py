"""Files of other programs, each read from a real one: zip, ARFF, Stata, SAS transport, old Excel."""

import json
import struct
import zipfile
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
import torch

from widenet.base.errors import InputError
from widenet.data import load
from widenet.files.opening import check_file

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "width": RNG.normal(size=40).round(2),
        "colour": RNG.choice(["red", "grün", "blue"], 40),
        "y": RNG.choice(["no", "yes"], 40),
    }
)


def refusal(source, **options) -> str:
    with pytest.raises(InputError) as error:
        load(source, **options)
    return str(error.value)


def write_xls(path, frame: pd.DataFrame) -> None:
    """An Excel 2 worksheet: records of a type, a length and cells; older than OLE."""

    def record(kind: int, data: bytes) -> bytes:
        return struct.pack("<HH", kind, len(data)) + data

    def cell(row: int, column: int, value: object) -> bytes:
        place = struct.pack("<HH3x", row, column)
        if isinstance(value, str):
            text = value.encode("cp1252")
            return record(0x0004, place + bytes([len(text)]) + text)
        return record(0x0003, place + struct.pack("<d", value))

    rows = [list(frame.columns), *frame.itertuples(index=False, name=None)]
    cells = [cell(i, j, value) for i, row in enumerate(rows) for j, value in enumerate(row)]
    start = record(0x0009, struct.pack("<HH", 2, 0x10)) + record(0x0042, struct.pack("<H", 1252))
    path.write_bytes(start + b"".join(cells) + record(0x000A, b""))


def ibm_float(value: float) -> bytes:
    """A number as IBM's machines had it: value = ± fraction · 16^(exponent − 64)."""
    if not value:
        return bytes(8)
    sign, value, exponent = (0x80 if value < 0 else 0), abs(value), 64
    while value >= 1:
        value, exponent = value / 16, exponent + 1
    while value < 1 / 16:
        value, exponent = value * 16, exponent - 1
    return bytes([sign | exponent]) + int(value * 2**56).to_bytes(7, "big")


def write_xpt(path, frame: pd.DataFrame) -> None:
    """A SAS transport file, version 5: headers of 80 characters, then rows of fixed width."""
    header = "HEADER RECORD*******{:<8}HEADER RECORD!!!!!!!{:<30}  ".format
    stamp = "01JAN20:00:00:00"
    lines = [
        header("LIBRARY", "0" * 30),
        f"{'SAS':8}{'SAS':8}{'SASLIB':8}{'9.4':8}{'X64':8}{'':24}{stamp}",
        f"{stamp:80}",
        header("MEMBER", "000000000000000001600000000140"),
        header("DSCRPTR", "0" * 30),
        f"{'SAS':8}{'T':8}{'SASDATA':8}{'9.4':8}{'X64':8}{'':24}{stamp}",
        f"{stamp:80}",
        header("NAMESTR", f"{len(frame.columns):010}{'0' * 20}"),
    ]
    fields, place = b"", 0
    for number, name in enumerate(frame.columns, start=1):
        kind = 1 if frame[name].dtype.kind == "f" else 2
        about = struct.pack(">hhhh8s40s8shhh2s8shhl52s", kind, 0, 8, number, f"{name:8}".encode(), b" " * 40,
                            b" " * 8, 0, 0, 0, b"", b" " * 8, 0, 0, place, b"")  # fmt: skip
        fields, place = fields + about, place + 8
    rows = b"".join(
        ibm_float(value) if isinstance(value, float) else value.encode("latin-1").ljust(8)
        for row in frame.itertuples(index=False, name=None)
        for value in row
    )

    def padded(content: bytes) -> bytes:
        return content + b" " * (-len(content) % 80)

    top = "".join(f"{line:80}" for line in lines).encode()
    path.write_bytes(top + padded(fields) + header("OBS", "0" * 30).ljust(80).encode() + padded(rows))


def write_arff(path, frame: pd.DataFrame) -> None:
    rows = "\n".join(f"{width},'{colour}',{y}" for width, colour, y in frame.itertuples(index=False))
    path.write_text(
        "% a comment\n@RELATION 'a table'\n\n@attribute width REAL\n"
        "@attribute 'colour' {red, 'grün' , blue}\n"
        f"@Attribute y {{no,yes}}\n@DATA\n{rows}\n"
    )


def write_zip(path, frame: pd.DataFrame) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data/t.csv", frame.to_csv(index=False))
        archive.writestr("data/readme.md", "mine")
        archive.writestr("__MACOSX/data/._t.csv", "junk")


WRITERS = {
    "t.xls": write_xls,
    "t.xpt": write_xpt,
    "t.arff": write_arff,
    "t.zip": write_zip,
    "t.dta": lambda path, frame: frame.astype({"colour": "category"}).to_stata(
        path, write_index=False, version=118
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_table_in_files_of_other_programs(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path, FRAME)
    data, expected = load(path), load(FRAME)
    torch.testing.assert_close(data.X, expected.X, rtol=0, atol=1e-12)
    assert (data.given, data.names) == (expected.given, expected.names)
    assert data.columns.used == ("width", "colour")
    assert data.origin.file_sha256 is not None
    check_file(str(path), "y", ["width"], ["colour"], [])


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_cut_off_is_refused_or_shorter(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path, FRAME)
    content = path.read_bytes()
    for share in (0.1, 0.5, 0.9):
        path.write_bytes(content[: int(share * len(content))])
        with suppress(InputError):
            assert load(path).n <= 40


def test_labels_of_values_are_categories(tmp_path):
    codes = pd.Series(pd.Categorical.from_codes([k % 3 for k in range(30)], ["low", "middle", "high"]))
    frame = pd.DataFrame({"a": np.arange(30) ** 0.5, "level": codes, "y": np.arange(30) % 2})
    frame.to_stata(tmp_path / "t.dta", write_index=False)
    data = load(tmp_path / "t.dta", target="y")
    assert data.names == ("a", "level=high", "level=low", "level=middle", "constant")


def test_of_several_tables_in_an_archive_one_is_chosen(tmp_path):
    path = tmp_path / "archive.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("train.csv", FRAME.to_csv(index=False))
        archive.writestr("test.csv", FRAME.head(20).to_csv(index=False))
        archive.writestr("deep/more.json", FRAME.head(10).to_json(orient="records"))
    assert refusal(path) == (
        "'archive.zip' holds 3 tables, 'train.csv', 'test.csv', 'deep/more.json': choose one, as in "
        f"'{path}/train.csv'."
    )
    assert load(f"{path}/test.csv").n == 20
    assert load(path / "deep" / "more.json").n == 10
    assert "has no table 'tset.csv': did you mean 'test.csv'" in refusal(f"{path}/tset.csv")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("picture.png", b"")
    assert "holds no table" in refusal(path)
    path.write_bytes(b"PK\x03\x04 but no archive")
    assert "cannot be unpacked" in refusal(path)


def test_rows_of_arff_may_be_sparse_quoted_weighted_or_have_gaps(tmp_path):
    path = tmp_path / "t.arff"
    head = "@relation r\n@attribute 'a b' numeric\n@attribute c {x,'it''s',\"y, z\"}\n@attribute s string\n"
    head = head.replace("'it''s'", r"'it\'s'") + "@attribute class {0,1}\n@data\n"
    dense = "1.5,x,'one, two',0\n?,'it\\'s',?,1,{2}\n% a comment\n3, \"y, z\" , plain ,0\n"
    sparse = "{0 2.5, 3 1}\n{ 1 'it\\'s' , 2 'a, b' }\n{}\n{3 ?}\n"
    path.write_text(head + (dense + sparse) * 4)
    data = load(path, keep=["s"])
    assert data.target == "class"
    assert data.classes == ("0", "1")
    first = data.cells.iloc[:6].astype(object).where(data.cells.iloc[:6].notna(), None).to_numpy().tolist()
    assert first == [
        ["1.5", "x", "one, two", "0"],
        [None, "it's", None, "1"],
        ["3", "y, z", "plain", "0"],
        ["2.5", "x", "0", "1"],
        ["0", "it's", "a, b", "0"],
        ["0", "x", "0", "0"],
    ]
    assert "4 rows of 28 have no target" in " ".join(data.provenance)
    path.write_text(head + dense + "1,x\n{9 1}\n")
    message = refusal(path)
    assert "Line 11 of 't.arff' is no row of 4 values" in message
    assert "Line 12" in message
    path.write_text("@relation r\n@attribute a relational\n@data\n")
    assert "relational" in refusal(path)


@pytest.mark.parametrize("way", ["columns", "list", "nested", "pretty"])
def test_one_json_object_that_holds_a_table(tmp_path, way):
    path = tmp_path / "t.json"
    records = FRAME.to_dict("records")
    written = {
        "columns": FRAME.to_json(),
        "list": json.dumps(FRAME.to_dict("list")),
        "nested": json.dumps({"status": "ok", "pages": [1, 2], "data": records}),
        "pretty": json.dumps({"data": records}, indent=2),
    }
    path.write_text(written[way])
    check_file(str(path), "y", (), (), ())
    dataset = load(path, target="y")
    assert dataset.n == 40
    assert dataset.classes == ("no", "yes")
    assert torch.equal(dataset.labels, torch.tensor(FRAME["y"] == "yes").long())


def test_one_object_alone_is_one_row(tmp_path):
    (tmp_path / "t.json").write_text('{"a": 1, "y": "x"}')
    assert "1 row" in refusal(tmp_path / "t.json", target="y")


@pytest.mark.parametrize("member", ["heroes.zip", "sklego/data/heroes.zip"])
def test_a_zip_whose_table_has_its_own_name(tmp_path, member):
    """As older versions of pandas write `to_csv("heroes.zip")`."""
    path = tmp_path / "heroes.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, FRAME.to_csv(index=False))
    check_file(str(path), "y", (), (), ())
    assert load(path, target="y").n == 40


def test_a_member_called_as_its_archive_is_a_table(tmp_path):
    path = tmp_path / "table.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("table.csv.zip", FRAME.to_csv(index=False))
    assert load(path, target="y").n == 40


def test_what_is_written_about_a_table_is_none(tmp_path):
    path = tmp_path / "t.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/rows.csv", FRAME.to_csv(index=False))
        archive.writestr("data/README.txt", "Rows of 2024, as they were.")
        archive.writestr("LICENSE.txt", "Free.")
        archive.writestr("data/meta.json", '{"rows": 40}')
        archive.writestr("sources.txt", "Measured here.")
    data = load(path, target="y")
    assert data.n == 40
    assert data.provenance[-1] == "Other files in 't.zip' were not read: 'data/meta.json', 'sources.txt'."
    assert load(f"{path}/data/rows.csv", target="y").provenance == data.provenance[:-1]
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("more.csv", "a,y\n1,x\n")
    assert f"{path}/data/rows.csv" in refusal(path, target="y")


def test_what_is_larger_than_a_table_is_not_only_about_it(tmp_path):
    """Rows in JSON beside a dictionary of their columns."""
    path = tmp_path / "t.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("train.json", FRAME.to_json(orient="records"))
        archive.writestr("columns.csv", "name,meaning\n" + "width,how wide\ncolour,which\n" * 6)
    assert "'t.zip' holds 2 tables, 'train.json', 'columns.csv': choose one" in refusal(path)
    with pytest.raises(InputError, match="choose one"):
        check_file(str(path), None, (), (), ())
    assert load(path / "train.json", target="y").n == 40


@pytest.mark.parametrize("line", ["abc", "'my col'", "'my col", '"a', "'a'b real", "{x,y}"])
def test_an_attribute_without_a_name_or_type_is_told(tmp_path, line):
    """No letter of a name is taken for a type."""
    path = tmp_path / "t.arff"
    path.write_text(f"@relation r\n@attribute {line}\n@attribute y {{0,1}}\n@data\n" + "1,0\n2,1\n" * 9)
    assert refusal(path) == "Line 2 of 't.arff' declares no attribute: write @attribute name type."


@pytest.mark.parametrize("line", ["a numeric", "'a' real", "'a' {1,2}", "a{1,2}", '"a"{1,2}', "a\treal"])
def test_names_of_attributes_end_with_their_quotes_or_before_the_type(tmp_path, line):
    path = tmp_path / "t.arff"
    path.write_text(f"@relation r\n@attribute {line}\n@attribute y {{0,1}}\n@data\n" + "1,0\n2,1\n" * 9)
    assert [*load(path).cells.columns] == ["a", "y"]


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85", "\x1c", "\x0b", "\x0c"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_only_ends_of_lines_end_rows(tmp_path, sign, end):
    text = f"one{sign}two"
    rows = [json.dumps({"a": k / 7, "t": text, "y": k % 2}, ensure_ascii=False) for k in range(20)]
    path = tmp_path / "t.jsonl"
    if ord(sign) > 0x1F:  # JSON has no such signs in texts
        path.write_bytes(end.join(rows).encode())
        assert load(path, target="y", keep=["t"]).cells["t"].unique().tolist() == [text]
    head = ["@relation r", "@attribute a numeric", "@attribute t string", "@attribute y {0,1}", "@data"]
    path = tmp_path / "t.arff"
    path.write_bytes(end.join([*head, *(f"{k / 7:.3f},'{text}',{k % 2}" for k in range(20))]).encode())
    assert load(path, keep=["t"]).cells["t"].unique().tolist() == [text]


def test_a_line_that_the_first_bytes_cut_is_not_judged(tmp_path, monkeypatch):
    """The header is looked for in the start of a file, whose last line may end anywhere."""
    path = tmp_path / "t.jsonl"
    rows = [{"a": k / 7, "word": "größe" * 20, "y": k % 2} for k in range(1000)]
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    check_file(str(path), "y", [], [], [])
    path = tmp_path / "t.arff"
    lines = [f"@attribute column{k:06} numeric" for k in range(100)]
    path.write_text("\n".join([*lines, "@data", "0," * 99 + "1"]))
    for start in range(1000, 1040):
        monkeypatch.setattr("widenet.files.arff.START", start)
        check_file(str(path), None, [], [], [])
