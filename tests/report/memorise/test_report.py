"""A memorised data set in sentences, as a record, a page, a screenful and a folder."""

import json
from dataclasses import replace

import pytest

from widenet.memorise.conditions import Conditions
from widenet.memorise.methods.method import MethodPlan, Route
from widenet.memorise.result import LossCurve, MemoriseResult
from widenet.report import memorise as room
from widenet.report.memorise import on_the_way, page, screen, sentences
from widenet.report.memorise.charts import loss_chart
from widenet.report.memorise.sentences import small, statements
from widenet.report.parts.publish import all_files, publish
from widenet.spectrum.cholesky import EigenvalueBracket
from widenet.study.data import DataSummary
from widenet.study.forecast import Forecast
from widenet.study.result import Outcome

HOSTILE = "</script><img src=x onerror=alert(1)> [bold]"


CONDITIONS = Conditions(
    n=300,
    num_points=300,
    d=100,
    rank=100,
    most_two_layers=5050,
    sigma_two_layers=0.31,
    layers=2,
    k=100,
    k_theorem=36,
    power=None,
    most_points=5050,
    r=202,
    r_needed=202,
    num_parameters=20200,
    sigma_min=EigenvalueBracket(0.31, 0.29),
    certifiable=1e-8,
    mending_noise=None,
    rows_tried=0,
)
DATA = DataSummary("digits", 300, 100, 3, ("a", "b", "c"), (100,) * 3, "multiclass", "unit", ("Read it.",))


def make_result(name: str = "digits", **changes) -> MemoriseResult:
    steps = tuple(range(0, 500, 5))
    result = MemoriseResult(
        version="0.1.0",
        data=replace(DATA, name=name),
        noise=0.01,
        conditions=CONDITIONS,
        points=300,
        layers=2,
        k=100,
        r=202,
        power=None,
        parameters=20200,
        sigma_min=CONDITIONS.sigma_min,
        loss=3.2e-13,
        max_residual=4.5e-6,
        rounding=1e-9,
        tolerance=0.5,
        labels_reproduced=True,
        curvature_norm=2.5e-9,
        lambda_min=-2.5e-9,
        bound=5.6e-13,
        holds=True,
        method="pgd",
        plan=MethodPlan("pgd", Route.FORM, {"target": 1e-12}),
        steps=495,
        curve=LossCurve(
            steps, tuple(0.1 * step for step in steps), tuple(10.0 ** (-step / 40) for step in steps)
        ),
        forecast=Forecast(12.5, 2**29),
        seconds=49.5,
        weights=b"weights",
        certificate=b"certificate",
    )
    return replace(result, **changes)


MISSED = {
    "labels_reproduced": False,
    "max_residual": 1.0,
    "certificate": None,
    "sigma_min": EigenvalueBracket(1e-9, 0.0),
    "conditions": replace(
        CONDITIONS, sigma_min=EigenvalueBracket(1e-9, 0.0), mending_noise=1e-3, rows_tried=300
    ),
    "bound": None,
    "holds": None,
}


def test_the_verdict_where_every_label_is_reproduced():
    assert sentences(make_result()) == (
        "Memorised: each of the 300 labels is the network's output, rounded.",
        "A network of 2 layers with 20,200 trained weights, 67.3 per row, has a loss of 3.2e-13 after "
        "495 steps of perturbed descent in the style of Algorithm 1.",
        "The least eigenvalue of the loss's Hessian is -2.5e-09 (Lemma 3), so the loss is at most 5.6e-13 by "
        "Lemma 4, which holds.",
    )
    numbers = replace(DATA, classes=(), class_counts=(), task="regression")
    told = sentences(make_result(data=numbers, tolerance=1e-3, holds=False))
    assert told[0] == (
        "Memorised: each of the 300 targets is reproduced to 0.001, a thousandth of their standard deviation."
    )
    assert told[-1].endswith("which rounding hides here.")


@pytest.mark.parametrize(
    ("changes", "advised"),
    [
        ({}, "Try `method=direct`"),
        ({"method": "direct"}, "try `perturb=0.001`"),
        ({"method": "direct", "conditions": CONDITIONS}, "Try `layers=3`"),
        ({"method": "direct", "conditions": CONDITIONS, "layers": 3}, "remove near-duplicates"),
    ],
)
def test_the_verdict_where_a_label_is_missed(changes, advised):
    told = sentences(make_result(**MISSED | changes))
    assert told[0].startswith("Not memorised: the largest residual is 1, which is not below 0.5")
    assert advised in told[1]
    assert told[-1].endswith("Lemma 4 is vacuous here.")
    unproved = sentences(make_result(**MISSED | {"max_residual": 0.4, "rounding": 0.2}))
    assert unproved[0].startswith("Not proved: the largest residual is 0.4, below 0.5, but rounding")


def test_what_is_told_on_the_way():
    assert on_the_way(CONDITIONS) == (
        "Two layers: 300 rows ≤ d(d+1)/2 = 5,050, r = 2d + 2 = 202 and σ_min = 0.31.",
        "Two layers are used: k = d = 100, r = 202 neurons (2k + 2 = 202 are required), 20,200 weights, 67.3 "
        "per row.",
        "σ_min = 0.31, proved to be at least 0.29: the theorem applies.",
    )
    assert on_the_way(MISSED["conditions"])[-1] == "`perturb=0.001` would fix it."
    assert "until f ≤ 1e-12" in on_the_way(make_result().plan)[0]
    assert on_the_way(MethodPlan("mine", Route.NEURONS)) == ()
    assert on_the_way("something else") == ()


def test_the_record_has_every_sentence():
    result = make_result()
    record = room.record(result)
    assert record["schema"] == "widenet/memorise/1"
    assert record["verdict"] == list(sentences(result))
    assert record["conditions"] == list(on_the_way(CONDITIONS))
    assert record["notes"] == list(on_the_way(result.plan))
    assert (record["n"], record["d"], record["certified"]) == (300, 100, True)
    assert record["data"]["noise"] == 0.01
    assert "Memorised" not in json.dumps(result.to_dict())
    json.dumps(record, allow_nan=False)


def test_a_result_shows_itself_in_a_line():
    expected = "data=digits, n=300, layers=2, neurons=202, method=pgd, loss=3.2e-13, certified=yes"
    assert repr(make_result()) == f"MemoriseResult({expected})"
    assert make_result().outcome is Outcome.DONE
    assert make_result(**MISSED).outcome is Outcome.FAILED
    assert make_result().resolved() == {"layers": 2, "width": 202}


def test_the_chart_is_plotlys_logarithmic_and_coloured_by_the_style_sheet(check_charts):
    chart = loss_chart(make_result())
    check_charts([chart])
    spec = chart.spec
    assert spec["layout"]["yaxis"]["type"] == "log"
    loss, limit = spec["data"]
    assert loss["x"][-1] == 495
    assert loss["y"][0] == 1.0
    assert limit["y"] == [pytest.approx(0.25 / 1200)] * 2
    low, high = spec["layout"]["yaxis"]["range"]
    assert low < -12
    assert high > 0


def test_a_loss_of_zero_or_none_has_no_place_on_the_axis():
    curve = LossCurve((0, 1, 2, 3), (0.0, 0.1, 0.2, 0.3), (1.0, float("nan"), 1e-20, 0.0))
    chart = loss_chart(make_result(curve=curve))
    assert chart.spec["data"][0]["y"] == [1.0, None, 1e-20, None]
    assert "markers" in chart.spec["data"][0]["mode"]
    assert loss_chart(make_result(curve=LossCurve((0,), (0.0,), (1.0,)))) is None
    assert "<figure" not in page(make_result(curve=LossCurve((0,), (0.0,), (1.0,))))


def test_page_tells_everything(outline_of):
    result = make_result()
    outline = outline_of(page(result))
    told = (
        *sentences(result),
        *on_the_way(result.conditions),
        *on_the_way(result.plan),
        "Read it.",
        "all 300",
        "20,200 for 300 rows",
        "5.6e-13",
    )
    for text in told:
        assert text in outline.text
    outline.check_structure()
    outline.check_offline()
    assert len(outline.tags("math")) >= 5


def test_a_page_without_a_certificate_claims_none(outline_of):
    text = outline_of(page(make_result(**MISSED))).text
    assert "Nothing: a certificate is made only where every target is reproduced" in text
    assert "certificate.json states" not in text
    assert "not all" in text
    assert "nothing proved" in text
    assert "none without σ_min" in text


def test_hostile_names_stay_text(outline_of, screen_of):
    html = page(make_result(name=HOSTILE))
    assert HOSTILE not in html
    assert HOSTILE in outline_of(html).text
    assert not outline_of(html).tags("img")
    assert HOSTILE in screen_of(screen, make_result(name=HOSTILE))


@pytest.mark.parametrize("changes", [{}, MISSED])
def test_the_screen_fits_80_columns(changes, screen_of):
    result = make_result(**changes)
    lines = screen_of(screen, result).splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 30
    assert sentences(result)[0].split(":")[0] in lines[2]
    assert max(map(len, screen_of(screen, result, width=40).splitlines())) <= 60


def test_folder_is_whole_and_replaced_whole(tmp_path):
    out = tmp_path / "out"
    publish(room, make_result(), out, {"data": "digits"}, force=False)
    assert {path.name for path in out.iterdir()} == set(all_files(room)) - {"manifest.sig"}
    assert (out / "certificate.json").read_bytes() == b"certificate"
    record = json.loads((out / "result.json").read_text())
    assert record["curve"]["steps"][-1] == 495
    assert record["verdict"] == list(sentences(make_result()))
    publish(room, make_result(**MISSED, weights=b"others"), out, {}, force=True)
    assert {path.name for path in out.iterdir()} == set(all_files(room)) - {
        "certificate.json",
        "manifest.json",
        "manifest.sig",
    }
    assert (out / "weights.safetensors").read_bytes() == b"others"


def test_words():
    assert small(0.0) == "0"
    assert small(3.21e-13) == "3.2e-13"
    assert small(0.25) == "0.25"
    assert dict(statements(make_result()))["f is within it"] == "yes"
    numbers = replace(make_result().data, classes=())
    assert ("targets reproduced to 1.0e-03", "all 300") in statements(
        make_result(data=numbers, tolerance=1e-3)
    )


def test_browser_draws_the_chart(browse):
    assert browse(page(make_result())).drawn
