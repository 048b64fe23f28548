"""A comparison as a page, a screenful, a table and a folder."""

import csv
import io
import json
from dataclasses import replace

import pytest

from widenet.compare.result import (
    ComparisonResult,
    DataSummary,
    Protocol,
)
from widenet.compare.summary import significance_of, summarise
from widenet.compare.trials import Outcome
from widenet.compare.tuning import Family
from widenet.report.compare.charts import compare_charts
from widenet.report.compare.files import COMPARE_FILES, table_csv, write_comparison
from widenet.report.compare.page import _method_row, _tiles, compare_page
from widenet.report.compare.screen import print_comparison
from widenet.report.compare.sentences import setting_text, time_text
from widenet.report.compare.verdict import verdict

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


def test_charts_are_plotlys_and_coloured_by_the_style_sheet(result, check_charts):
    charts = compare_charts(result)
    assert set(charts) == {"errors", "differences"}
    check_charts(charts.values())


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


def test_page_tells_everything(result, outline_of):
    outline = outline_of(compare_page(result))
    for told in (*result.verdict, "relu3-all", "3resnet-hidden", "rate = 0.2", "4 of 4 folds", "50.0 s"):
        assert told in outline.text
    outline.check_structure()
    outline.check_offline()


def test_hostile_names_stay_text(outline_of, screen_of):
    page = compare_page(make_result(name=HOSTILE))
    assert HOSTILE not in page
    assert HOSTILE in outline_of(page).text
    assert not outline_of(page).tags("img")
    assert HOSTILE in screen_of(print_comparison, make_result(name=HOSTILE))


def test_failures_are_shown(outline_of, screen_of):
    result = make_result(failing=True)
    text = outline_of(compare_page(result)).text
    assert "1 fit that failed" in text
    assert "it went wrong" in text
    assert "failed" in next(
        line for line in screen_of(print_comparison, result).splitlines() if line.startswith("forest")
    )
    assert table_csv(result).splitlines()[-1].startswith("forest,baseline,,,,,,")


def test_an_error_of_zero_has_its_p(outline_of):
    result = make_result()
    worst = replace(result.methods[-1], error=0.0)
    text = outline_of(compare_page(replace(result, methods=(*result.methods[:-1], worst)))).text
    assert text.count("p < 0.0001") + text.count("p = 0.") >= len(result.methods) - 1
    row = _method_row(result, worst, {"forest": 0.03})
    assert row[6] == "p = 0.03"


def test_tiles_show_the_champions(outline_of):
    result = make_result()
    network, kernel, baseline = result.significance.champions
    told = replace(kernel, error=0.4321, chosen=("random-features", "relu3-all", "relu3-all", "relu3-all"))
    significance = replace(result.significance, champions=(network, told, baseline))
    tiles = outline_of(str(_tiles(replace(result, significance=significance)))).text
    assert "Kernels43.21%champions, most often relu3-all" in tiles
    assert "champions, 3resnet-hidden" in tiles


def test_the_screen_fits_80_columns(result, screen_of):
    lines = screen_of(print_comparison, result).splitlines()
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


def test_browser_draws_the_charts(browse):
    assert len(browse(compare_page(replace(make_result(), seconds=1.0))).drawn) >= 2
