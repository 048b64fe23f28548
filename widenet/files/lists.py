"""Lists inside of columns: numbers side by side become columns, and other lists become text."""

from __future__ import annotations

from collections.abc import Container, Mapping
from itertools import count
from typing import Any

SINGLE = (str, int, float, bool)


def without_lists(columns: Mapping[str, list[Any]], others: Container[str] = ()) -> dict[str, list[Any]]:
    """Columns by name in which lists of single values are spread out or written as text.

    Those that were spread out come first, because the last column is taken for the target if none is named.
    They take no name of `others`, which are columns beside these.

    >>> without_lists({"tags": [["new"], ["new", "red"]], "at": [[5.1, 60.4], None]})
    {'at 1': [5.1, None], 'at 2': [60.4, None], 'tags': ['new', 'new, red']}
    """
    spread, plain = dict[str, list[Any]](), dict[str, list[Any]]()
    for name, values in columns.items():
        lists = [value for value in values if isinstance(value, list)]
        items = [item for each in lists for item in each]
        if not lists or not all(item is None or isinstance(item, SINGLE) for item in items):
            plain[name] = values
        elif _are_points(values, lists, items):
            spread |= {
                free_name(f"{name} {k + 1}", columns, others): [
                    value[k] if value else None for value in values
                ]
                for k in range(max(map(len, lists)))
            }
        else:
            plain[name] = [_written(value) if isinstance(value, list) else value for value in values]
    return spread | plain


def _are_points(values: list[Any], lists: list[list[Any]], items: list[Any]) -> bool:
    """Whether a column holds as many numbers in every row that has any: coordinates, with gaps or not."""
    given = [item for item in items if item is not None]
    are_numbers = all(isinstance(item, int | float) and not isinstance(item, bool) for item in given)
    are_alike = bool(given) and len({len(each) for each in lists if each}) == 1
    return are_numbers and are_alike and all(value is None or isinstance(value, list) for value in values)


def _written(items: list[Any]) -> str | None:
    return ", ".join(str(item) for item in items if item is not None) or None


def free_name(name: str, *taken: Container[str]) -> str:
    """A name that no other column has.

    >>> free_name("at 1", ["at 1", "at 1 (inside)"])
    'at 1 (inside 2)'
    """
    chosen, number = name, count(2)
    while any(chosen in each for each in taken):
        chosen = f"{name} (inside)" if chosen == name else f"{name} (inside {next(number)})"
    return chosen
