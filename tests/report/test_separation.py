"""The separation as a page, a screenful, a table and a folder."""

import csv
import io
import json
import math
import re
from dataclasses import asdict, replace
from html.parser import HTMLParser
from importlib import resources
from itertools import pairwise

import plotly.graph_objects as go
import pytest
from rich.console import Console

from widenet.report.separation_charts import separation_charts
from widenet.report.separation_folder import SEPARATION_FILES, separation_csv, write_separation
from widenet.report.separation_page import separation_page
from widenet.report.separation_terminal import print_separation
from widenet.separation import SeparationSettings
from widenet.separation.result import KernelCurve, NetworkPoint, SeparationResult
from widenet.separation.verdict import verdict
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
    told = SeparationResult(
        schema="widenet/separation/1",
        version="0.1.0",
        settings=asdict(SETTINGS),
        class_size=220,
        unlearned=0.25,
        sizes=SIZES,
        floor=floor,
        kernels=curves,
        network=points,
        subsets=((0, 4, 7), (2, 3, 11)),
        verdict=(),
        forecast=100.0,
        seconds=150.0,
    )
    return replace(told, verdict=verdict(told))


class Outline(HTMLParser):
    """Elements and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text, self.inside = "", ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside not in ("style", "script"):
            self.text += data


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


def screen(result) -> str:
    console = Console(file=io.StringIO(), width=80, color_system=None)
    print_separation(result, console)
    return console.file.getvalue()


def test_the_chart_is_plotlys_and_coloured_by_the_style_sheet(result):
    css = resources.files("widenet.report").joinpath("page.css").read_text()
    (chart,) = separation_charts(result).values()
    assert len(go.Figure(uncoloured(chart.spec)).data) == len(chart.spec["data"]) == 6
    assert colours(chart.spec) <= set(re.findall(r"--([a-z-]+):", css))


def test_the_chart_shows_errors_in_units_of_alpha_squared(result):
    traces = separation_charts(result)["separation"].spec["data"]
    bound = next(trace for trace in traces if trace.get("name") == "bound for every kernel")
    assert (bound["x"], bound["y"]) == ([0, 220, 240], [1.0, 0.0, 0.0])
    network = next(trace for trace in traces if trace.get("name") == "trained ResNet")
    assert network["x"] == list(SIZES)
    assert network["y"] == pytest.approx([0.8, 0.008, 0.002])
    legend = [trace["name"] for trace in traces if trace.get("showlegend", True)]
    assert legend == [
        "bound for every kernel",
        "kernels, best weights",
        "kernel made for the class",
        "trained ResNet",
    ]


def test_page_tells_everything(result):
    outline = Outline(separation_page(result))
    for told in (*result.verdict, "relu3-all", "220 functions", "{1, 5, 8}", "Bessel", "0.008 α²", "0.545"):
        assert told in outline.text
    levels = [int(tag[1]) for tag, _ in outline.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    identifiers = {attributes.get("id") for _, attributes in outline.elements}
    links = {attributes["href"] for tag, attributes in outline.elements if tag == "a"}
    assert {link.removeprefix("#") for link in links} <= identifiers


def test_a_network_that_diverged_is_told():
    result = make_result([0.2, math.inf, 0.001])
    assert "diverged" in Outline(separation_page(result)).text
    assert "diverged" in screen(result)
    network = separation_charts(result)["separation"].spec["data"][-1]
    assert network["y"][1] is None
    assert json.loads(json.dumps(network["y"]))[1] is None


def test_the_screen_fits_80_columns(result):
    lines = screen(result).splitlines()
    assert max(map(len, lines)) <= 80
    row = next(line for line in lines if line.split()[:1] == ["100"])
    assert row.split() == ["100", "0.008", "0.545", "0.585", "parities"]


def test_table_has_a_line_for_each_number_of_samples(result):
    rows = list(csv.DictReader(io.StringIO(separation_csv(result))))
    assert [int(row["samples"]) for row in rows] == list(SIZES)
    assert float(rows[1]["network"]) == result.network[1].error
    assert float(rows[1]["bound"]) == result.floor[1]
    assert float(rows[2]["gaussian:h=2"]) == result.kernels[1].errors[2]


def test_folder_is_whole(result, tmp_path):
    write_separation(tmp_path / "out", result, result.settings, force=False)
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(SEPARATION_FILES)
    record = json.loads((tmp_path / "out" / "result.json").read_text())
    assert record["network"][1]["error"] == pytest.approx(0.002)
