"""How much memory there is, asked before any of it is taken."""

from pathlib import Path

from widenet.base.errors import InputError

CGROUP = Path("/sys/fs/cgroup")
BASE_BYTES = 600 * 2**20  # interpreter and libraries
USABLE_SHARE = 0.8  # of the free memory; the rest is left to the system
ASSUMED_BYTES = 8 * 2**30  # free memory, where the system does not tell


def available_bytes() -> int | None:
    """Bytes that can still be taken without swapping, the container's limit included; None where unknown."""
    known = [amount for amount in (_machine_bytes(), _container_bytes()) if amount is not None]
    return min(known, default=None)


def usable_bytes() -> int:
    """Bytes that a job may plan with: a share of what is free, or of what is assumed to be."""
    available = available_bytes()
    return int(USABLE_SHARE * (ASSUMED_BYTES if available is None else available))


def require_memory(
    num_bytes: int, what: str, advice: str = "use fewer rows or columns, or a machine with more memory"
) -> None:
    """Refuse a job that needs more memory than there is.

    Args:
        num_bytes: Peak number of bytes that the job will hold.
        what: The job, as the subject of the sentence that refuses it.
        advice: What to do instead.
    """
    available = available_bytes()
    if available is not None and num_bytes > available:
        raise InputError(
            f"{what} needs about {num_bytes / 2**30:,.1f} GiB of memory, but only "
            f"{available / 2**30:,.1f} GiB is available: {advice}."
        )


def _machine_bytes() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None


def _container_bytes() -> int | None:
    """What the control group of this process leaves, version 2 of its files; None without a limit."""
    try:
        limit = int((CGROUP / "memory.max").read_text())
        return max(limit - int((CGROUP / "memory.current").read_text()), 0)
    except (OSError, ValueError):  # no such file, or the word "max"
        return None
