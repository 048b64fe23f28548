"""Doors of the studies in Python: data of any kind in, a result out, settings as keyword arguments."""

import sys
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from importlib import import_module
from types import ModuleType
from typing import Any, Literal, TypedDict, TypeVar

from widenet.base.errors import InputError
from widenet.base.wording import column_name, column_names
from widenet.study.reading import Reading
from widenet.study.result import Result
from widenet.study.settings import Settings

READING = tuple(each.name for each in fields(Reading))

R = TypeVar("R", bound=Result)


class ReadingOptions(TypedDict, total=False):
    """How data is read, as keyword arguments: those of `widenet.load`."""

    target: Hashable | None
    task: Literal["classification", "regression"] | None
    prepare: Literal["unit", "standard", "raw"] | None
    drop: Sequence[Hashable]
    keep: Sequence[Hashable]
    categorical: Sequence[Hashable]


class CallableRoom(ModuleType):
    """A folder that is called like the function that is its door, as `widenet.audit`."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        return getattr(import_module(f"{self.__name__}.door"), self.__name__.rpartition(".")[2])(
            *args, **options
        )


def make_callable(name: str) -> None:
    """Let a folder of this name be called; its function is imported when that happens."""
    sys.modules[name].__class__ = CallableRoom


def split_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keyword arguments of reading, and those that are settings of the study."""
    reading = {name: _in_words(name, value) for name, value in options.items() if name in READING}
    return reading, {name: value for name, value in options.items() if name not in READING}


def _in_words(name: str, value: Any) -> Any:
    """An option of reading as `config.json` can have it: names of columns may be numbers, of numpy too."""
    if name == "target" and value is not None:
        return column_name(value)
    if name in ("drop", "keep", "categorical"):
        return column_names(value)
    return value


def read_any(data: Any, y: Any, reading: dict[str, Any], *, unit_rows: bool = False) -> Any:
    """The `Dataset` of data of any kind; one that was loaded before is taken as it is.

    Args:
        data: What `widenet.load` takes, or a `Dataset`.
        y: Targets, where they are not in the data.
        reading: Arguments of `widenet.load`.
        unit_rows: Whether rows of concept classes are scaled to norm 1 by default.
    """
    from widenet.data.concept_names import is_concept
    from widenet.data.dataset import Dataset
    from widenet.data.loading import load

    if isinstance(data, Dataset):
        if y is not None or reading:
            given = ["y"] * (y is not None) + list(reading)
            raise InputError(
                f"The data is loaded already, so `{given[0]}` does not apply: give it to `load`."
            )
        return data
    if unit_rows and isinstance(data, str) and is_concept(data):
        reading = {"prepare": "unit"} | reading
    return load(data, y, **reading)


def with_config(result: R, dataset: Any, reading: dict[str, Any], settings: Settings) -> R:
    """The result with the settings that it was found with, as `config.json` has them."""
    read = {"data": dataset.name, **asdict(Reading()), **reading, "prepare": dataset.preparation.kind}
    return replace(result, config=read | asdict(settings) | result.resolved())
