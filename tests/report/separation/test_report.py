"""The separation as a page, a screenful, a table and a folder."""

import csv
import io
import json
import math
from dataclasses import asdict, replace

import numpy as np
import pytest

from widenet.papers.resnet_beyond_kernels.separation.result import KernelCurve, NetworkPoint, SeparationResult
from widenet.papers.resnet_beyond_kernels.separation.settings import SeparationSettings
from widenet.report import separation as room
from widenet.report.parts.publish import all_files, publish
from widenet.report.separation import files, page, record, screen, sentences
from widenet.report.separation.charts import separation_charts
from widenet.study.forecast import Forecast
from widenet.theory.resnet_beyond_kernels.lower_bound import kernel_floor

SIZES = (40, 100, 240)
SETTINGS = SeparationSettings(sizes=SIZES, members=2)


@pytest.fixture
def result() -> SeparationResult:
    return make_result([0.2, 0.002, 0.0005])


def make_result(errors: list[float]) -> SeparationResult:
    floor = tuple(kernel_floor(size, 12, 3, 0.5) for size in SIZES)
    points = tuple(
        NetworkPoint(size, 0.1, 0.005, error, (0.5 * error, 1.5 * error))
        for size, error in zip(SIZES, errors, strict=True)
    )
    curves = tuple(
        KernelCurve(name, tuple(above + each for each in floor), tuple(above / 2 + each for each in floor))
        for name, above in (("relu3-all", 0.05), ("gaussian:h=2", 0.03), ("parities", 0.01))
    )
    return SeparationResult(
        version="0.1.0",
        settings=SETTINGS,
        class_size=220,
        unlearned=0.25,
        sizes=SIZES,
        floor=floor,
        kernels=curves,
        network=points,
        subsets=((0, 4, 7), (2, 3, 11)),
        tuning_subsets=((1, 2, 9),),
        forecast=Forecast(100.0),
        seconds=150.0,
    )


def test_the_chart_is_plotlys_and_coloured_by_the_style_sheet(result, check_charts):
    (chart,) = separation_charts(result).values()
    assert len(chart.spec["data"]) == 6
    check_charts([chart])


def test_the_chart_shows_errors_in_units_of_alpha_squared(result):
    traces = separation_charts(result)["separation"].spec["data"]
    bound = next(trace for trace in traces if trace.get("name") == "bound for kernels, on average")
    assert (bound["x"], bound["y"]) == ([0, 220, 240], [1.0, 0.0, 0.0])
    network = next(trace for trace in traces if trace.get("name") == "trained ResNet")
    assert network["x"] == list(SIZES)
    assert network["y"] == pytest.approx([0.8, 0.008, 0.002])
    legend = [trace["name"] for trace in traces if trace.get("showlegend", True)]
    assert legend == [
        "bound for kernels, on average",
        "kernels, best weights",
        "kernel made for the class",
        "trained ResNet",
    ]


def test_page_tells_everything(result, outline_of):
    outline = outline_of(page(result))
    for told in (
        *sentences(result),
        "relu3-all",
        "220 functions",
        "{1, 5, 8}, {3, 4, 12}",
        "{2, 3, 10}",
        "Bessel",
        "0.008 α²",
        "0.545",
    ):
        assert told in outline.text
    outline.check_structure()
    outline.check_offline()


def test_the_bound_is_told_with_its_conditions_and_the_network_with_its_spread(result, outline_of, screen_of):
    first, second, *_ = sentences(result)
    assert "0.008 α² over 2 functions of the class, with a standard deviation of 0.006 α²" in first
    assert "(0.004 α² to 0.01 α²)" in first
    assert "kernel is fixed before the labels has at least 0.54 α², on average over the class." in first
    assert "any kernel fixed before the labels needs at least" in second
    for text in (outline_of(page(result)).text, screen_of(screen, result), json.dumps(record(result))):
        told = " ".join(text.split()).lower()
        assert told.count("no kernel") == told.count("no kernel fixed before the labels")
        assert "fixed before the labels" in told
        assert "on average over the class" in told


def test_functions_above_the_bound_are_counted(result):
    point = replace(result.network[1], errors=(0.0, 0.2))
    found = replace(result, network=(result.network[0], point, result.network[2]))
    assert "; on 1 of them it is above the bound" in sentences(found)[0]
    assert "above the bound" not in sentences(result)[0]


def test_a_single_function_has_no_spread(result, outline_of):
    network = tuple(replace(point, errors=(point.error,)) for point in result.network)
    found = replace(result, network=network)
    assert found.network[0].std is None
    assert "over 1 function of the class. A kernel" in sentences(found)[0]
    outline_of(page(found)).check_structure()
    assert record(found)["network"][0]["std"] is None


def test_a_network_that_diverged_is_told(outline_of, screen_of):
    result = make_result([0.2, math.inf, 0.001])
    assert "diverged" in outline_of(page(result)).text
    assert "diverged" in screen_of(screen, result)
    network = separation_charts(result)["separation"].spec["data"][-1]
    assert network["y"][1] is None
    assert json.loads(json.dumps(network["y"]))[1] is None


def test_networks_whose_training_failed_are_counted(result, outline_of):
    assert "next best setting" not in outline_of(page(result)).text
    network = tuple(replace(point, num_replaced=2) for point in result.network)
    text = outline_of(page(replace(result, network=network))).text
    assert "the training of 6 networks failed" in text


def test_the_screen_fits_80_columns(result, screen_of):
    lines = screen_of(screen, result).splitlines()
    assert max(map(len, lines)) <= 80
    row = next(line for line in lines if line.split()[:1] == ["100"])
    assert row.split() == ["100", "0.008", "0.004–0.012", "0.545", "0.585", "parities"]


def test_a_narrow_screen_keeps_every_number(result, screen_of):
    long = replace(result.kernels[-1], name="polynomial:degree=3,offset=1")
    lines = screen_of(screen, replace(result, kernels=(long,)), width=50).splitlines()
    assert max(map(len, lines)) <= 50
    row = next(line for line in lines if line.split()[:1] == ["100"])
    assert row.split()[:5] == ["100", "0.008", "0.004–0.012", "0.545", "0.585"]
    assert row.endswith("…")


def test_browser_draws_the_chart(result, browse):
    assert browse(page(result)).drawn


def test_table_has_a_line_for_each_number_of_samples(result):
    rows = list(csv.DictReader(io.StringIO(files(result)["table.csv"])))
    assert [int(row["samples"]) for row in rows] == list(SIZES)
    assert float(rows[1]["network"]) == result.network[1].error
    assert float(rows[1]["bound"]) == result.floor[1]
    assert float(rows[1]["network std"]) == result.network[1].std
    assert float(rows[1]["network highest"]) == 1.5 * 0.002
    assert float(rows[2]["gaussian:h=2"]) == result.kernels[1].errors[2]


def test_folder_is_whole(result, tmp_path):
    publish(room, result, tmp_path / "out", asdict(result.settings), force=False)
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(all_files(room))
    found = json.loads((tmp_path / "out" / "result.json").read_text())
    assert found["network"][1]["error"] == pytest.approx(0.002)
    assert found["network"][1]["std"] == pytest.approx(np.std([0.001, 0.003], ddof=1))
    assert (found["network"][1]["lowest"], found["network"][1]["highest"]) == (0.001, 0.003)
    assert found["verdict"] == record(result)["verdict"] == list(sentences(result))
    assert found["forecast"] == 100.0
