"""Words for messages: values shown safely, names suggested, lists kept short."""

import difflib
import re
from collections.abc import Iterable, Sequence

LONGEST = 100  # characters of a value that a message shows


def shown(value: object) -> str:
    """A value in quotes, on one line, with control characters escaped and long text cut."""
    text = str(value)
    return repr(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…")


def listed(values: Iterable[object], limit: int = 8) -> str:
    """Values in quotes with commas between, at most `limit` of them."""
    values = list(values)
    more = f" and {len(values) - limit} more" if len(values) > limit else ""
    return ", ".join(shown(value) for value in values[:limit]) + more


def near_names(name: str, names: Sequence[str]) -> str:
    """Half a sentence that suggests the names most like `name`, or lists them all when none is near."""
    folded = {known.casefold(): known for known in names}
    near = [folded[match] for match in difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)]
    return f"did you mean {listed(near)}?" if near else f"there are {listed(names)}."


def counted(number: int, noun: str) -> str:
    """A number with its noun, as in '1 row' or '2,000 rows'."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key that puts 'class 2' before 'class 10'."""
    parts = re.split(r"([0-9]+)", text)
    return tuple(
        (0, int(part), "") if part.isascii() and part.isdigit() else (1, 0, part) for part in parts if part
    )
