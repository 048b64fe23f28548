"""What processes on other machines must have in common to compute alike."""

import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

from widenet.base.errors import InputError
from widenet.runs.records import checksum


def code_here() -> tuple[str, ...]:
    """What numbers depend on besides the data: versions of widenet, with its source, of torch and Python."""
    major, minor, _ = platform.python_version_tuple()
    return (f"widenet {package_version()}", f"torch {version('torch')}", f"Python {major}.{minor}")


def other_code(worker: str, here: tuple[str, ...], there: tuple[str, ...] | None) -> InputError:
    """The sentence that a worker would compute by other code."""
    wanted = ", ".join(name for name in here if there is None or name not in there)
    found = "something else" if there is None else ", ".join(name for name in there if name not in here)
    return InputError(
        f"The worker at {worker} has {found}, not {wanted}: install the same there and start it again."
    )


@cache
def package_version() -> str:
    """The version of widenet and a hash of all of its source, for processes that must compute alike."""
    root = Path(__file__).parents[1]
    parts = ((str(path.relative_to(root)).encode(), path.read_bytes()) for path in sorted(root.rglob("*.py")))
    return f"{version('widenet')} {checksum(*(part for pair in parts for part in pair)).hex()[:12]}"
