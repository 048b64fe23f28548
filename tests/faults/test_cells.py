"""Text from the data stays text: no formula, control sequence or markup; and no two labels become one."""

import csv
import importlib.util
import io
import json
import re
import unicodedata
from dataclasses import replace
from decimal import Decimal
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from rich.console import Console

from widenet import load
from widenet.audit.findings import Suspect
from widenet.base.errors import InputError
from widenet.report import audit as room
from widenet.report.audit.files import labels_csv
from widenet.report.parts.files import csv_text, inert, to_json

FORMULAS = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "=",
    "-",
    "+",
    "-1.5",
    "+3e5",
    "-.5",
]
SAFE = {"=", "-", "+", "-1.5", "+3e5", "-.5"}
NASTY = st.one_of(
    st.text(min_size=1, max_size=12),
    st.sampled_from(
        [
            "x" * 300,
            "\x1b[31mred\x1b[0m",
            "[red]not markup[/red]",
            "[/]",
            "\u202egpj.exe\u202c",
            "\u2066a\u2069",
            "a\u0000b",
            "</script><script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "`rm`",
            "\r\nrow",
            "=HYPERLINK(1)",
            "{}%s",
        ]
    ),
)
CONTROLS = {"Cc", "Cf", "Cs", "Co"}


@pytest.fixture(scope="module")
def result_of():
    """A small audit, as the tests of the report make it."""
    place = Path(__file__).parents[1] / "report" / "conftest.py"
    spec = importlib.util.spec_from_file_location("results_of_reports", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.make_result


def cells_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("cell", FORMULAS)
def test_no_cell_of_a_written_table_is_a_formula(cell, result_of):
    result = replace(result_of("binary"), ranking=(Suspect(1, cell, "cat", -0.5),))
    expected = cell if cell in SAFE else f"'{cell}"
    assert cells_of(labels_csv(result))[1] == ["1", expected, "cat", "-0.5"]
    raw = cells_of(labels_csv(replace(result, raw_cells=True)))
    assert raw[1] == ["1", cell, "cat", "-0.5"]
    assert cells_of(csv_text([cell, "b"], []))[0] == [expected, "b"]


def test_no_part_of_a_cell_is_a_formula_where_some_programs_cut():
    cells = ["a;=1+1", "a;\t@b", "a\n-b", "＝1+1", "a; b", "1;-", "x\n"]
    assert [inert(cell) for cell in cells] == ["a;'=1+1", "a;'\t@b", "a\n'-b", "'＝1+1", "a; b", "1;-", "x\n"]


@given(st.text(max_size=10))
def test_only_formulas_are_changed_and_only_by_apostrophes(cell):
    assert inert(cell).replace("'", "") == cell.replace("'", "")
    assert len(inert(cell)) - len(cell) <= len(re.findall(r"[=+\-@＝＋－＠\t\r]", cell))
    for part in re.split(r"[;\n]", inert(cell)):
        assert not re.match(r"\s*[=@＝＠].", part, re.DOTALL)


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(["binary", "multiclass", "regression"]), NASTY)
def test_nasty_names_stay_text_everywhere(result_of, task, nasty):
    """One audit, in which every text of the data is a nasty one."""
    result = result_of(task, rename=lambda name: f"{nasty}{name}")
    file = io.StringIO()
    room.screen(result, Console(file=file, width=80, force_terminal=True, color_system=None))
    told = re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue()) if "\x1b" not in nasty else file.getvalue()
    assert {unicodedata.category(char) for char in told.replace("\n", "")}.isdisjoint(CONTROLS)
    assert json.loads(to_json(room.record(result)))["data"]["name"] == f"{nasty}animals.csv"
    page = room.page(result)
    page.encode()  # what no file can hold must not reach it
    outside = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "<img src=x" not in outside
    assert "alert(1)</script>" not in page
    shown = unescape(re.sub(r"<[^>]*>", "", outside))
    assert {"Cf", "Cs"}.isdisjoint({unicodedata.category(char) for char in shown})
    for text in room.files(result).values():
        text.encode()


LABELS = {
    "beyond 2^53": ["9007199254740992", "9007199254740993"],
    "near 2^63": ["9223372036854775807", "9223372036854775806"],
    "unsigned": ["18446744073709551615", "18446744073709551614"],
    "beyond 64 bits": ["36893488147419103233", "36893488147419103232"],
    "like missing": ["none", "nil"],
    "cases": ["a", "A"],
}
NUMBERS = {name: [int(each) for each in LABELS[name]] for name in ("beyond 2^53", "near 2^63", "unsigned")}


def table(labels: list[object]) -> pd.DataFrame:
    y = pd.Series([labels[k % 2] for k in range(40)], dtype=object)
    return pd.DataFrame({"a": np.arange(40) ** 0.5, "y": y})


def in_file(frame: pd.DataFrame, kind: str, folder) -> object:
    path = folder / f"t.{kind}"
    match kind:
        case "csv":
            frame.to_csv(path, index=False)
        case "json":
            path.write_text(json.dumps(frame.to_dict("records")))
        case "parquet":
            frame.infer_objects().to_parquet(path)
        case "xlsx":
            frame.astype({"y": str}).to_excel(path, index=False)
        case "arff":
            rows = "\n".join(f"{a},'{y}'" for a, y in frame.itertuples(index=False))
            path.write_text(f"@relation r\n@attribute a numeric\n@attribute y string\n@data\n{rows}\n")
        case _:
            return frame
    return path


@pytest.mark.parametrize("kind", ["csv", "json", "parquet", "xlsx", "arff", "frame"])
@pytest.mark.parametrize("name", LABELS)
def test_two_labels_are_never_one(name, kind, tmp_path):
    data = load(in_file(table(list(LABELS[name])), kind, tmp_path), target="y")
    assert set(data.classes) == set(LABELS[name])
    assert set(data.given) == set(LABELS[name])


@pytest.mark.parametrize("kind", ["json", "parquet", "frame", "numpy"])
@pytest.mark.parametrize("name", NUMBERS)
def test_two_whole_numbers_are_never_one(name, kind, tmp_path):
    frame = table(list(NUMBERS[name]))
    if kind == "numpy":
        y = np.array(frame["y"].tolist(), dtype=np.uint64)
        data = load(frame[["a"]].to_numpy(), y)
    else:
        data = load(in_file(frame, kind, tmp_path), target="y")
    assert set(data.classes) == set(LABELS[name])


def test_numbers_that_no_float_tells_apart_are_refused_rather_than_merged(tmp_path):
    labels = ["1.00000000000000000001", "1.00000000000000000002"]
    for kind in ("csv", "json", "frame"):
        with pytest.raises(InputError, match="nothing to learn"):
            load(in_file(table(labels), kind, tmp_path), target="y")


def test_what_is_the_same_label():
    """Spaces around text are none of it, and 1.0 is the number 1; as text beside other text they differ."""
    assert load(table([" a", "a"]).assign(y=[" a", "a", "b", "b "] * 10), target="y").classes == ("a", "b")
    assert load(table([1, 1.0]).assign(y=[1, 1.0, 2, 2.0] * 10), target="y").classes == ("1", "2")
    assert load(table(["1", "1.0"]).assign(y=["1", "1.0", "x", "x"] * 10), target="y").classes == (
        "1",
        "1.0",
        "x",
    )


def test_huge_decimals_of_a_database_are_told_apart(tmp_path):
    labels = [Decimal("9007199254740993"), Decimal("9007199254740992")]
    frame = table(labels)
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    assert set(load(path, target="y").classes) == {"9007199254740992", "9007199254740993"}
    assert set(load(frame, target="y").classes) == {"9007199254740992", "9007199254740993"}
