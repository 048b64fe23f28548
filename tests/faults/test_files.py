"""Hostile files: one sentence, soon, before memory is taken. Sizes are real where that costs nothing."""

import bz2
import gzip
import io
import json
import lzma
import os
import re
import struct
import zipfile
import zlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from fuzz import inputs
from widenet.base.errors import InputError, OutOfMemoryError
from widenet.base.memory import memory_told
from widenet.data import load
from widenet.files import limits, packed
from widenet.files.opening import check_file, opened

ROWS = "a,y\n" + "".join(f"{k / 7:.3f},{k % 2}\n" for k in range(30))


def refusal(source, **options) -> str:
    with pytest.raises(InputError) as error:
        load(source, **options)
    message = str(error.value)
    assert "\x1b" not in message
    return message


def test_a_million_columns(tmp_path):
    path = tmp_path / "wide.csv"
    names = ",".join(f"c{k}" for k in range(10**6))
    path.write_text(f"{names}\n{names}\n")
    assert refusal(path) == (
        "'wide.csv' has more than the 100,000 columns that are read: give fewer, or save X and y in an .npz "
        "file."
    )
    with pytest.raises(InputError, match="100,000 columns"):
        check_file(str(path), "c5", [], [], [])


def test_names_beyond_the_first_bytes_are_found(tmp_path):
    """A header of more than 64 KiB: a name at its end is one of the columns."""
    path = tmp_path / "wide.csv"
    names = [f"a long name of column {k}" for k in range(4000)]
    row = ",".join("1" for _ in names)
    path.write_text("\n".join([",".join(names), row, row]))
    check_file(str(path), names[-1], [], [], [])


def test_a_sparse_file_of_gigabytes(tmp_path, monkeypatch):
    path = tmp_path / "holes.csv"
    path.write_text("a,y\n")
    os.truncate(path, 5 * 2**30)
    with pytest.raises(InputError, match="NUL byte"):
        check_file(str(path), None, [], [], [])
    monkeypatch.setattr("widenet.base.memory.available_bytes", lambda: 8 * 2**30)
    assert "A file of 5,368,709,120 bytes needs about 100.0 GiB of memory" in refusal(path)


def test_a_line_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "LONGEST_LINE", 2**16)
    path = tmp_path / "line.csv"
    path.write_text(ROWS + "1," + "x" * 2**18 + "\n")
    assert "has a line of more than 65,536 bytes: give a row on each line." in refusal(path)
    limits.refuse_long_lines(ROWS.encode() * 5000, "a longer file of short lines")
    lines = tmp_path / "line.jsonl"
    lines.write_text('{"a": 1, "y": "%s"}\n{"a": 2, "y": "n"}\n' % ("x" * 200_000))
    assert "Column 'y' of 'line.jsonl' holds a text of 200,000 characters" in refusal(lines)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_what_unpacks_to_gigabytes_is_noticed_by_what_was_read(tmp_path, monkeypatch, pack):
    """The ratio is that of the bytes so far: a large packed file must not allow for a larger bomb."""
    monkeypatch.setattr(packed, "RATIO_MATTERS", 2**20)
    monkeypatch.setattr(packed, "CHUNK", 2**16)
    member = pack(b"1,0\n" * 2**20)
    ending = {gzip.compress: ".gz", bz2.compress: ".bz2", lzma.compress: ".xz"}[pack]
    path = tmp_path / f"bomb.csv{ending}"
    path.write_bytes(pack(b"a,y\n") + member * 100)
    sizes = []
    monkeypatch.setattr(packed, "require_memory", lambda size, what: sizes.append(size))
    assert "made to fill the memory" in refusal(path)
    assert max(sizes) <= packed.COPIES * 2**24  # of 400 MiB


def test_unpacking_stops_at_the_memory_that_there_is(tmp_path, monkeypatch):
    monkeypatch.setattr(packed, "CHUNK", 2**16)
    monkeypatch.setattr("widenet.base.memory.available_bytes", lambda: packed.COPIES * 2**20)
    path = tmp_path / "large.csv.gz"
    rng = np.random.default_rng(0)
    path.write_bytes(gzip.compress(b"a,y\n" + rng.integers(48, 58, 2**22, dtype=np.uint8).tobytes()))
    assert "needs about" in refusal(path)


def test_zip_bombs(tmp_path, monkeypatch):
    monkeypatch.setattr(packed, "RATIO_MATTERS", 2**20)
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", "a,y\n" + "1,0\n" * 2**20)
    assert "made to fill the memory" in refusal(path)
    content = bytearray(path.read_bytes())  # one that declares less than it holds
    size = struct.pack("<L", 4 + 4 * 2**20)
    path.write_bytes(bytes(content.replace(size, struct.pack("<L", 100))))
    assert "cannot be unpacked" in refusal(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../outside.csv", ROWS)
    assert "holds no table" in refusal(path)


def test_arrays_that_declare_too_much_or_hold_objects(tmp_path, monkeypatch):
    monkeypatch.setattr("widenet.data.arrays.RATIO_MATTERS", 2**20)
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, X=np.zeros((2**18, 4)), y=np.zeros(2**18))
    assert "made to fill the memory" in refusal(path)
    header = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 2)}
    np.lib.format.write_array_header_1_0(header, shape)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", header.getvalue())
        archive.writestr("y.npy", header.getvalue())
    assert "declares 16,000,000,000,000 bytes" in refusal(path)
    np.savez(path, X=np.array([[1, {}]] * 4, dtype=object), y=np.arange(4))
    assert "never loaded" in refusal(path)


def test_a_billion_rows_in_a_small_parquet_file(tmp_path, monkeypatch):
    path = tmp_path / "bomb.parquet"
    zeros = pa.array(np.zeros(10**6, np.int8))
    pq.write_table(pa.table({"a": zeros, "y": zeros}), path, compression="zstd")
    monkeypatch.setattr("widenet.base.memory.available_bytes", lambda: 2**24)
    assert "A table of 1,000,000 rows and 2 columns needs about" in refusal(path)


def test_long_texts_behind_codes_in_a_parquet_file(tmp_path, monkeypatch):
    path = tmp_path / "texts.parquet"

    def write(length: int) -> None:
        codes = pa.DictionaryArray.from_arrays(pa.array(np.zeros(5000, np.int32)), pa.array(["x" * length]))
        numbers = pa.array(np.arange(5000) % 7)
        pq.write_table(pa.table({"a": codes, "y": numbers}), path, store_schema=False)
        assert path.stat().st_size < 2**21

    write(10**6)
    assert "Column 'a' of 'texts.parquet' holds a text of 1,000,000 bytes" in refusal(path)
    write(10**5)
    monkeypatch.setattr("widenet.base.memory.available_bytes", lambda: 2**28)
    assert "The text of column 'a' of 'texts.parquet' needs about 1.9 GiB" in refusal(path)


@pytest.fixture
def book(tmp_path):
    """A spreadsheet whose sheet is edited as XML."""
    plain = tmp_path / "plain.xlsx"
    pd.DataFrame({"a": np.arange(20) ** 0.5, "y": np.arange(20) % 2}).to_excel(plain, index=False)

    def edited(edit, name="xl/worksheets/sheet1.xml"):
        path = tmp_path / "book.xlsx"
        with zipfile.ZipFile(plain) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
            for member in old.namelist():
                text = old.read(member)
                new.writestr(member, edit(text) if member == name else text)
        return path

    return edited


def test_cells_far_away_cost_nothing(book):
    far = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    data = load(book(lambda text: text.replace(b"</sheetData>", far)))
    assert data.n == 20
    assert load(book(lambda text: re.sub(rb'ref="A1:[^"]*"', b'ref="A1:XFD1048576"', text))).n == 20


def test_short_rows_below_a_wide_header_are_counted(book, monkeypatch):
    """A row of one cell is as wide as the header in memory."""
    monkeypatch.setattr("widenet.base.memory.available_bytes", lambda: 2**26)
    names = b"".join(b'<c t="inlineStr"><is><t>n%d</t></is></c>' % k for k in range(4000))
    rows = b'<row><c t="inlineStr"><is><t>x</t></is></c></row>' * 1100
    sheet = b'<row r="1">' + names + b"</row>" + rows + b"</sheetData>"
    path = book(lambda text: re.sub(rb"<row.*</sheetData>", lambda _: sheet, text, flags=re.DOTALL))
    assert "The sheet 'Sheet1' of 'book.xlsx' needs about" in refusal(path)


def test_entities_in_a_spreadsheet_are_not_expanded(book):
    names = b"".join(b'<!ENTITY l%d "%s">' % (k, b"&l%d;" % (k - 1) * 10) for k in range(1, 12))
    start = b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY l0 "lol">' + names + b"]>"
    cell = b'<row r="30"><c r="A30" t="inlineStr"><is><t>&l11;</t></is></c></row></sheetData>'

    def edit(text: bytes) -> bytes:
        return start + text.split(b"?>", 1)[-1].replace(b"</sheetData>", cell)

    assert "is damaged (ParseError): save it again." in refusal(book(edit))


def test_images_that_declare_huge_sizes(tmp_path):
    for name in "ab":
        (tmp_path / "p" / name).mkdir(parents=True)
        Image.new("L", (8, 8), 90).save(tmp_path / "p" / name / "0.png")

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    image = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"0"))
        + chunk(b"IEND", b"")
    )
    (tmp_path / "p" / "a" / "huge.png").write_bytes(image)
    assert refusal(tmp_path / "p") == "'a/huge.png' declares too many pixels: make it smaller."


def test_pipes_devices_and_links_that_lead_nowhere(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    assert "is not a plain file" in refusal(tmp_path / "pipe.csv")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    assert "is not a plain file" in refusal(tmp_path / "zero.csv")
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    assert "'" in refusal(tmp_path / "loop.csv")
    for name in "ab":
        (tmp_path / "p" / name).mkdir(parents=True)
        for k in range(3):
            Image.fromarray(np.full((4, 4), 30 * k + ord(name), np.uint8)).save(
                tmp_path / "p" / name / f"{k}.png"
            )
    os.mkfifo(tmp_path / "p" / "a" / "pipe.png")
    (tmp_path / "p" / "b" / "up").symlink_to("..")
    (tmp_path / "p" / "b" / "self.png").symlink_to("self.png")
    (tmp_path / "p" / "self").symlink_to("self")
    assert load(tmp_path / "p").n == 6


def test_deep_json(tmp_path):
    for name, text in (
        ("list.json", "[" * 10**5 + "]" * 10**5),
        ("row.json", '[{"a": ' + "[" * 10**5 + "]" * 10**5 + ', "y": 1}]'),
        ("lines.jsonl", '{"a": 1, "y": 0}\n' + '{"a":' * 10**5 + "1" + "}" * 10**5),
    ):
        (tmp_path / name).write_text(text)
        assert "is not JSON (maximum recursion depth" in refusal(tmp_path / name)


def test_many_wrong_lines_are_counted_not_kept(tmp_path):
    path = tmp_path / "ragged.csv"
    path.write_text("a,y\n" + "1,2\n" * 30_000 + "1\n" * 20_000)
    message = refusal(path)
    assert message.count("\n") == 6
    assert "19,995 more lines have another number of fields" in message


def test_numbers_of_thousands_of_digits(tmp_path):
    path = tmp_path / "digits.csv"
    path.write_text("a,b,y\n" + "".join(f"{k / 3:.2f},{'9' * 5000},{k % 2}\n" for k in range(30)))
    data = load(path)
    assert data.columns.used == ("a",)
    path.write_text("a,y\n" + "".join(f"{k / 3:.2f},{'9' * 5000}{k % 2}\n" for k in range(30)))
    assert len(load(path).classes) == 2
    path.write_text("a,y\n" + "".join(f"{k / 3:.2f},x{'9' * 5000}{k % 2}\n" for k in range(30)))
    assert len(load(path).classes) == 2


@pytest.mark.parametrize("end", ["x", "*" * 100_000 + "x", "(" * 5000, " " * 100_000 + "x"])
def test_words_on_which_a_grammar_could_turn_back_again_and_again(tmp_path, end):
    path = tmp_path / "words.csv"
    rows = [f"{'9' * 5000}{end if k == 7 else ''},{k / 3:.2f},{k % 2}\n" for k in range(30)]
    path.write_text("a,b,y\n" + "".join(rows))
    with inputs.within(inputs.SECONDS):
        assert "b" in load(path).columns.used


def test_names_that_no_terminal_or_file_should_see(tmp_path):
    path = tmp_path / "new\nline\x1b[31m[red].csv"
    path.write_text("a,y\n1,2,3\n")
    assert "'new\\nline\\x1b[31m[red].csv'" in refusal(path)
    lone = tmp_path / os.fsdecode(b"caf\xe9.csv")
    lone.write_text(ROWS)
    load(lone).name.encode()
    surrogates = [{"a\ud800": k / 7, "y": "\ud800" if k % 2 else "b"} for k in range(30)]
    (tmp_path / "t.json").write_text(json.dumps(surrogates))
    data = load(tmp_path / "t.json", target="y")
    assert (data.names[0], data.classes) == ("a\ufffd", ("b", "\ufffd"))


@pytest.mark.parametrize("word", ["inf", "-inf", "Infinity", "1e999", "-1e999"])
def test_infinite_features_are_missing_and_told(tmp_path, word):
    path = tmp_path / "t.csv"
    path.write_text(ROWS + f"{word},1\n")
    data = load(path)
    assert data.n == 31
    assert data.columns.imputed == ("a",)
    assert f"Infinite values of 'a' were taken as missing: '{word}'." in data.provenance


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_members_of_archives(tmp_path, method):
    path = tmp_path / "t.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("t.csv", ROWS * 20)
        packed_bytes = archive.getinfo("t.csv").compress_size
    content = bytearray(path.read_bytes())
    for place in range(30 + len("t.csv") + 10, 30 + len("t.csv") + packed_bytes):
        content[place] ^= 0xA5
    path.write_bytes(bytes(content))
    message = refusal(path)
    assert message.startswith("'t.zip' cannot be unpacked (")
    assert message.endswith("): unpack it first.")


def test_errors_of_who_reads_from_an_archive_are_its_own(tmp_path):
    path = tmp_path / "t.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("t.csv", ROWS)
    for error in (ValueError("mine"), RuntimeError("DefaultCPUAllocator: can't allocate memory")):
        with pytest.raises(type(error), match=str(error)), opened(path):
            raise error


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("t.xlsx", "openpyxl.worksheet._read_only.ReadOnlyWorksheet.iter_rows"),
        ("t.parquet", "pyarrow.parquet.ParquetFile.read"),
    ],
)
@pytest.mark.parametrize("error", [MemoryError, pa.ArrowMemoryError])
def test_memory_that_runs_out_is_no_damage(tmp_path, monkeypatch, name, place, error):
    frame = pd.DataFrame({"a": np.arange(20) ** 0.5, "y": np.arange(20) % 2})
    write = {"t.xlsx": frame.to_excel, "t.parquet": frame.to_parquet}[name]
    write(tmp_path / name, index=False)

    def hungry(*_, **__):
        raise error

    monkeypatch.setattr(place, hungry)
    with pytest.raises(OutOfMemoryError, match="Ran out of memory"), memory_told():
        load(tmp_path / name)


def test_memory_that_runs_out_may_be_damage_where_a_file_declares_sizes(tmp_path, monkeypatch):
    """A changed byte of a .dta file asks for gigabytes: without these nobody knows which of the two it is."""
    path = tmp_path / "t.dta"
    pd.DataFrame({"a": np.arange(20) ** 0.5, "y": np.arange(20) % 2}).to_stata(path, write_index=False)

    def hungry(*_, **__):
        raise MemoryError

    monkeypatch.setattr("pandas.read_stata", hungry)
    told = "'t.dta' needs more memory than is available, or is damaged: use fewer rows, or save it again."
    assert refusal(path) == told


def test_a_search_for_files_that_break_a_reader():
    report = inputs.run(count=120, seed=7)
    assert report.failures == []
    assert report.outcomes["refused"] > 20
    assert report.outcomes["loaded"] > 5
