"""A figure of a paper: the error of the mean against the number of samples."""

import csv
import io
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from rich.console import Console

from widenet.base.progress import SILENT, Progress
from widenet.report.parts.document import document, masthead, page_body, tile_list
from widenet.report.parts.markup import element
from widenet.report.parts.plots import Chart, axes_layout, line_trace
from widenet.report.parts.screen import title, verdict
from widenet.report.parts.sections import figure, section
from widenet.study.forecast import Forecast
from widenet.study.result import Result
from widenet.study.settings import Settings, seed_setting, setting
from widenet.study.study import Study


@dataclass(frozen=True)
class MeansSettings(Settings):
    """What the figure depends on."""

    sizes: tuple[int, ...] = setting((10, 100, 1000), "Numbers of samples.", low=2)
    draws: int = setting(200, "Draws of each size.", low=1)
    seed: int = seed_setting()


@dataclass(frozen=True, repr=False, kw_only=True)
class MeansResult(Result):
    """Root mean square error of the mean of N normal numbers."""

    schema: ClassVar[str] = "toy/means/1"
    sizes: tuple[int, ...]
    errors: tuple[float, ...]


def run_means(
    settings: MeansSettings | None = None, *, allow_long: bool = False, progress: Progress = SILENT
) -> MeansResult:
    """Draw and average."""
    settings = settings or MeansSettings()
    progress.note(Forecast(seconds=1e-8 * settings.draws * sum(settings.sizes)))
    generator = torch.Generator().manual_seed(settings.seed)
    errors = []
    for done, size in enumerate(settings.sizes):
        progress("sizes", done, len(settings.sizes))
        means = torch.randn(settings.draws, size, generator=generator).mean(1)
        errors.append(float(means.square().mean().sqrt()))
    return MeansResult(sizes=settings.sizes, errors=tuple(errors))


FILES = ("data.csv",)


def sentences(result: MeansResult) -> tuple[str, ...]:
    """The claim, and what was measured."""
    scaled = [error * size**0.5 for error, size in zip(result.errors, result.sizes, strict=True)]
    return (f"The error falls as 1/√N: √N times it is between {min(scaled):.2f} and {max(scaled):.2f}.",)


def record(result: MeansResult) -> dict[str, Any]:
    """The result as JSON has it."""
    return result.to_dict() | {"verdict": list(sentences(result))}


def page(result: MeansResult) -> str:
    """The curve."""
    line = line_trace("error", result.sizes, result.errors, "labels", "%{y:.3g}")
    layout = axes_layout("samples N", x={"type": "log"}, y={"type": "log"})
    chart = Chart(
        "means", "Error of the mean", "Both axes are logarithmic.", {"data": [line], "layout": layout}
    )
    body = element("div", figure(chart), class_="charts")
    sections = (section(1, "How does it fall?", sentences(result), body),)
    tiles = tile_list([("Sizes", str(len(result.sizes)), "", "#q1")])
    content = page_body(masthead("means", "Means", ""), sentences(result), tiles, sections, ())
    return document("means", content, {chart.name: chart})


def screen(result: MeansResult, console: Console) -> None:
    """A few lines."""
    title(console, "means", f"{len(result.sizes)} sizes")
    verdict(console, sentences(result))


def files(result: MeansResult) -> dict[str, str | bytes]:
    """The curve as a table."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([("samples", "error"), *zip(result.sizes, result.errors, strict=True)])
    return {"data.csv": text.getvalue()}


MEANS = Study(
    name="means",
    summary="The error of the mean against the number of samples.",
    settings=MeansSettings,
    runner=f"{__name__}:run_means",
    report=__name__,
    reads_data=False,
)
