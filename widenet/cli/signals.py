"""Signals that end a run: each as Ctrl-C does, so that what is done is kept."""

import os
import signal
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

NAMES = ("SIGTERM", "SIGHUP")  # besides SIGINT, which Python turns into a KeyboardInterrupt itself


class Stopped(KeyboardInterrupt):
    """One of these signals came."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = signal.Signals(number)


@contextmanager
def stopping_signals() -> Iterator[None]:
    """Let these signals interrupt as Ctrl-C does; those that somebody chose to ignore stay ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what signals do
        return
    numbers = [getattr(signal, name) for name in NAMES if hasattr(signal, name)]
    changed = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in changed:
        signal.signal(number, _stop)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


def stop_code(error: BaseException) -> tuple[str, int]:
    """What to say of an interruption, and the exit code: 128 and the number of the signal."""
    stopped = error if isinstance(error, Stopped) else error.__cause__  # click puts its own error around it
    if isinstance(stopped, Stopped):
        return f"Interrupted by {stopped.number.name}.", 128 + stopped.number
    return "Interrupted.", 128 + signal.SIGINT


def _stop(number: int, frame: FrameType | None) -> None:
    for name in NAMES:  # a closed terminal sends two of them, and the second must not disturb the saving
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if number == getattr(signal, "SIGHUP", None):
        _leave_terminal()
    raise Stopped(number)


def _leave_terminal() -> None:
    """Write nowhere instead of to a terminal that is gone, which would fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        if stat.S_ISCHR(os.fstat(descriptor).st_mode):  # of one that is gone, `isatty` no longer says so
            os.dup2(nowhere, descriptor)
    os.close(nowhere)
