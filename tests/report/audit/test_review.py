"""The rows to look at, in a browser: sorted, filtered, decided about, downloaded."""

import csv
import io
import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import widenet
from widenet.report.audit.page import page
from widenet.report.audit.review import LARGEST_TABLE, cell_text, review_data, whole_table

AUDIT_PAGE = Path(__file__).parents[3] / "docs" / "audit.md"
DRIVER = """
addEventListener("load", () => {
  const shown = {};
  const order = () => [...document.querySelectorAll("#review tbody tr")]
    .filter((row) => !row.hidden).map((row) => Number(row.dataset.row));
  const decide = (number, choice) => {
    const select = document.querySelector(`tr[data-row="${number}"] select`);
    select.value = choice;
    select.dispatchEvent(new Event("change", { bubbles: true }));
  };
  shown.first = order().slice(0, 3);
  document.querySelectorAll("#review button[data-sort]")[3].click();
  shown.sorted = order().slice(0, 3);
  document.querySelectorAll("#review button[data-sort]")[1].click();
  shown.byGiven = order();
  document.getElementById("filter").value = "6.5 red";
  document.getElementById("filter").dispatchEvent(new Event("input"));
  shown.filtered = order();
  decide(1, "fix"); decide(2, "drop"); decide(3, "keep");
  shown.decided = document.getElementById("decided").textContent;
  HTMLAnchorElement.prototype.click = function () { shown.name = this.download; };
  URL.createObjectURL = (blob) => { shown.blob = blob; return "about:blank"; };
  document.getElementById("download").click();
  shown.blob.text().then((text) => {
    const told = document.createElement("pre");
    told.id = "told";
    told.textContent = JSON.stringify({ ...shown, text });
    document.body.append(told);
  });
});
"""


@pytest.fixture
def driven(browse):
    """What the driver saw of a page; it is no script of the page, whose policy would refuse it."""

    def drive(html):
        free = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
        outline = browse(free.replace("</body>", f"<script>{DRIVER}</script></body>"))
        return json.loads(unescape(re.search(r'<pre id="told">(.*?)</pre>', outline.page, re.DOTALL)[1]))

    return drive


def test_rows_are_sorted_filtered_and_corrected(result_of, driven):
    result = result_of("binary")
    seen = driven(page(result))
    assert seen["first"] == [1, 2, 3]
    assert seen["sorted"] == [60, 59, 58]  # the least score first
    assert seen["filtered"] == [52]
    assert seen["decided"] == "1 of 60 shown, 3 of 60 decided"
    assert seen["name"] == "animals-corrected.csv"
    head, *rows = csv.reader(io.StringIO(seen["text"]))
    assert head == ["height", "colour", "animal"]
    assert len(rows) == 59
    assert rows[0] == ["0.125", "red", "dog"]  # fixed
    assert rows[1] == ["0.375", "red", "cat"]  # the second was dropped, the third kept


def test_numbers_are_sorted_as_numbers(result_of, driven):
    result = result_of("regression")
    words = ("-2", "1.5e3", "0.25", "-10", "0.3")
    ranking = tuple(replace(each, given=word) for each, word in zip(result.ranking, words, strict=False))
    assert driven(page(replace(result, ranking=ranking, nearest={})))["byGiven"] == [4, 1, 3, 5, 2]


def test_every_cell_has_its_name_for_pages_too_narrow_for_a_table(result_of):
    html = page(result_of("binary"))
    (first,) = re.findall(r'<tr data-row="1".*?</tr>', html, re.DOTALL)
    names = ["row", "given", "others suggest", "score", "inputs", "nearest rows", "decision"]
    assert re.findall(r'<t[hd][^>]*data-name="([^"]*)"', first) == names


def test_charts_are_no_images_because_they_hold_buttons(result_of):
    roles = re.findall(r'class="plot" role="(\w+)"', page(result_of("binary")))
    assert set(roles) == {"group"}


def test_decisions_are_downloaded_where_there_is_no_table(result_of, driven):
    seen = driven(page(replace(result_of("binary"), cells=None)))
    assert seen["name"] == "animals-decisions.csv"
    assert list(csv.reader(io.StringIO(seen["text"]))) == [
        ["row", "given", "decision", "label"],
        ["3", "cat", "keep", "cat"],
        ["2", "cat", "drop", ""],
        ["1", "cat", "fix", "dog"],
    ]


def test_decisions_are_applied_as_the_page_of_the_audit_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my.csv").write_text("size,price\n1,10\n2,20\n3,30\n")
    Path("my-decisions.csv").write_text("row,given,decision,label\n1,10,fix,11\n2,20,drop,\n3,30,keep,30\n")
    (block,) = re.findall(r"```python\n(import pandas.*?)```", AUDIT_PAGE.read_text(), re.DOTALL)
    found = {}
    exec(block, found)
    assert found["table"].to_dict("list") == {"size": [1, 3], "price": [11, 30]}


def test_cells_are_written_as_people_write_them():
    values = (1.0, 1.5, "a,b", 9007199254740993, None, np.nan, pd.NA, pd.NaT, True)
    assert [cell_text(value) for value in values] == [
        "1",
        "1.5",
        "a,b",
        "9007199254740993",
        "",
        "",
        "",
        "",
        "True",
    ]


def test_a_table_that_is_too_large_stays_out_of_the_page(result_of):
    result = result_of("binary")
    assert len(whole_table(result)) == 61
    large = pd.DataFrame({"x": ["long" * 3000] * 60, "animal": ["cat"] * 60}, index=range(1, 61))
    assert 2 * large.size < LARGEST_TABLE
    assert whole_table(replace(result, cells=large)) is None
    assert review_data(replace(result, cells=large)) == {
        "name": "animals.csv",
        "target": "animal",
        "table": None,
        "lines": [],
        "raw": False,
    }


def test_a_row_without_a_target_is_written_without_one():
    kinds = np.where(np.arange(60) % 2, "sold", None)
    kinds[[4, 9]] = "sold", None
    frame = pd.DataFrame({"a": np.arange(60) % 2 + 0.1 * np.sin(np.arange(60)), "state": kinds})
    table = element_rows(page(widenet.audit(frame, target="state")))
    assert {(row["given"], row["suggested"]) for row in table} == {("sold", ""), ("", "sold")}


def element_rows(html):
    """What the rows of the table tell the script."""
    found = re.findall(r'<tr data-row="\d+" data-given="([^"]*)" data-suggested="([^"]*)"', html)
    return [{"given": given, "suggested": suggested} for given, suggested in found]
