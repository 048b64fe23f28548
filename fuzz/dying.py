"""A process that kills itself: before a step that changes the disk, inside one, or at some time."""

import os
import signal
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from widenet.report.parts import files

OF_SYSTEM = ("rename", "replace", "link", "fsync", "unlink", "rmdir", "mkdir")
NEVER = 2**62


@dataclass(frozen=True)
class Moment:
    """When to die.

    Attributes:
        step: Number of the step that changes the disk, from 1 on.
        inside: Seconds from its beginning; None to die before it.
        time: Seconds from the start of the run; None to wait for the step.
    """

    step: int = NEVER
    inside: float | None = None
    time: float | None = None

    def told(self) -> str:
        """In words."""
        if self.time is not None:
            return f"{self.time:.3f} s after the start"
        when = "before" if self.inside is None else f"{1e3 * self.inside:.1f} ms into"
        return f"{when} step {self.step}"


class Dying:
    """Counts the steps of this process, and kills it at one of them."""

    def __init__(self, moment: Moment) -> None:
        self.moment, self.num_steps = moment, 0
        self._lock = threading.Lock()

    def arm(self) -> None:
        """Watch every step from now on."""
        for name in OF_SYSTEM:
            setattr(os, name, self._watched(getattr(os, name)))
        files.exchange = self._watched(files.exchange)
        watch, connect = self._step, sqlite3.connect

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
                if not sql.startswith(("SELECT", "PRAGMA")):
                    watch()
                return super().execute(sql, *arguments)

        sqlite3.connect = partial(connect, factory=Connection)  # type: ignore[assignment]
        if self.moment.time is not None:
            _die_in(self.moment.time)

    def _watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **options: Any) -> Any:
            self._step()
            return function(*arguments, **options)

        return step

    def _step(self) -> None:
        with self._lock:
            self.num_steps += 1
            reached = self.num_steps == self.moment.step
        if reached and self.moment.inside is None:
            _die()
        elif reached:
            _die_in(self.moment.inside or 0.0)  # while the step runs, within SQLite or the system


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _die_in(seconds: float) -> None:
    timer = threading.Timer(seconds, _die)
    timer.daemon = True
    timer.start()
