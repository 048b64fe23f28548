"""A small audit for each task, with numbers that hang together but were not computed; pages, as read back."""

import base64
import hashlib
import io
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
import torch
from rich.console import Console

from widenet.audit.findings import (
    Alignment,
    Bound,
    Chosen,
    ColumnComplexity,
    Complexity,
    Dependence,
    Estimate,
    GramPlan,
    Held,
    LabelNoise,
    LeaveOneOutSummary,
    Soundness,
    SpectrumSummary,
    StepsTo,
    Suspect,
    TrainedCurve,
    TrainingCurve,
    WholeRows,
)
from widenet.audit.result import NUM_PICTURED, AuditResult
from widenet.predict.learning_curve import Gain, LearningCurve
from widenet.report.parts.document import plotly
from widenet.report.parts.plots import Chart
from widenet.study.data import DataSummary, UsedColumns
from widenet.study.forecast import Forecast

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --virtual-time-budget=5000 --enable-logging=stderr --dump-dom"
)
CLASSES = {"binary": ("cat", "dog"), "multiclass": ("ant", "bee", "cow"), "regression": ()}
N, D = 60, 16
STEPS = (0, 1, 3, 10, 31, 100, 316, 1000, 3162, 10000)
SIZES = (15, 30, 60, 120, 240)


def make_result(task: str, *, images: bool = False, rename: Callable[[str], str] = str) -> AuditResult:
    """An audit of `N` rows; `rename` is applied to every text that would come from the data."""
    classes = tuple(rename(name) for name in CLASSES[task])
    columns = classes if task == "multiclass" else (rename("target"),)
    return AuditResult(
        version="0.1.0",
        data=DataSummary(
            name=rename("animals.csv"),
            n=N,
            d=D,
            outputs=len(columns),
            classes=classes,
            class_counts=tuple(N // len(classes) for _ in classes),
            task=task,
            prepare="unit",
            provenance=(rename("column"), "16 columns were used as they are."),
            columns=UsedColumns(used=(rename("height"), rename("colour"))),
            target=rename("animal"),
            target_scale=7.0 if task == "regression" else 1.0,
        ),
        soundness=Soundness((), (), ()),
        kernel="relu3-ntk",
        complexity=Complexity(
            value=0.8123456,
            lower=0.8123450,
            upper=0.8123461,
            certified=True,
            shuffled=3.25,
            shuffled_error=0.02,
            shuffled_std=0.05,
            p_value=1e-9,
            columns=tuple(ColumnComplexity(name, 0.5, 0.49, 0.51) for name in columns),
            num_matvecs=42,
        ),
        dependence=Dependence(1e-9, 1e-9, N),
        spectrum=SpectrumSummary(
            eigenvalue_max=30.0,
            eigenvalue_min=0.12,
            eigenvalue_min_certified=0.11,
            alignment=Alignment((30.0, 3.0, 0.3, 0.12), (0.5, 0.8, 0.99, 1.0), (0.02, 0.1, 0.7, 1.0)),
        ),
        curve=make_curve(),
        bound=Bound(1.4, {"complexity": 0.81, "confidence": 0.59}, 0.01, True, ()),
        loo=make_loo(task, 0.2),
        learning_curve=make_learning_curve(task),
        chosen=Chosen("relu5-all", 0.01, make_loo(task, 0.1), make_learning_curve(task)),
        noise=LabelNoise(0.05, 0.02, 0.09, 0.95, True, "relu5-all", 0.01),
        contradicting=None if task == "regression" else 4,
        ranking=make_suspects(classes),
        nearest={row: (row + 1, row + 2) for row in range(1, N - 1)},
        pictures=make_pictures() if images else {},
        cells=None if images else make_cells(rename),
        labels_file="labels.csv",
        forecast=Forecast(memory_bytes=3 * 2**20, seconds=1.5),
        gram=GramPlan(Held.DENSE, 2**20),
        seconds=1.25,
    )


def make_whole(task: str) -> AuditResult:
    """An audit of twice as many rows, judged by 20 landmarks, of which those `N` were drawn."""
    result, num = make_result(task), SIZES[-1]
    loo = replace(make_loo(task, 0.12), rows=num // 2)
    low, high = (0.01, 0.06) if result.data.classes else (0.03, 0.16)
    whole = WholeRows(num // 2, N, 20, 0.25, loo, low, high)
    return replace(result, data=replace(result.data, n=num // 2), whole=whole)


def make_loo(task: str, error: float) -> LeaveOneOutSummary:
    classes = task != "regression"
    return LeaveOneOutSummary(
        error=error,
        standard_error=0.02,
        error_bar=0.0,
        misclassified=error / 4 if classes else None,
        misclassified_standard_error=0.003 if classes else None,
        rows=N,
        method=Estimate.CLOSED_FORM,
        constant=0.5 if classes else 1.0,
        baseline=1.0,
    )


def make_curve() -> TrainingCurve:
    loss = tuple(float(np.exp(-step / 500)) * N / 2 for step in STEPS)
    random = tuple(float(np.exp(-step / 4000)) * N / 2 for step in STEPS)
    return TrainingCurve(
        eta=1 / 30,
        eta_max=2 / 30,
        steps=STEPS,
        loss=loss,
        random_loss=random,
        worst_loss=tuple(float(np.exp(-step / 9000)) * N / 2 for step in STEPS),
        movement=tuple(0.1 * k for k in range(len(STEPS))),
        movement_limit=1.0,
        steps_to=(
            StepsTo(0.5, 12, 340, 1200),
            StepsTo(0.1, 123, 4567, 8901),
            StepsTo(0.01, 1234, None, None),
        ),
        trained=TrainedCurve(
            256, 0.01, 40, 1 / 20, STEPS, tuple(1.05 * value for value in loss), loss, 0.9, 0.95
        ),
    )


def make_learning_curve(task: str) -> LearningCurve:
    error = tuple(6 / n for n in SIZES)
    low, high = tuple(0.8 * value for value in error), tuple(1.3 * value for value in error)
    shares = (None, None, None) if task == "regression" else (error, (0.0,) * len(SIZES), high)
    gain = Gain(value=0.5, low=0.35, high=0.6, over_constant=0.8)
    return LearningCurve(SIZES, tuple(n <= N for n in SIZES), error, low, high, *shares, gain)


def make_suspects(classes: tuple[str, ...]) -> tuple[Suspect, ...]:
    """Every row, worst first."""
    pair = (classes[0], classes[1]) if classes else ("12.5", "3.25")
    highest = 1.0 if classes else 5.0
    return tuple(Suspect(row, *pair, score=highest * (1 - row / N)) for row in range(1, N + 1))


def make_cells(rename: Callable[[str], str]) -> pd.DataFrame:
    """The table that the audit read."""
    columns = {
        rename("height"): [row / 8 for row in range(1, N + 1)],
        rename("colour"): [rename("red")] * N,
        rename("animal"): [rename("cat")] * N,
    }
    return pd.DataFrame(columns, index=range(1, N + 1))


def make_pictures() -> dict[int, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return {
        row: torch.randint(256, (8, 8), generator=generator, dtype=torch.uint8)
        for row in range(1, NUM_PICTURED + 3)  # those of the last one's nearest rows, too
    }


@pytest.fixture(params=sorted(CLASSES))
def task(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def result_of() -> Callable[..., AuditResult]:
    return make_result


@pytest.fixture
def whole_of() -> Callable[[str], AuditResult]:
    return make_whole


class Outline(HTMLParser):
    """Elements with their attributes, scripts, and text outside scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.page = page
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text, self.inside = "", ""
        self.scripts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside = tag

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "script":
            self.scripts.append(data)
        elif self.inside != "style":
            self.text += data

    def tags(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag == name]

    @property
    def drawn(self) -> list[dict[str, str | None]]:
        """Pictures that plotly has drawn."""
        return [
            attributes for attributes in self.tags("svg") if "main-svg" in (attributes.get("class") or "")
        ]

    def check_structure(self) -> None:
        """One title, headings in order, and links that lead somewhere."""
        levels = [int(tag[1]) for tag, _ in self.elements if re.fullmatch("h[1-6]", tag)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        identifiers = {attributes.get("id") for _, attributes in self.elements}
        assert {(link["href"] or "").removeprefix("#") for link in self.tags("a")} <= identifiers

    def check_offline(self) -> None:
        """Nothing is fetched, and only the page's own scripts may run."""
        assert len(self.page.encode()) < 1_500_000
        assert not self.tags("link")
        assert all("src" not in attributes for attributes in self.tags("script"))
        policy = next(m["content"] or "" for m in self.tags("meta") if m.get("http-equiv"))
        assert "default-src 'none'" in policy
        assert "unsafe-eval" not in policy
        run = [script for script in self.scripts if '"use strict"' in script]
        run = [plotly(), *run] if any(tag.get("id") == "plotly" for tag in self.tags("script")) else run
        digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in run]
        assert re.findall(r"'sha256-(.*?)'", policy) == digests
        assert re.findall(r"script-src[^;]*", policy)[0].count("'") == 2 * len(digests)


def colours(spec: Any, key: str = "") -> set[str]:
    """All colour names in a specification."""
    if isinstance(spec, dict):
        return {name for inner, value in spec.items() for name in colours(value, inner)}
    if isinstance(spec, list):
        return {name for value in spec for name in colours(value, key)}
    return {spec} if key.endswith("color") else set()


def uncoloured(spec: Any) -> Any:
    """The specification without its colours, which only page.js can resolve."""
    if isinstance(spec, dict):
        return {key: uncoloured(value) for key, value in spec.items() if not key.endswith("color")}
    return [uncoloured(value) for value in spec] if isinstance(spec, list) else spec


@pytest.fixture
def outline_of() -> Callable[[str], Outline]:
    """A page, read back."""
    return Outline


@pytest.fixture
def check_charts() -> Callable[[Iterable[Chart]], None]:
    """Assert that plotly knows every property, and the style sheet every colour."""
    css = resources.files("widenet.report.parts").joinpath("page.css").read_text()
    known = set(re.findall(r"--([a-z-]+):", css))

    def check(charts: Iterable[Chart]) -> None:
        for chart in charts:
            figure = go.Figure(uncoloured(chart.spec))  # refuses what plotly does not know
            assert len(figure.data) == len(chart.spec["data"]) > 0
            assert colours(chart.spec) <= known

    return check


@pytest.fixture
def screen_of() -> Callable[..., str]:
    """What a function shows on a console of some width, without colours."""

    def screen(show: Callable[[Any, Console], None], subject: Any, width: int = 80) -> str:
        file = io.StringIO()
        show(subject, Console(file=file, width=width, color_system=None))
        return file.getvalue()

    return screen


@pytest.fixture
def browse(tmp_path: Path) -> Callable[[str], Outline]:
    """A page as Chromium leaves it, without a word on its console; skips where there is no Chromium."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium")

    def browsed(page: str) -> Outline:
        path = tmp_path / "report.html"
        path.write_text(page)
        command = [CHROMIUM, *FLAGS.split(), f"--user-data-dir={tmp_path / 'profile'}", path.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        assert "CONSOLE" not in done.stderr
        return Outline(done.stdout)

    return browsed
