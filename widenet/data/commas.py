"""Commas in numbers: 3,14 has a decimal one, 1,234,567 has not, and 31,770 may mean either."""

import re
from collections.abc import Sequence

PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?", re.ASCII)  # 1,234 and 1,234.50
SURELY_GROUPED = re.compile(r".*,.*[,.].*", re.ASCII)  # one comma alone may be a decimal one
DECIMAL = re.compile(r"[+-]?(\d+|[1-9]\d{0,2}(\.\d{3})+),\d+", re.ASCII)  # 3,14 and 1.234,50


def have_commas(words: Sequence[str]) -> bool:
    """Whether words are all numbers, some of them with commas."""
    others = [word for word in words if not PLAIN.fullmatch(word.strip())]
    return bool(others) and all(_has_comma(word) for word in others)


def comma_advice(words: Sequence[str]) -> str:
    """How to write numbers without commas; empty where the first word is no number with one.

    >>> comma_advice(["3,14", "31,770"])
    'write decimals with a point (3.14)'
    >>> comma_advice(["31,770", "1,234,567"])
    'write thousands without commas (31770)'

    Args:
        words: Values of a column, of which those that are no numbers with commas tell nothing.
    """
    found = [word.strip() for word in words if _has_comma(word)]
    if not found or found[0] != words[0].strip():
        return ""
    grouped = [word for word in found if GROUPED.fullmatch(word)]
    is_decimal = len(grouped) < len(found)
    is_grouped = any(SURELY_GROUPED.fullmatch(word) for word in grouped)
    example = grouped[0] if grouped else found[0]
    whole = f"write thousands without commas ({example.replace(',', '')})"
    if is_decimal and not is_grouped:
        return f"write decimals with a point ({_with_point(found[0])})"
    if is_grouped and not is_decimal:
        return whole
    if is_decimal:
        return "some have a comma before decimals and others before thousands: write all of them in one way"
    decimal = f"decimals with a point ({_with_point(example)})"
    return f"the comma may stand before thousands or before decimals: {whole}, or {decimal}"


def _has_comma(word: str) -> bool:
    return bool(GROUPED.fullmatch(word.strip()) or DECIMAL.fullmatch(word.strip()))


def _with_point(word: str) -> str:
    return word.replace(".", "").replace(",", ".")
