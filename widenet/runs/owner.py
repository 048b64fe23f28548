"""Who runs a trial, and whether that process still lives."""

import os
import socket
import uuid
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

PROC = Path("/proc")
BEAT = 15.0  # seconds between two signs of life of a process that holds claims or a lock
LEASE = 120.0  # seconds without one after which a process on another machine counts as gone


@dataclass(frozen=True)
class Owner:
    """One open store in one process."""

    token: str  # drawn at random, so that no two owners are the same
    place: str  # where the process number means this process, from `current_place`
    pid: int  # number of the process
    started: int  # when the process started, in the kernel's own count; 0 where that is not known

    @classmethod
    def new(cls) -> "Owner":
        """An owner in this process."""
        pid = os.getpid()
        return cls(uuid.uuid4().hex, current_place(), pid, _started(pid) or 0)

    def is_gone(self) -> bool:
        """Whether the process is known to have ended; False where that cannot be seen from here."""
        if self.place != current_place() or os.name != "posix":
            return False
        try:
            os.kill(self.pid, 0)  # sends nothing, only asks whether there is such a process
        except ProcessLookupError:
            return True
        except (PermissionError, OverflowError):
            return False
        started = _started(self.pid)
        return started is not None and started != self.started

    def is_there(self) -> bool:
        """Whether the process is known to live, be it stopped; False where that cannot be seen from here."""
        return self.place == current_place() and bool(self.started) and _started(self.pid) == self.started

    def began(self) -> datetime | None:
        """When the process started; None where that cannot be seen from here."""
        if self.place != current_place() or not self.started:
            return None
        with suppress(OSError, ValueError, StopIteration):
            lines = (PROC / "stat").read_text().splitlines()
            boot = next(int(line.split()[1]) for line in lines if line.startswith("btime "))
            return datetime.fromtimestamp(boot + self.started / os.sysconf("SC_CLK_TCK"))
        return None


def current_place() -> str:
    """The machine, its boot and the process namespace: where all agree, a number means the same process."""
    place = [socket.gethostname()]
    with suppress(OSError):
        place.append((PROC / "sys/kernel/random/boot_id").read_text().strip())
        place.append(os.readlink(PROC / "self/ns/pid"))
    return " ".join(place)


def _started(pid: int) -> int | None:
    """Start time of a process in clock ticks; -1 if it ended without being collected, None if unknown."""
    try:
        fields = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    state, started = fields[0], fields[19]  # fields 3 and 22 of proc(5), after the name in brackets
    return -1 if state in "ZX" else int(started)
