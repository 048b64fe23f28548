"""Column names as a file has them: made whole and unique, and the target found among them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from widenet.base.errors import InputError
from widenet.base.wording import encodable, listed, near_names, shown
from widenet.files.heading import holds_values, is_number

TARGET_NAMES = ("target", "label", "y", "class")
PANDAS_UNNAMED = re.compile(r"Unnamed: \d+")  # how pandas calls a column without a name


@dataclass(frozen=True)
class Header:
    """Names of columns.

    Attributes:
        names: A name for each column, no two the same.
        unnamed: Those of them that the file did not give.
        repeated: Names that the file gave more than once.
    """

    names: tuple[str, ...]
    unnamed: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What is told of names that were changed."""
        if not self.repeated:
            return ()
        return (f"More than one column is named {listed(self.repeated)}; the later ones were numbered.",)


def header_of(given: Sequence[str], file_name: str) -> Header:
    """The header that a line of names makes; one that is no header is refused."""
    given = [name.strip() for name in given]
    if all(len(name) > 2 and name[0] == name[-1] == "'" for name in given):
        given = [name[1:-1] for name in given]  # quoted another way
    if not any(given):
        raise InputError(f"{file_name} is empty: it needs a header line and rows.")
    if len(given) < 2:
        raise InputError(
            f"{file_name} has only the column {shown(given[0])}: it needs features and a target."
        )
    if holds_values(given):
        value = next(name for name in given if is_number(name))
        raise InputError(
            f"The first line of {file_name} holds values such as {shown(value)}, not column names, and is "
            "unlike the lines below it: add a header line with a name for each column."
        )
    return unique_names(given)


def unique_names(given: Sequence[str]) -> Header:
    """Names in which the empty ones are filled in and repeated ones numbered.

    >>> unique_names(["", "a", "a"]).names
    ('column 1', 'a', 'a (2)')
    """
    given = [encodable(name) for name in given]
    counts = Counter(name for name in given if name)
    taken, seen = set(counts), Counter[str]()
    names, unnamed = [], []
    for position, name in enumerate(given, start=1):
        seen[name] += 1
        chosen = name if name and seen[name] == 1 else _free(name, position, seen[name], taken)
        taken.add(chosen)
        names.append(chosen)
        if not name or PANDAS_UNNAMED.fullmatch(name):
            unnamed.append(chosen)
    return Header(tuple(names), tuple(unnamed), tuple(name for name in counts if counts[name] > 1))


def _free(name: str, position: int, number: int, taken: set[str]) -> str:
    """A name that no other column has."""
    chosen = f"{name} ({number})" if name else f"column {position}"
    while chosen in taken:
        chosen += "*"
    return chosen


def choose_target(header: Header, target: str | None) -> tuple[str, str, bool]:
    """The target column, a sentence on why it is the one, and whether it is a guess: the last one."""
    if target is not None:
        if target in header.repeated:
            raise InputError(f"More than one column is named {shown(target)}: rename the one to predict.")
        if target in header.names:
            return target, f"The target is column {shown(target)}, as requested.", False
        raise InputError(f"There is no column {shown(target)}: {near_names(target, header.names)}")
    for wanted in TARGET_NAMES:
        for position, name in enumerate(header.names):
            if name.casefold() == wanted and not _is_coordinate(header.names, position):
                return name, f"The target is column {shown(name)}, chosen by its name.", False
    named = [name for name in header.names if name not in header.unnamed] or list(header.names)
    return named[-1], f"The target is column {shown(named[-1])}, chosen because it is the last.", True


def _is_coordinate(names: Sequence[str], position: int) -> bool:
    """Whether a column is the y of coordinates x, y: it follows an x, and others follow it."""
    follows_x = position > 0 and names[position - 1].casefold() == "x"
    return names[position].casefold() == "y" and follows_x and position < len(names) - 1
