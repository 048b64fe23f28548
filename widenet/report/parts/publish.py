"""A result on its way out: the doors that every room of the report has, and the folder that they fill."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console

from widenet.report.parts.files import to_json, write_folder

PAGE_FILE, RESULT_FILE, CONFIG_FILE = "report.html", "result.json", "config.json"


class Room(Protocol):
    """The report of one study: a module with these doors.

    One that has words for what its study notes on the way has `on_the_way(fact) -> tuple[str, ...]` as well.
    One whose files vouch for each other has `seal(result, contents, key) -> dict[str, bytes]`: it makes the
    last ones from the contents of all others, signed with the key if there is one.

    Attributes:
        FILES: Names of the files that `files` may give.
    """

    FILES: tuple[str, ...]

    def sentences(self, result: Any) -> tuple[str, ...]:
        """The answer in sentences, the most important first; the same everywhere."""

    def record(self, result: Any) -> dict[str, Any]:
        """The result as JSON has it, its sentences under `verdict`."""

    def page(self, result: Any) -> str:
        """One HTML page that opens offline."""

    def screen(self, result: Any, console: Console) -> None:
        """A screenful of a terminal."""

    def files(self, result: Any) -> dict[str, str | bytes]:
        """Files beside page, record and settings, by name."""


def publish(
    room: Room, result: Any, out: Path, config: Mapping[str, Any], *, force: bool, key: Any = None
) -> Any:
    """Write the folder of a result, whole or not at all; returns the result as it was written.

    Args:
        room: Its room of the report.
        result: What was found.
        out: The folder.
        config: The settings that it was found with.
        force: Whether an earlier result may be replaced.
        key: What to sign the folder with, where the room seals it.
    """
    result = result.placed(out)
    made = {
        PAGE_FILE: room.page(result),
        RESULT_FILE: to_json(room.record(result)),
        **room.files(result),
        CONFIG_FILE: to_json(config),
    }
    contents = {name: each if isinstance(each, bytes) else each.encode() for name, each in made.items()}
    if hasattr(room, "seal"):
        contents |= room.seal(result, contents, key)
    write_folder(out, contents, force=force, replaceable=room.FILES)
    return result


def all_files(room: Room) -> tuple[str, ...]:
    """Names of everything that a result's folder may hold."""
    return (PAGE_FILE, RESULT_FILE, CONFIG_FILE, *room.FILES)
