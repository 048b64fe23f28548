"""Progress of long work on stderr: a moving line on a terminal, a plain line now and then elsewhere."""

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console as RichConsole
from rich.progress import BarColumn, Progress as Bars, ProgressColumn, SpinnerColumn, Task
from rich.table import Column
from rich.text import Text

from widenet.base.memory import memory_told
from widenet.base.progress import Progress
from widenet.base.streams import silence
from widenet.base.wording import DAY, HOUR, MINUTE

FIRST_SILENCE, LONGEST_SILENCE = 30.0, 600.0  # seconds between plain lines: each silence is twice the last

Words = Callable[[object], Iterable[str]]  # a fact that is known on the way, in sentences


@contextmanager
def told_progress(*, quiet: bool, words: Words = lambda fact: ()) -> Iterator[Progress]:
    """Progress that people can follow; where memory runs out, the sentence on that names the stage.

    On a terminal it is a line with the share done, the rate and the time left. Elsewhere it is plain lines:
    the beginning of a stage, its end where pieces are counted, and some between them, ever more seldom.

    Args:
        quiet: Whether to say nothing.
        words: Turns what is noted on the way into sentences, each on a line of its own.
    """
    with _shown(quiet, words) as shown:
        progress = _Remembered(shown)
        with memory_told(lambda: progress.stage):
            yield progress


@contextmanager
def _shown(quiet: bool, words: Words) -> Iterator[Progress]:
    console = Console(stderr=True)
    if quiet:
        yield Progress()
    elif console.is_terminal:
        with _bars(console) as bars:
            yield _MovingLine(bars, words)
    else:
        lines = _PlainLines(console, words)
        try:
            yield lines
        finally:
            lines.say()


class Console(RichConsole):
    """A console whose reader may leave: the work goes on in silence."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        silence(sys.stderr)


class _Remembered(Progress):
    """Tells another one, and knows the stage."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self.stage = progress, ""

    def __call__(
        self, stage: str, done: int | None = None, total: int | None = None, detail: str = ""
    ) -> None:
        self.stage = stage
        self._progress(stage, done, total, detail)

    def note(self, fact: object) -> None:
        self._progress.note(fact)


@dataclass(frozen=True)
class Pace:
    """How fast work goes."""

    rate: float  # pieces per second; 0 as long as none was done
    end: float  # when all will be done, in seconds of `time.monotonic`; infinite as long as that is unknown

    def told(self, now: float) -> str:
        """Rate and time left in words; empty as long as they are unknown."""
        if not math.isfinite(self.end):
            return ""
        return f"{rate_told(self.rate)}, {time_told(max(0.0, self.end - now))} left"


@dataclass(frozen=True)
class _Beginning:
    """Where a stage began: what was done before says nothing about its pace."""

    stage: str
    done: int
    time: float

    def pace(self, done: int | None, total: int | None, now: float) -> Pace:
        if done is None or total is None or done <= self.done or now <= self.time:
            return Pace(rate=0.0, end=math.inf)
        rate = (done - self.done) / (now - self.time)
        return Pace(rate, now + (total - done) / rate)


def _how_far(done: int | None, total: int | None, detail: str) -> str:
    """As "12 of 40 (30%)", "12", or the detail."""
    if done is None:
        return detail
    share = f" ({done / total:.0%})" if total else ""
    counted = f"{done:,}" if total is None else f"{done:,} of {total:,}{share}"
    return f"{counted} {detail}".rstrip()


class _MovingLine(Progress):
    def __init__(self, bars: Bars, words: Words) -> None:
        self._bars, self._words = bars, words
        self._beginning = _Beginning("", 0, 0.0)

    def __call__(
        self, stage: str, done: int | None = None, total: int | None = None, detail: str = ""
    ) -> None:
        now = time.monotonic()
        if stage != self._beginning.stage:
            self._beginning = _Beginning(stage, done or 0, now)
            for task in self._bars.task_ids:
                self._bars.remove_task(task)
            self._bars.add_task(stage, total=total)
        self._bars.update(
            self._bars.task_ids[0],
            completed=done or 0,
            total=total,
            far=_how_far(done, total, detail),
            pace=self._beginning.pace(done, total, now),
        )

    def note(self, fact: object) -> None:
        for sentence in self._words(fact):
            self._bars.console.print(Text(sentence), highlight=False)


class _Line(ProgressColumn):
    """The stage, how far it is, and the time left, counting down between two calls."""

    def render(self, task: Task) -> Text:
        pace = task.fields["pace"].told(time.monotonic()) if "pace" in task.fields else ""
        return Text("  ".join(filter(None, (task.description, task.fields.get("far", ""), pace))))


class _Bar(BarColumn):
    """A bar where the number of pieces is known."""

    def render(self, task: Task) -> Text:  # type: ignore[override]
        return super().render(task) if task.total else Text("")  # type: ignore[return-value]


def _bars(console: RichConsole) -> Bars:
    line = _Line(table_column=Column(no_wrap=True))
    return Bars(SpinnerColumn(), _Bar(bar_width=12), line, console=console, transient=True)


class _PlainLines(Progress):
    def __init__(self, console: RichConsole, words: Words) -> None:
        self._console, self._words = console, words
        self._beginning = _Beginning("", 0, 0.0)
        self._line, self._said = "", ""
        self._due, self._silence = 0.0, FIRST_SILENCE

    def __call__(
        self, stage: str, done: int | None = None, total: int | None = None, detail: str = ""
    ) -> None:
        now = time.monotonic()
        begins = stage != self._beginning.stage
        if begins:
            self._beginning = _Beginning(stage, done or 0, now)
            self._silence = FIRST_SILENCE
        finished = total is not None and done == total
        pace = "" if finished else self._beginning.pace(done, total, now).told(now)
        far = ", ".join(filter(None, (_how_far(done, total, detail), pace)))
        self._line = f"{stage}: {far}" if far else stage
        if begins or finished or now >= self._due:
            self.say()
            self._due, self._silence = now + self._silence, min(2 * self._silence, LONGEST_SILENCE)
        elif total is None:
            self._line = self._said  # how far it was is of no interest once a stage without a number is over

    def note(self, fact: object) -> None:
        for sentence in self._words(fact):
            self._print(sentence)

    def say(self) -> None:
        """Write the latest line, unless that was done."""
        if self._line != self._said:
            self._print(self._line)
            self._said = self._line

    def _print(self, line: str) -> None:
        try:
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)
        except OSError:  # a full disk, say; the work is worth more than news of it
            self._console.quiet = True
            silence(sys.stderr)


def rate_told(rate: float) -> str:
    """A rate per second, minute or hour: the first of them that makes it at least 1."""
    units = {"second": 1, "minute": MINUTE, "hour": HOUR}
    unit = next((unit for unit, seconds in units.items() if rate * seconds >= 1), "hour")
    number = rate * units[unit]
    return f"{number:,.0f} per {unit}" if number >= 100 else f"{number:.2g} per {unit}"


def time_told(seconds: float) -> str:
    """A duration that people watch, in the unit that suits it."""
    if seconds < 2 * MINUTE:
        return f"{seconds:.0f} s"
    if seconds < 2 * HOUR:
        return f"{seconds / MINUTE:.0f} min"
    if seconds < 2 * DAY:
        return f"{seconds / HOUR:.0f} h"
    return f"{seconds / DAY:.0f} days"
