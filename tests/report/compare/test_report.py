"""A comparison as a page, a screenful, a table and a folder."""

import csv
import io
import json
from dataclasses import replace

import pytest

from widenet.report import compare as room
from widenet.report.compare import FILES, page, record, screen, sentences
from widenet.report.compare.charts import compare_charts
from widenet.report.compare.files import table_csv
from widenet.report.compare.page import _tiles
from widenet.report.compare.sentences import choice_text, method_cells, p_text, time_text
from widenet.report.parts.publish import CONFIG_FILE, PAGE_FILE, RESULT_FILE, publish

HOSTILE = "</script><img src=x onerror=alert(1)> [bold]"


def test_charts_are_plotlys_and_coloured_by_the_style_sheet(result, check_charts):
    charts = compare_charts(result)
    assert set(charts) == {"errors", "differences", "importances"}
    check_charts(charts.values())


def test_the_best_is_at_the_top_with_its_interval_beside_the_constant(result):
    chart = compare_charts(result)["errors"].spec
    assert chart["layout"]["yaxis"]["ticktext"] == [
        "relu3-bias-all",
        "random-features",
        "3resnet-hidden",
        "forest",
    ]
    kernels = next(trace for trace in chart["data"] if trace.get("name") == "kernels")
    assert kernels["y"] == [0, 1]
    assert kernels["x"][0] == pytest.approx(0.013)
    assert kernels["error_x"]["array"][0] == pytest.approx(result.methods[0].high - 0.013)
    constant = next(trace for trace in chart["data"] if trace.get("name") == "best constant")
    assert constant["x"] == [0.5, 0.5]
    assert chart["layout"]["xaxis"]["type"] == "log"


def test_page_tells_everything(result, outline_of):
    outline = outline_of(page(result))
    facts = ("relu3-bias-all", "3resnet-hidden", "rate = 0.2", "4 of 4 folds", "50.0 s")
    for told in (*sentences(result), *facts):
        assert told in outline.text
    outline.check_structure()
    outline.check_offline()


def test_hostile_names_stay_text(outline_of, screen_of, compared):
    told = page(compared(name=HOSTILE))
    assert HOSTILE not in told
    assert HOSTILE in outline_of(told).text
    assert not outline_of(told).tags("img")
    assert HOSTILE in screen_of(screen, compared(name=HOSTILE))


def test_failures_are_shown(outline_of, screen_of, compared):
    result = compared(failing=True)
    text = outline_of(page(result)).text
    assert "1 fit that failed" in text
    assert "it went wrong" in text
    assert "failed" in next(
        line for line in screen_of(screen, result).splitlines() if line.startswith("forest")
    )
    assert table_csv(result).splitlines()[-1].startswith("forest,baseline,,,,,,")


def test_an_error_of_zero_has_its_p(outline_of, compared):
    result = compared()
    worst = replace(result.methods[-1], error=0.0)
    text = outline_of(page(replace(result, methods=(*result.methods[:-1], worst)))).text
    assert text.count("p < 0.0001") + text.count("p = 0.") >= len(result.methods) - 1
    tests = [replace(test, adjusted=0.03) for test in result.significance.against_best]
    significance = replace(result.significance, against_best=tuple(tests))
    assert method_cells(replace(result, significance=significance), worst, p_text)[9] == "p = 0.03"


def test_tiles_show_the_champions(outline_of, compared):
    result = compared()
    network, kernel, baseline = result.significance.champions
    told = replace(
        kernel, error=0.4321, chosen=("random-features", "relu3-bias-all", "relu3-bias-all", "relu3-bias-all")
    )
    significance = replace(result.significance, champions=(network, told, baseline))
    tiles = outline_of(str(_tiles(replace(result, significance=significance)))).text
    assert "Kernels43.21%champions, most often relu3-bias-all" in tiles
    assert "champions, 3resnet-hidden" in tiles


def test_the_screen_fits_80_columns(result, screen_of):
    lines = screen_of(screen, result).splitlines()
    assert lines == screen_of(screen, result, width=200).splitlines()  # nothing is folded to fit
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 40
    names = [method.name for method in result.methods]
    table = [line.split()[0] for line in lines if line and line.split()[0] in names]
    assert table == names
    assert any(line.startswith("best constant") for line in lines)


def test_table_has_a_line_for_each_method(result):
    rows = list(csv.DictReader(io.StringIO(table_csv(result))))
    assert [row["method"] for row in rows] == [method.name for method in result.methods]
    assert float(rows[1]["error"]) == result.methods[1].error
    assert json.loads(rows[0]["best"]) == {"rate": 0.2, "features": "relu"}
    assert rows[0]["p"] == ""
    assert {float(row["constant"]) for row in rows} == {result.constant.error}
    assert float(rows[1]["low"]) < float(rows[1]["error"]) < float(rows[1]["high"])
    assert float(rows[1]["p"]) == result.significance.against_best[0].adjusted


def test_folder_is_whole(result, tmp_path):
    publish(room, result, tmp_path / "out", {"data": "digits"}, force=False)
    names = {PAGE_FILE, RESULT_FILE, CONFIG_FILE, *FILES}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names
    written = json.loads((tmp_path / "out" / RESULT_FILE).read_text())
    assert written["methods"][0]["name"] == result.best


def test_record_has_its_sentences_and_seconds(result):
    found = record(result)
    assert found["verdict"] == list(sentences(result))
    assert found["significance"]["test"].startswith("Corrected resampled t-test")
    assert found["constant"]["error"] == result.constant.error
    assert found["forecast"] == 100.0
    assert found["protocol"]["measure"] == result.protocol.measure.value
    assert json.loads(json.dumps(found)) == found


def test_words():
    assert choice_text({}) == "nothing to choose"
    assert (
        choice_text({"h": 0.2, "ridge": 1e-5, "features": "relu"})
        == "h = 0.2, ridge = 1e-05, features = relu"
    )
    assert time_text(3.21) == "3.2 s"
    assert time_text(600) == "10.0 min"


def test_browser_draws_the_charts(browse, compared):
    assert len(browse(page(replace(compared(), seconds=1.0))).drawn) >= 2
