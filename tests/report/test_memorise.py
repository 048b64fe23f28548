"""A memorised data set as a page, a screenful and a folder; a verification as a screenful."""

import base64
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

from widenet.memorise.result import DataSummary, Forecast, LossCurve, MemoriseResult
from widenet.memorise.run import Memorised
from widenet.memorise.verify import Check, Verification
from widenet.report.memorise_charts import loss_chart
from widenet.report.memorise_folder import MEMORISE_FILES, write_memorised
from widenet.report.memorise_page import memorise_page
from widenet.report.memorise_terminal import print_memorised, print_verification
from widenet.report.memorise_words import small, statements
from widenet.spectrum.cholesky import EigenvalueBracket

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
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


def test_the_chart_is_plotlys_logarithmic_and_coloured_by_the_style_sheet():
    css = resources.files("widenet.report").joinpath("page.css").read_text()
    spec = loss_chart(make_result()).spec
    assert len(go.Figure(uncoloured(spec)).data) == 2
    assert colours(spec) <= set(re.findall(r"--([a-z-]+):", css))
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


def test_page_tells_everything():
    result = make_result()
    outline = Outline(memorise_page(result))
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
    levels = [int(tag[1]) for tag, _ in outline.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    identifiers = {attributes.get("id") for _, attributes in outline.elements}
    assert {link["href"].removeprefix("#") for link in outline.tags("a")} <= identifiers
    assert len(outline.tags("math")) >= 5


def test_a_page_without_a_certificate_claims_none():
    text = Outline(memorise_page(make_result(**MISSED))).text
    assert "Nothing: a certificate is made only where every target is reproduced" in text
    assert "certificate.json states" not in text
    assert "not all" in text
    assert "nothing proved" in text
    assert "none without σ_min" in text


def test_page_is_offline_and_only_its_own_scripts_may_run():
    page = memorise_page(make_result())
    outline = Outline(page)
    assert len(page.encode()) < 7_000_000
    assert not outline.tags("link")
    policy = next(m["content"] for m in outline.tags("meta") if m.get("http-equiv"))
    run = [script for script in outline.scripts if "Plotly" in script]
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in run]
    assert re.findall(r"'sha256-(.*?)'", policy) == digests


def test_hostile_names_stay_text():
    page = memorise_page(make_result(name=HOSTILE))
    assert HOSTILE not in page
    assert HOSTILE in Outline(page).text
    assert not Outline(page).tags("img")
    assert HOSTILE in screen(print_memorised, make_result(name=HOSTILE))


def screen(show, subject, width=80) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    show(subject, console)
    return console.file.getvalue()


@pytest.mark.parametrize("changes", [{}, MISSED])
def test_the_screen_fits_80_columns(changes):
    result = make_result(**changes)
    lines = screen(print_memorised, result).splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 30
    assert result.verdict[0].split(":")[0] in lines[2]
    assert max(map(len, screen(print_memorised, result, width=40).splitlines())) <= 60


@pytest.mark.parametrize("failing", [False, True])
def test_a_verification_on_a_screen(failing):
    long = "A rather long sentence that has to be wrapped into several lines of the screen, [bold] and all."
    checks = (
        Check("certificate", "passed", long),
        Check("weights", "failed" if failing else "passed", "They were changed."),
        Check("sigma_min", "skipped", "Not checked."),
    )
    text = screen(print_verification, Verification("s", "v", "folder", not failing, checks))
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


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_browser_draws_the_chart(tmp_path):
    page = tmp_path / "report.html"
    page.write_text(memorise_page(make_result()))
    flags = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --virtual-time-budget=5000 --enable-logging=stderr "
        "--dump-dom"
    )
    command = [CHROMIUM, *flags.split(), f"--user-data-dir={tmp_path / 'profile'}", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    drawn = [a for a in Outline(done.stdout).tags("svg") if "main-svg" in (a.get("class") or "")]
    assert drawn
    assert "CONSOLE" not in done.stderr
