"""Words for messages: values shown safely, names suggested, lists kept short."""

import difflib
import math
import re
from collections.abc import Hashable, Iterable, Sequence

LONGEST = 100  # characters of a value that a message shows
KIBI = 1024
MINUTE, HOUR, DAY = 60, 3600, 86400  # seconds


def shown(value: object) -> str:
    """A value in quotes, on one line, with control characters escaped and long text cut."""
    text = str(value)
    return repr(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…")


def encodable(text: str) -> str:
    r"""Text without lone surrogates, which no file, page or terminal can hold.

    >>> encodable("a\ud800b")
    'a\ufffdb'
    """
    return text if text.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", text)


def listed(values: Iterable[object], limit: int = 8) -> str:
    """Values in quotes with commas between, at most `limit` of them."""
    values = list(values)
    more = f" and {len(values) - limit} more" if len(values) > limit else ""
    return ", ".join(shown(value) for value in values[:limit]) + more


def column_name(given: Hashable) -> str:
    """The name of a column in words, of whatever pandas takes for one: a number, or a tuple of levels."""
    if isinstance(given, tuple):
        return " ".join(word for word in map(str, given) if word)  # `reset_index` leaves levels empty
    return str(given)


def column_names(given: Hashable | Iterable[Hashable]) -> tuple[str, ...]:
    """Several names of columns in words, or a single one."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        return (column_name(given),)
    return tuple(map(column_name, given))


def near_names(name: str, names: Sequence[str]) -> str:
    """Half a sentence that suggests the names most like `name`, or lists them all when none is near."""
    near = _nearest(name, names)
    return f"did you mean {listed(near)}?" if near else f"there are {listed(names)}."


def no_such(what: str, name: str, names: Sequence[str]) -> str:
    """The sentence that there is none of that name, with the names most like it, and then all of them.

    >>> no_such("kernel", "gausian", ["polynomial", "gaussian"])
    "There is no kernel 'gausian': did you mean 'gaussian'? Kernels: polynomial, gaussian."
    """
    near = _nearest(name, names)
    suggestion = f": did you mean {listed(near)}?" if near else "."
    return f"There is no {what} {shown(name)}{suggestion} {what.capitalize()}s: {', '.join(names)}."


def _nearest(name: str, names: Sequence[str]) -> list[str]:
    folded = {known.casefold(): known for known in names}
    inside = [known for fold, known in folded.items() if fold.endswith(f".{name.casefold()}")]
    return inside[:3] or [
        folded[match] for match in difflib.get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)
    ]


def counted(number: int, noun: str) -> str:
    """A number with its noun, as in '1 row' or '2,000 rows'."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key that puts 'class 2' before 'class 10'; numbers of any length are compared as their digits.

    The text itself comes last, so that '0.1' and '0.01' have an order that does not change from run to run.
    """
    parts = re.split(r"([0-9]+)", text)
    keys = tuple(
        (0, len(part.lstrip("0")), part.lstrip("0")) if part[0] in "0123456789" else (1, 0, part)
        for part in parts
        if part
    )
    return (*keys, (-1, 0, text))


def memory(num_bytes: int) -> str:
    """Bytes in the unit that leaves one to four digits before the point."""
    size, units = float(num_bytes), ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while size >= KIBI and len(units) > 1:
        size, units = size / KIBI, units[1:]
    return f"{size:.3g} {units[0]}" if size < 1000 else f"{size:.0f} {units[0]}"


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    if seconds < 0.1:
        return "less than 0.1 seconds"
    if seconds < 2 * MINUTE:
        told = f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}"
        return f"{told} second" if told == "1" else f"{told} seconds"
    return f"{seconds / MINUTE:.0f} minutes" if seconds < 2 * HOUR else f"{seconds / HOUR:.1f} hours"


def number(value: float) -> str:
    """Three significant digits, and all digits before the point."""
    size = abs(value)
    if not math.isfinite(value):
        return "unbounded" if math.isinf(value) else "undefined"
    if size >= 1e7 or 0 < size < 1e-4:
        return f"{value:.1e}"
    return f"{value:,.0f}" if size >= 999.5 else f"{value:.3g}"


def percent(share: float) -> str:
    """A share of 1 as a percentage of about two digits."""
    value = 100 * share
    if 0 < value < 1e-3:
        return "less than 0.001%"
    text = f"{value:.0f}" if 10 <= value < 99 else f"{value:.1f}" if value >= 1 else f"{value:.1g}"
    return text.removesuffix(".0") + "%"
