"""Quantities of the theory, and the list of them, as JSON has them."""

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

from widenet.report.theory.sentences import sentences
from widenet.theory.entry import Argument, Entry
from widenet.theory.quantity import Quantity

SCHEMA = "widenet/theory/1"


def record(quantity: Quantity) -> dict[str, Any]:
    """One quantity."""
    return _head() | quantity.to_dict() | {"verdict": list(sentences(quantity))}


def listing(groups: Mapping[str, Iterable[Entry]]) -> dict[str, Any]:
    """What can be computed, and from which arguments."""
    quantities = [
        {
            "name": entry.name,
            "paper": paper,
            "summary": entry.summary,
            "arguments": {name: _argument(argument) for name, argument in entry.arguments.items()},
        }
        for paper, entries in groups.items()
        for entry in entries
    ]
    return _head() | {"quantities": quantities}


def _head() -> dict[str, str]:
    return {"schema": SCHEMA, "version": version("widenet")}


def _argument(argument: Argument) -> dict[str, Any]:
    return {
        "meaning": argument.meaning,
        "kind": argument.kind.__name__,
        "range": argument.range,
        "default": argument.default,
    }
