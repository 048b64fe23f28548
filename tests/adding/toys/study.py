"""A study with its command: which class is the most frequent, and how often that guess is wrong."""

from dataclasses import dataclass
from typing import Any, ClassVar

from rich.console import Console

from widenet.base.errors import InputError
from widenet.base.progress import SILENT, Progress
from widenet.data import Dataset
from widenet.report.parts.document import document, masthead, page_body, tile_list
from widenet.report.parts.screen import title, verdict
from widenet.study.data import DataSummary, data_summary
from widenet.study.forecast import Forecast
from widenet.study.result import Result
from widenet.study.settings import Settings, setting
from widenet.study.study import Study


@dataclass(frozen=True)
class GuessSettings(Settings):
    """What the guess depends on, besides the data."""

    rank: int = setting(1, "Which class to guess, 1 for the most frequent.", low=1)


@dataclass(frozen=True, repr=False, kw_only=True)
class GuessResult(Result):
    """The guess and its error."""

    schema: ClassVar[str] = "toy/guess/1"
    data: DataSummary
    guess: str
    error: float

    def facts(self) -> dict[str, str]:
        return {"data": self.data.name, "guess": self.guess, "error": f"{self.error:.3g}"}


def run_guess(
    dataset: Dataset,
    settings: GuessSettings | None = None,
    *,
    allow_long: bool = False,
    progress: Progress = SILENT,
) -> GuessResult:
    """Count the classes and guess one of them."""
    settings = settings or GuessSettings()
    forecast = Forecast(seconds=1e-6 * dataset.n)
    progress.note(forecast)
    forecast.refuse_long("take fewer rows", allow_long=allow_long)
    progress("counting classes")
    data = data_summary(dataset)
    if settings.rank > len(data.classes):
        raise InputError(f"`rank` is {settings.rank}, and there are {len(data.classes)} classes.")
    ranked = sorted(zip(data.class_counts, data.classes, strict=True), reverse=True)
    count, guess = ranked[settings.rank - 1]
    return GuessResult(data=data, guess=guess, error=1 - count / dataset.n)


FILES = ("guess.txt",)


def sentences(result: GuessResult) -> tuple[str, ...]:
    """The answer; another class is one setting away."""
    wrong = f"Always guessing {result.guess} is wrong in {result.error:.1%} of the rows."
    return (wrong, "Set `rank=2` for the next.")


def record(result: GuessResult) -> dict[str, Any]:
    """The result as JSON has it."""
    return result.to_dict() | {"verdict": list(sentences(result))}


def page(result: GuessResult) -> str:
    """One page."""
    tiles = tile_list([("Guess", result.guess, f"wrong in {result.error:.1%}", "#")])
    content = page_body(masthead("guess", result.data.name, ""), sentences(result), tiles, (), ())
    return document("guess", content, {})


def screen(result: GuessResult, console: Console) -> None:
    """A few lines."""
    title(console, "guess", result.data.name)
    verdict(console, sentences(result))


def files(result: GuessResult) -> dict[str, str | bytes]:
    """The guess alone, for scripts."""
    return {"guess.txt": result.guess + "\n"}


GUESS = Study(
    name="guess",
    summary="Guess the same class for every row of DATA.",
    settings=GuessSettings,
    runner=f"{__name__}:run_guess",
    report=__name__,
)
