"""What every study finds: frozen, of numbers and enumerations, the same dictionary in Python and as JSON."""

import tempfile
import webbrowser
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from html import escape
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Self

from widenet.base.errors import InputError


class Outcome(Enum):
    """How a study ended: as it should, with some of its pieces failed, or without what it was to find."""

    DONE = "done"
    PARTLY = "partly"
    FAILED = "failed"


def aside(**options: Any) -> Any:
    """A field of a result that `to_dict` leaves out, because it has a file of its own."""
    return field(metadata={"aside": True}, **options)


@dataclass(frozen=True, repr=False, kw_only=True)
class Result:
    """The base of all results.

    Attributes:
        schema: Name and version of the record that `to_dict` makes.
        room: Module of its report; empty where it has none.
        version: Version of widenet.
        config: The settings that it was found with, by name; empty where they are not known.
    """

    schema: ClassVar[str]
    room: ClassVar[str] = ""
    version: str = field(default_factory=lambda: version("widenet"))
    config: Mapping[str, Any] = aside(default_factory=dict)

    @property
    def outcome(self) -> Outcome:
        """How the study ended."""
        return Outcome.DONE

    def facts(self) -> dict[str, str]:
        """A handful of key figures by name, for those who look at the result itself."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, as JSON has them."""
        record = {"schema": self.schema, **plain(self)}
        data = record.get("data")
        if isinstance(data, dict) and "columns" in data:
            record["columns"] = data.pop("columns")
        return record

    def resolved(self) -> dict[str, Any]:
        """Settings that were left open, as the study chose them."""
        return {}

    def placed(self, out: Path) -> Self:
        """The result as it is written to a folder; some name files in it."""
        return self

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write report, JSON and files to a folder, as the command line does; returns the report's path.

        Args:
            folder: The folder to write.
            force: Whether an earlier result in it may be replaced.
        """
        return self._save(Path(folder), force=force)

    def _save(self, folder: Path, **options: Any) -> Path:
        parts = import_module("widenet.report.parts.publish")
        parts.publish(self._room(), self, folder, self.config or self.resolved(), **options)
        object.__setattr__(self, "_folder", folder)  # not a part of the result
        return folder / parts.PAGE_FILE

    def open(self) -> Path:
        """Show the report in a browser; it is written to a temporary folder unless it was saved.

        Returns:
            The report's path.
        """
        page = import_module("widenet.report.parts.publish").PAGE_FILE
        folder = getattr(self, "_folder", None)
        if folder is None or not (folder / page).exists():
            folder = Path(tempfile.mkdtemp(prefix="widenet-")) / "report"
            self.save(folder)
        webbrowser.open((folder / page).resolve().as_uri())
        return Path(folder / page)

    def _room(self) -> Any:
        if not self.room:
            raise InputError(f"{type(self).__name__} has no report to write.")
        return import_module(self.room)

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={value}" for name, value in self.facts().items())
        return f"{type(self).__name__}({told})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>"
            for name, value in self.facts().items()
        )
        told = self._room().sentences(self) if self.room else ()
        answer = "".join(f"<p>{escape(sentence)}</p>" for sentence in told)
        return f"<table><caption>{escape(type(self).__name__)}</caption>{rows}</table>{answer}"


def plain(value: Any) -> Any:
    """Dataclasses as dictionaries without what is aside, enumerations by their values, tuples as lists."""
    if is_dataclass(value) and not isinstance(value, type):
        kept = (each.name for each in fields(value) if not each.metadata.get("aside"))
        return {name: plain(getattr(value, name)) for name in kept}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
