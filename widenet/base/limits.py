"""What the system lets this process take: of the machine, of its control groups, of its own limits."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

if sys.platform != "win32":
    import resource

UNLIMITED = 2**60  # version 1 of control groups writes a number near 2⁶³ where there is no limit


@dataclass(frozen=True)
class Places:
    """Where the system tells of memory."""

    proc: Path = Path("/proc")
    cgroup: Path = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Version:
    """The files of a version of control groups, and what page cache is called that can be dropped at once."""

    limit: str
    used: str
    cache: tuple[str, ...]  # in `memory.stat`; the first that is there counts


VERSION_1 = Version(
    "memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file", "inactive_file")
)
VERSION_2 = Version("memory.max", "memory.current", ("inactive_file",))


def free_bytes(places: Places) -> int | None:
    """Bytes that this process can still take: the tightest of all limits; None where none is known."""
    known = [_machine_bytes(places), *_group_bytes(places), *_own_bytes(places)]
    return min((amount for amount in known if amount is not None), default=None)


def _machine_bytes(places: Places) -> int | None:
    """What can be taken without swapping."""
    return _amount(places.proc / "meminfo", "MemAvailable:")


def _group_bytes(places: Places) -> Iterator[int | None]:
    """What each control group leaves that this process is in, itself or through a group inside it."""
    for line in _lines(places.proc / "self" / "cgroup"):
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if (
            not controllers
        ):  # the one hierarchy of version 2, beside those of version 1 in a folder of its own
            mounts, version = [places.cgroup, places.cgroup / "unified"], VERSION_2
        elif "memory" in controllers.split(","):
            mounts, version = [places.cgroup / "memory"], VERSION_1
        else:
            continue
        for mount in mounts:
            yield from (_left(mount / group, version) for group in _with_ancestors(path))


def _with_ancestors(path: str) -> Iterator[PurePosixPath]:
    """The group and all that it is in, relative to the root, which comes last.

    In a container the path may be that outside of it, where only the root is to be found, or lead upwards.
    """
    group = PurePosixPath(*(part for part in PurePosixPath(path).parts if part not in ("/", "..")))
    yield group
    yield from group.parents


def _left(folder: Path, version: Version) -> int | None:
    """What a group leaves of its limit; None where it has none."""
    limit, used = (_number(folder / name) for name in (version.limit, version.used))
    if limit is None or used is None or limit >= UNLIMITED:
        return None
    found = (_amount(folder / "memory.stat", name) for name in version.cache)
    cache = next((amount for amount in found if amount is not None), 0)
    return max(limit - max(used - cache, 0), 0)


def _own_bytes(places: Places) -> Iterator[int | None]:
    """What is left of the limits of this process, on its address space and on its data."""
    if sys.platform == "win32":
        return
    status = places.proc / "self" / "status"
    for limit, size in ((resource.RLIMIT_AS, "VmSize:"), (resource.RLIMIT_DATA, "VmData:")):
        most, _ = resource.getrlimit(limit)
        if most != resource.RLIM_INFINITY:
            yield max(most - (_amount(status, size) or 0), 0)


def _number(path: Path) -> int | None:
    """The number in a file; None if it cannot be read, or has a word, as "max" where there is no limit."""
    first = next(_lines(path), "")
    return int(first) if first.isdecimal() else None


def _amount(path: Path, name: str) -> int | None:
    """The bytes in the line of a file that begins with this name; None where there is no such line."""
    for line in _lines(path):
        words = line.split()
        if words and words[0] == name and words[1:] and words[1].isdecimal():
            return int(words[1]) * (1024 if words[2:] == ["kB"] else 1)
    return None


def _lines(path: Path) -> Iterator[str]:
    """The lines of a file; none where it cannot be read."""
    try:
        yield from path.read_text(errors="replace").splitlines()
    except OSError:
        return
