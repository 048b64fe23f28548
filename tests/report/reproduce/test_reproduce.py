"""Pages, drawings, tables and sentences of figures, and the gallery."""

import csv
import io
import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from widenet.papers.curve import Curve, Point, series
from widenet.papers.result import FailedTrial, GalleryResult, MissingFigure
from widenet.papers.run import run_figure
from widenet.report import reproduce as room
from widenet.report.reproduce.charts import figure_chart
from widenet.report.reproduce.drawing import as_pdf, as_png, drawn
from widenet.report.reproduce.styles import colour_places

TOYS = Path(__file__).parents[2] / "papers"


@pytest.fixture
def result(monkeypatch):
    monkeypatch.syspath_prepend(TOYS)
    import toy

    monkeypatch.setitem(sys.modules, "toy", toy)
    return run_figure(toy.TOY)


@pytest.fixture
def chosen(result):
    """A curve that was chosen on test rows, at the edge of its grid, and diverged for one seed."""
    rates = ({"rate": 0.1}, {"rate": 0.2})
    numbers = ((0.5, math.inf), (0.7, math.inf), (0.6, 0.9), (0.6, 0.9))
    point = Point(3.0, *numbers, chosen=rates, at_edge=("rate",))
    return replace(result, curves=(*result.curves, Curve("net <b>", (point,), on_right=True)))


def test_drawings_are_the_same_bytes_for_the_same_figure(result):
    assert as_png(drawn(result)) == as_png(drawn(result))
    assert as_pdf(drawn(result)) == as_pdf(drawn(result))
    assert as_png(drawn(result)).startswith(b"\x89PNG")
    assert as_pdf(drawn(result)).startswith(b"%PDF")


def test_a_curve_without_a_number_says_so(result):
    nothing = series("found by nobody", [1.0, 2.0], [[math.nan, math.inf]])
    more = replace(result, curves=(*result.curves, nothing))
    (names,) = ([text.get_text() for text in legend.get_texts()] for legend in drawn(more).legends)
    assert names[-1] == "found by nobody: none"
    assert figure_chart(more).spec["data"][-1]["name"] == "found by nobody: none"
    assert all("none" not in name for name in names[:-1])


def test_names_are_escaped_and_divergence_is_drawn(chosen):
    page = room.page(chosen)
    assert "net <b>" not in page
    assert "net &lt;b&gt;" in page
    assert as_png(drawn(chosen))


def test_every_number_is_in_the_table(chosen):
    rows = list(csv.DictReader(io.StringIO(room.files(chosen)["data.csv"])))
    assert [row["seed"] for row in rows] == ["0", "1"] * 3
    assert rows[-2] | {"curve": ""} == {
        "curve": "",
        "x": "3.0",
        "seed": "0",
        "best": "0.5",
        "last": "0.7",
        "validated": "0.6",
        "chosen": "rate=0.1",
        "at_edge": "rate",
    }
    assert rows[-1]["best"] == "inf"


def test_choices_edges_and_failures_are_told(chosen):
    failed = replace(chosen, failures=(FailedTrial({}, "It was bad."),))
    told = " ".join(room.sentences(failed))
    assert "chosen on the test rows" in told
    assert "at the edge of its grid for net <b> (rate)" in told
    assert "1 trial failed; the first: It was bad." in told
    assert "chosen on the test rows" not in " ".join(
        room.sentences(replace(chosen, curves=chosen.curves[:1]))
    )


def test_a_gallery_has_every_figure_and_what_is_missing(result):
    missing = MissingFigure(result.paper, "lost", "Lost", "There is no <i>.")
    gallery = GalleryResult(scale="quick", figures=(result,), missing=(missing,), seconds=1.0)
    page = room.gallery_page(gallery)
    assert page.count("data:image/png;base64,") == 1
    assert "There is no &lt;i&gt;." in page
    assert "resnet-beyond-kernels/toy/figure.html" in page
    assert len(page) < 10**6  # plotly alone is more
    assert room.gallery_record(gallery)["figures"][0]["claims"][0]["verdict"] == "held"


@pytest.mark.parametrize("width", [30, 80, 200])
def test_screens_are_no_wider_than_the_terminal(chosen, width):
    console = Console(width=width, record=True, file=io.StringIO())
    room.screen(chosen, console)
    room.gallery_screen(GalleryResult(scale="quick", figures=(chosen,), missing=(), seconds=1.0), console)
    assert max(map(len, console.export_text().splitlines())) <= max(width, 40)


def test_limits_look_like_what_they_are_limits_of():
    def curve(name, style="line"):
        return Curve(name, (), style)

    curves = (curve("a"), curve("b"), curve("b, m = ∞", "dashed"), curve("c", "dashed"), curve("b, too"))
    assert colour_places(curves) == [0, 1, 1, 3, 4]


def test_a_limit_of_another_way_to_a_curve_is_dotted(result):
    line = series("a", [1.0, 2.0], [[1.0, 2.0]])
    more = replace(result, curves=(line, replace(line, name="a, m = ∞", style="dotted")))
    solid, dotted = drawn(more).axes[0].lines
    assert (solid.get_color(), solid.get_linestyle()) == (dotted.get_color(), "-")
    assert (dotted.get_linestyle(), dotted.get_markerfacecolor()) == (":", "white")
    solid, dotted = figure_chart(more).spec["data"]
    assert (dotted["line"]["dash"], dotted["marker"]["symbol"]) == (
        "dot",
        f"{solid['marker']['symbol']}-open",
    )


def test_a_legend_has_whole_names(result):
    name = "worst-case labels, η = 0.0003, predicted"
    named = replace(result, curves=(series(name, [1.0], [[1.0]]),))
    assert [trace["name"] for trace in figure_chart(named).spec["data"]] == [name]


@pytest.mark.parametrize(
    ("highest", "dtick", "ticks"),
    [
        (3.0, "D1", [1, 2, 3]),
        (30.0, "D2", [1, 2, 5, 10, 20]),
        (30_000.0, "D2", [1, 10, 100, 1000, 10_000]),
    ],
)
def test_narrow_axes_have_ticks_to_read_a_number_from(result, highest, dtick, ticks):
    axes = replace(result.axes, log_y=True, right="")
    curve = series("a", [1.0, 2.0], [[1.0, highest]])
    narrow = replace(result, curves=(curve,), axes=axes)
    (plot,) = drawn(narrow).axes
    low, high = plot.get_ylim()
    assert [tick for tick in plot.get_yticks() if low <= tick <= high] == pytest.approx(ticks)
    assert figure_chart(narrow).spec["layout"]["yaxis"]["dtick"] == dtick


def test_numbers_are_told_and_not_drawn(result):
    hidden = series("share", [1.0], [[0.25], [0.5]], "numbers")
    more = replace(result, curves=(*result.curves, hidden))
    assert more.drawn_curves == result.curves
    assert "share" in room.files(more)["data.csv"]
    assert len(figure_chart(more).spec["data"]) == len(result.curves)
    assert as_png(drawn(more)) == as_png(drawn(result))
