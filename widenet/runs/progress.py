"""Progress of long work on stderr: a moving line on a terminal, a plain line now and then elsewhere."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskProgressColumn, TextColumn
from rich.table import Column
from rich.text import Text

FIRST_SILENCE, LONGEST_SILENCE = 30.0, 600.0  # seconds between plain lines: each silence is twice the last
MINUTE, HOUR, DAY = 60, 3600, 86400


@contextmanager
def progress_line(quiet: bool) -> Iterator[Callable[[int, int, str], None]]:
    """Give a function to call with the numbers of pieces of work done and wanted, and with what they are.

    On a terminal it keeps a line with the share done, the rate and the time left. Elsewhere it writes plain
    lines: the first, the last, and some between them, ever more seldom. With `quiet` it does nothing.
    """
    console = Console(stderr=True)
    if quiet:
        yield lambda done, total, text: None
    elif console.is_terminal:
        with _bars(console) as bars:
            yield _MovingLine(bars)
    else:
        lines = _PlainLines(console)
        try:
            yield lines
        finally:
            lines.say()


@dataclass(frozen=True)
class Pace:
    """How fast work goes.

    Attributes:
        rate: Pieces per second; 0 as long as none was done.
        end: When all will be done, in seconds of `time.monotonic`; infinite as long as that is unknown.
    """

    rate: float
    end: float

    def told(self, now: float) -> str:
        """Rate and time left in words; empty as long as they are unknown."""
        if not math.isfinite(self.end):
            return ""
        return f"{rate_told(self.rate)}, {time_told(max(0.0, self.end - now))} left"


@dataclass(frozen=True)
class _Beginning:
    """Where the work began: what was done before says nothing about its pace."""

    text: str
    done: int
    time: float

    def pace(self, done: int, total: int, now: float) -> Pace:
        if done <= self.done or now <= self.time:
            return Pace(rate=0.0, end=math.inf)
        rate = (done - self.done) / (now - self.time)
        return Pace(rate, now + (total - done) / rate)


class _MovingLine:
    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._beginning = _Beginning("", 0, 0.0)

    def __call__(self, done: int, total: int, text: str) -> None:
        now = time.monotonic()
        if text != self._beginning.text:
            self._beginning = _Beginning(text, done, now)
            for task in self._bars.task_ids:
                self._bars.remove_task(task)
            pace = self._beginning.pace(done, total, now)
            self._bars.add_task(text, total=total, completed=done, pace=pace)
        pace = self._beginning.pace(done, total, now)
        self._bars.update(self._bars.task_ids[0], completed=done, total=total, pace=pace)


class _PaceColumn(ProgressColumn):
    """Rate and time left, counting down between two calls."""

    def render(self, task: Task) -> Text:
        return Text(task.fields["pace"].told(time.monotonic()))


def _bars(console: Console) -> Progress:
    text = TextColumn("{task.description}", markup=False)
    counts = TextColumn("{task.completed:,} of {task.total:,}")
    pace = _PaceColumn(table_column=Column(no_wrap=True))
    columns = (text, BarColumn(bar_width=20), TaskProgressColumn(), counts, pace)
    return Progress(*columns, console=console, transient=True)


class _PlainLines:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._beginning = _Beginning("", 0, 0.0)
        self._line, self._said = "", ""
        self._due, self._silence = 0.0, FIRST_SILENCE

    def __call__(self, done: int, total: int, text: str) -> None:
        now = time.monotonic()
        if text != self._beginning.text:
            self._beginning = _Beginning(text, done, now)
            self._due, self._silence = now, FIRST_SILENCE
        pace = self._beginning.pace(done, total, now).told(now) if done < total else ""
        share = f" ({done / total:.0%})" if total else ""
        self._line = f"{text}: {done:,} of {total:,}{share}" + (f", {pace}" if pace else "")
        if now >= self._due or done == total:
            self.say()
            self._due, self._silence = now + self._silence, min(2 * self._silence, LONGEST_SILENCE)

    def say(self) -> None:
        """Write the latest line, unless that was done."""
        if self._line != self._said:
            self._console.print(self._line, markup=False, highlight=False, soft_wrap=True)
            self._said = self._line


def rate_told(rate: float) -> str:
    """A rate per second, minute or hour: the first of them that makes it at least 1."""
    units = {"second": 1, "minute": MINUTE, "hour": HOUR}
    unit = next((unit for unit, seconds in units.items() if rate * seconds >= 1), "hour")
    number = rate * units[unit]
    return f"{number:,.0f} per {unit}" if number >= 100 else f"{number:.2g} per {unit}"


def time_told(seconds: float) -> str:
    """A duration in the unit that suits it."""
    if seconds < 2 * MINUTE:
        return f"{seconds:.0f} s"
    if seconds < 2 * HOUR:
        return f"{seconds / MINUTE:.0f} min"
    if seconds < 2 * DAY:
        return f"{seconds / HOUR:.0f} h"
    return f"{seconds / DAY:.0f} days"
