"""A comparison as a page, a screenful, a table and a folder."""

import base64
import csv
import hashlib
import io
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources
from itertools import pairwise

import plotly.graph_objects as go
import pytest
from rich.console import Console

from widenet.compare.result import (
    ComparisonResult,
    DataSummary,
    Protocol,
)
from widenet.compare.summary import significance_of, summarise
from widenet.compare.trials import Outcome
from widenet.compare.tuning import Family
from widenet.compare.verdict import verdict
from widenet.report.compare_charts import compare_charts
from widenet.report.compare_folder import COMPARE_FILES, table_csv, write_comparison
from widenet.report.compare_page import _method_row, _tiles, compare_page
from widenet.report.compare_terminal import print_comparison
from widenet.report.compare_words import setting_text, time_text

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
HOSTILE = "</script><img src=x onerror=alert(1)> [bold]"
ERRORS: dict[str, tuple[Family, list[float]]] = {
    "3resnet-hidden": ("network", [0.031, 0.042, 0.035, 0.027]),
    "relu3-all": ("kernel", [0.012, 0.011, 0.013, 0.016]),
    "random-features": ("kernel", [0.02, 0.025, 0.022, 0.019]),
    "forest": ("baseline", [0.21, 0.24, 0.22, 0.23]),
}


class Named:
    """Just enough of a method to be summarised."""

    def __init__(self, name: str, family: Family) -> None:
        self.name, self.family = name, family


@pytest.fixture(params=["misclassified", "squared error"])
def result(request) -> ComparisonResult:
    return make_result(request.param)


def make_result(measure: str = "misclassified", name: str = "digits", failing: bool = False):
    methods = [Named(each, family) for each, (family, _) in ERRORS.items()]
    setting = {"rate": 0.2, "features": "relu"}
    trials = {
        each: [Outcome(error, error, setting, 12.5) for error in errors]
        for each, (_, errors) in ERRORS.items()
    }
    if failing:
        trials["forest"][2] = Outcome(None, None, None, 1.0, "forest failed: it went wrong.")
    results = summarise(methods, trials)
    significance = significance_of(results, 1 / 3)
    classes = ("a", "b") if measure == "misclassified" else ()
    return ComparisonResult(
        schema="widenet/compare/1",
        version="0.1.0",
        data=DataSummary(name, 100, 7, 1, classes, (50, 50)[: len(classes)], "binary", "unit", ("Read it.",)),
        protocol=Protocol(measure, 0.5, 4, 1, 75, 25, 256, 80, 0),
        methods=results,
        best=results[0].name,
        significance=significance,
        verdict=verdict(results, significance, measure, 0.5),
        forecast=100.0,
        seconds=150.0,
    )


class Outline(HTMLParser):
    """Elements, text and scripts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text, self.inside = "", ""
        self.scripts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts.append(data)
        elif self.inside != "style":
            self.text += data

    def tags(self, name):
        return [attributes for tag, attributes in self.elements if tag == name]


def colours(spec, key=""):
    if isinstance(spec, dict):
        return {name for inner, value in spec.items() for name in colours(value, inner)}
    if isinstance(spec, list):
        return {name for value in spec for name in colours(value, key)}
    return {spec} if key.endswith("color") else set()


def uncoloured(spec):
    if isinstance(spec, dict):
        return {key: uncoloured(value) for key, value in spec.items() if not key.endswith("color")}
    return [uncoloured(value) for value in spec] if isinstance(spec, list) else spec


def test_charts_are_plotlys_and_coloured_by_the_style_sheet(result):
    css = resources.files("widenet.report").joinpath("page.css").read_text()
    charts = compare_charts(result)
    assert set(charts) == {"errors", "differences"}
    for chart in charts.values():
        assert len(go.Figure(uncoloured(chart.spec)).data) > 0
        assert colours(chart.spec) <= set(re.findall(r"--([a-z-]+):", css))


def test_the_best_is_at_the_top_with_its_spread(result):
    chart = compare_charts(result)["errors"].spec
    assert chart["layout"]["yaxis"]["ticktext"] == [
        "relu3-all",
        "random-features",
        "3resnet-hidden",
        "forest",
    ]
    kernels = next(trace for trace in chart["data"] if trace.get("name") == "kernels")
    assert kernels["y"] == [0, 1]
    assert kernels["x"][0] == pytest.approx(0.013)
    assert kernels["error_x"]["array"][0] == pytest.approx(result.methods[0].std)
    assert chart["layout"]["xaxis"]["type"] == "log"


def test_page_tells_everything(result):
    outline = Outline(compare_page(result))
    for told in (*result.verdict, "relu3-all", "3resnet-hidden", "rate = 0.2", "4 of 4 folds", "50.0 s"):
        assert told in outline.text
    levels = [int(tag[1]) for tag, _ in outline.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    identifiers = {attributes.get("id") for _, attributes in outline.elements}
    assert {link["href"].removeprefix("#") for link in outline.tags("a")} <= identifiers


def test_page_is_offline_and_only_its_own_scripts_may_run(result):
    page = compare_page(result)
    outline = Outline(page)
    assert len(page.encode()) < 7_000_000
    assert not outline.tags("link")
    policy = next(m["content"] for m in outline.tags("meta") if m.get("http-equiv"))
    run = [script for script in outline.scripts if "Plotly" in script]
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in run]
    assert re.findall(r"'sha256-(.*?)'", policy) == digests


def test_hostile_names_stay_text():
    page = compare_page(make_result(name=HOSTILE))
    assert HOSTILE not in page
    assert HOSTILE in Outline(page).text
    assert not Outline(page).tags("img")
    assert HOSTILE in screen(make_result(name=HOSTILE))


def test_failures_are_shown():
    result = make_result(failing=True)
    text = Outline(compare_page(result)).text
    assert "1 fit that failed" in text
    assert "it went wrong" in text
    assert "failed" in next(line for line in screen(result).splitlines() if line.startswith("forest"))
    assert table_csv(result).splitlines()[-1].startswith("forest,baseline,,,,,,")


def test_an_error_of_zero_has_its_p():
    result = make_result()
    worst = replace(result.methods[-1], error=0.0)
    text = Outline(compare_page(replace(result, methods=(*result.methods[:-1], worst)))).text
    assert text.count("p < 0.0001") + text.count("p = 0.") >= len(result.methods) - 1
    row = _method_row(result, worst, {"forest": 0.03})
    assert row[6] == "p = 0.03"


def test_tiles_show_the_champions():
    result = make_result()
    network, kernel, baseline = result.significance.champions
    told = replace(kernel, error=0.4321, chosen=("random-features", "relu3-all", "relu3-all", "relu3-all"))
    significance = replace(result.significance, champions=(network, told, baseline))
    tiles = Outline(str(_tiles(replace(result, significance=significance)))).text
    assert "Kernels43.21%champions, most often relu3-all" in tiles
    assert "champions, 3resnet-hidden" in tiles


def screen(result, width=80) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    print_comparison(result, console)
    return console.file.getvalue()


def test_the_screen_fits_80_columns(result):
    lines = screen(result).splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 40
    table = [line.split()[0] for line in lines if line.startswith(tuple(ERRORS))]
    assert table == [method.name for method in result.methods]


def test_table_has_a_line_for_each_method(result):
    rows = list(csv.DictReader(io.StringIO(table_csv(result))))
    assert [row["method"] for row in rows] == [method.name for method in result.methods]
    assert float(rows[1]["error"]) == result.methods[1].error
    assert json.loads(rows[0]["best"]) == {"rate": 0.2, "features": "relu"}
    assert rows[0]["p"] == ""
    assert float(rows[1]["p"]) == result.significance.against_best[0].adjusted


def test_folder_is_whole(result, tmp_path):
    write_comparison(tmp_path / "out", result, {"data": "digits"}, force=False)
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(COMPARE_FILES)
    record = json.loads((tmp_path / "out" / "result.json").read_text())
    assert record["methods"][0]["name"] == result.best


def test_words():
    assert setting_text({}) == "nothing to choose"
    assert (
        setting_text({"h": 0.2, "ridge": 1e-5, "features": "relu"})
        == "h = 0.2, ridge = 1e-05, features = relu"
    )
    assert time_text(3.21) == "3.2 s"
    assert time_text(600) == "10.0 min"


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_browser_draws_the_charts(tmp_path):
    page = tmp_path / "report.html"
    page.write_text(compare_page(replace(make_result(), seconds=1.0)))
    flags = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --virtual-time-budget=5000 --enable-logging=stderr "
        "--dump-dom"
    )
    command = [CHROMIUM, *flags.split(), f"--user-data-dir={tmp_path / 'profile'}", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    drawn = [a for a in Outline(done.stdout).tags("svg") if "main-svg" in (a.get("class") or "")]
    assert len(drawn) >= 2
    assert "CONSOLE" not in done.stderr
