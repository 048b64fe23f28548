"""One study: settings -> forecast -> run -> result, and the room of the report that tells it."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from widenet.study.settings import Settings


@dataclass(frozen=True)
class Study:
    """What a command needs to know of a study; nothing here imports torch.

    Attributes:
        name: Of the command.
        summary: What the command does, in one sentence.
        details: What else its help tells.
        settings: Its settings; their fields become the command's options.
        runner: "module:function" of `run(dataset, settings, *, cluster, store, allow_long, progress)`, which
            gives a `Result`; without `dataset`, `cluster` or `store` where the study has none.
        report: Module with the doors of its report: `sentences`, `record`, `page`, `screen`, `files`.
        reads_data: Whether it is about a data set.
        data_option: Whether the data set may also be given as an option, `data`.
        resumes: Whether it takes a store, from which an interrupted run goes on.
        writes: Whether it leaves a folder behind.
        distributes: Whether it can run on a cluster.
        signs: Whether that folder can be signed with a key.
        unit_rows: Whether rows of concept classes are scaled to norm 1 by default, as those of tables are.
    """

    name: str
    summary: str
    settings: type[Settings]
    runner: str
    report: str
    details: str = ""
    reads_data: bool = True
    data_option: bool = False
    resumes: bool = False
    writes: bool = True
    distributes: bool = False
    signs: bool = False
    unit_rows: bool = False

    @property
    def run(self) -> Callable[..., Any]:
        """The function that runs it, imported now."""
        return named(self.runner)

    @property
    def room(self) -> Any:
        """The module that tells it, imported now."""
        return import_module(self.report)


def named(place: str) -> Any:
    """What stands at "module:name"."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
