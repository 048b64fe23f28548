"""A memorised data set as a page, a screenful and a folder; a verification as a screenful."""

import json
from dataclasses import replace

import pytest

from widenet.memorise.checker.verify import Check, Verification
from widenet.memorise.result import DataSummary, Forecast, LossCurve, MemoriseResult
from widenet.memorise.run import Memorised
from widenet.report.memorise.charts import loss_chart
from widenet.report.memorise.files import MEMORISE_FILES, write_memorised
from widenet.report.memorise.page import memorise_page
from widenet.report.memorise.screen import print_memorised, print_verification
from widenet.report.memorise.sentences import small, statements
from widenet.spectrum.cholesky import EigenvalueBracket

HOSTILE = "</script><img src=x onerror=alert(1)> [bold]"


def make_result(name: str = "digits", **changes) -> MemoriseResult:
    steps = tuple(range(0, 500, 5))
    result = MemoriseResult(
        schema="widenet/memorise/1",
        version="0.1.0",
        data=DataSummary(name, "multiclass", ("a", "b", "c"), "unit", 0.01, ("Read it.",)),
        n=300,
        points=300,
        d=100,
        layers=2,
        k=100,
        r=202,
        power=None,
        parameters=20200,
        conditions=("Two layers: 300 rows ≤ 5,050 quadratic forms.", "σ_min = 0.3."),
        sigma_min=EigenvalueBracket(0.31, 0.29),
        loss=3.2e-13,
        max_residual=4.5e-6,
        tolerance=0.5,
        labels_reproduced=True,
        curvature_norm=2.5e-9,
        lambda_min=-2.5e-9,
        bound=5.6e-13,
        holds=True,
        method="pgd",
        notes=("Descent from W = 0.",),
        steps=495,
        curve=LossCurve(
            steps, tuple(0.1 * step for step in steps), tuple(10.0 ** (-step / 40) for step in steps)
        ),
        certified=True,
        verdict=("Memorised: each of the 300 labels is the network's output, rounded.", "It is flat."),
        forecast=Forecast(2**29, 12.5),
        seconds=49.5,
    )
    return replace(result, **changes)


MISSED = {
    "labels_reproduced": False,
    "certified": False,
    "sigma_min": EigenvalueBracket(1e-9, 0.0),
    "bound": None,
    "holds": None,
    "verdict": ("Not memorised: the largest residual is 1.", "Try --method direct."),
}


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
    assert "<figure" not in memorise_page(make_result(curve=LossCurve((0,), (0.0,), (1.0,))))


def test_page_tells_everything(outline_of):
    result = make_result()
    outline = outline_of(memorise_page(result))
    told = (
        *result.verdict,
        *result.conditions,
        *result.notes,
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
    text = outline_of(memorise_page(make_result(**MISSED))).text
    assert "Nothing: a certificate is made only where every target is reproduced" in text
    assert "certificate.json states" not in text
    assert "not all" in text
    assert "nothing proved" in text
    assert "none without σ_min" in text


def test_hostile_names_stay_text(outline_of, screen_of):
    page = memorise_page(make_result(name=HOSTILE))
    assert HOSTILE not in page
    assert HOSTILE in outline_of(page).text
    assert not outline_of(page).tags("img")
    assert HOSTILE in screen_of(print_memorised, make_result(name=HOSTILE))


@pytest.mark.parametrize("changes", [{}, MISSED])
def test_the_screen_fits_80_columns(changes, screen_of):
    result = make_result(**changes)
    lines = screen_of(print_memorised, result).splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 30
    assert result.verdict[0].split(":")[0] in lines[2]
    assert max(map(len, screen_of(print_memorised, result, width=40).splitlines())) <= 60


@pytest.mark.parametrize("failing", [False, True])
def test_a_verification_on_a_screen(failing, screen_of):
    long = "A rather long sentence that has to be wrapped into several lines of the screen, [bold] and all."
    checks = (
        Check("certificate", "passed", long),
        Check("weights", "failed" if failing else "passed", "They were changed."),
        Check("sigma_min", "skipped", "Not checked."),
    )
    text = screen_of(print_verification, Verification("s", "v", "folder", not failing, checks))
    assert max(map(len, text.splitlines())) <= 80
    assert "[bold]" in text
    last = text.splitlines()[-1]
    assert last == (
        "Not verified: 1 of 3 checks failed."
        if failing
        else "Verified: every check that was made passed; 1 of 3 could not be made here."
    )


def test_folder_is_whole_and_replaced_whole(tmp_path):
    out = tmp_path / "out"
    write_memorised(
        out, Memorised(make_result(), b"weights", b"certificate"), {"data": "digits"}, force=False
    )
    assert {path.name for path in out.iterdir()} == set(MEMORISE_FILES)
    assert (out / "certificate.json").read_bytes() == b"certificate"
    assert json.loads((out / "result.json").read_text())["curve"]["steps"][-1] == 495
    write_memorised(out, Memorised(make_result(**MISSED), b"others", None), {}, force=True)
    assert {path.name for path in out.iterdir()} == set(MEMORISE_FILES) - {"certificate.json"}
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
    assert browse(memorise_page(make_result())).drawn
