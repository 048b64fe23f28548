"""Numbers as people write them: 3,14 has a decimal comma, 1,234,567 has not, and 31,770 may mean either."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

MOST_WORDS = 1000  # that a style is judged by where not all of them have it
EXPONENT = r"([eE][+-]?\d+)?"
SPACES = " \u00a0\u202f'\u2019"  # between thousands: spaces, some of which do not break, and apostrophes
CURRENCIES = "$€£¥"  # before or behind a number
UNIT = re.compile(r"[+-]?[\d.,]+ ?([^\W\d_][^\d\s]{0,9}|%)")  # 12 kg, 3.5km/h, 45%
# What people put around a number: limits of detection, estimates, footnotes. (5) is an accountant's -5.
MARKS_BEFORE, MARKS_BEHIND = "<>≤≥~≈=*[ \t", "]*+†‡#\u00a0 \t"
NEGATIVE = re.compile(r"\((?P<number>.*)\)")
CODE = re.compile(r"(?=.*[A-Za-z])[A-Za-z]{0,3}\d+[A-Za-z]{0,3}", re.ASCII)  # 136A, c168
WHOLE = re.compile(r"\d+", re.ASCII)
# 02138, 007: no number is written so, but zip codes and keys are. Two digits may be a month or an hour.
PADDED = re.compile(r"(?=\d{3})0\d*[1-9]\d*", re.ASCII)
POINTS = "points between thousands"
# What stands for a missing value among numbers and dates, where it cannot be a category.
PLACEHOLDERS = {
    "-",
    "--",
    "---",
    ".",
    "..",
    "*",
    "**",
    "na",
    "n.a.",
    "nd",
    "n.d.",
    "nan",
    "-nan",
    "nat",
    "nil",
}
PLACEHOLDERS |= {"none", "null", "missing", "unknown", "not available"}
PLACEHOLDERS |= {"#div/0!", "#name?", "#null!", "#num!", "#ref!", "#value!"}  # as spreadsheets write them


@dataclass(frozen=True)
class NumberStyle:
    """How the numbers of a column are written.

    Attributes:
        name: What it is called in sentences; empty for plain numbers.
        decimal: The sign before decimals.
        thousands: Signs between thousands.
        grammar: What a number looks like.
        sign: A currency or a unit that goes with the numbers.
        has_marks: Whether signs such as < or * around the numbers are taken off.
    """

    name: str
    decimal: str
    thousands: str
    grammar: re.Pattern[str]
    sign: str = ""
    has_marks: bool = False

    def numbers(self, values: pd.Series) -> np.ndarray:
        """Text as float64 of shape (n,), NaN where missing or no number of this style."""
        import pandas as pd

        if not pd.api.types.is_string_dtype(values.dtype):
            return plain_numbers(values)
        if self == PLAIN:
            return plain_numbers(values)
        return plain_numbers(values.map(self._plain, na_action="ignore"))

    def _plain(self, word: str) -> str:
        word = word.replace(self.sign, "").strip() if self.sign else word.strip()
        word = unmarked(word) if self.has_marks else word
        if not self.grammar.fullmatch(word):
            return word if is_infinite(word) else "no number"
        for sign in self.thousands:
            word = word.replace(sign, "")
        return word.replace(self.decimal, ".")


def _grammar(text: str) -> re.Pattern[str]:
    return re.compile(rf"[+-]?({text})", re.ASCII)


PLAIN = NumberStyle("", ".", "", _grammar(rf"(\d+(\.\d*)?|\.\d+){EXPONENT}"))
COMMA_THOUSANDS = NumberStyle(
    "commas between thousands",
    ".",
    ",",
    _grammar(rf"(\d+(\.\d*)?|\.\d+){EXPONENT}|[1-9]\d{{0,2}}(,\d{{3}})+(\.\d*)?"),
)
DECIMAL_COMMA = NumberStyle(
    "decimal commas", ",", ".", _grammar(rf"(\d+|[1-9]\d{{0,2}}(\.\d{{3}})+)(,\d*)?{EXPONENT}|,\d+")
)
SPACE_THOUSANDS = NumberStyle(
    "spaces between thousands", ".", SPACES, _grammar(rf"\d{{1,3}}([{SPACES}]\d{{3}})*(\.\d*)?|\d+(\.\d*)?")
)
SPACE_DECIMAL_COMMA = NumberStyle(
    "spaces between thousands and decimal commas",
    ",",
    SPACES,
    _grammar(rf"\d{{1,3}}([{SPACES}]\d{{3}})*(,\d*)?|\d+(,\d*)?"),
)
STYLES = (PLAIN, COMMA_THOUSANDS, DECIMAL_COMMA, SPACE_THOUSANDS, SPACE_DECIMAL_COMMA)


def plain_numbers(values: pd.Series) -> np.ndarray:
    """Values as float64 of shape (n,), NaN where missing or not a number."""
    import pandas as pd

    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(object)
    return np.array(pd.to_numeric(values, errors="coerce").to_numpy(np.float64, na_value=np.nan))


def unmarked(word: str) -> str:
    """A number without the signs around it, as plain text has it.

    >>> unmarked("<0.006"), unmarked("[98]"), unmarked("(1,234)")
    ('0.006', '98', '-1,234')
    """
    negative = NEGATIVE.fullmatch(word)
    number = (negative["number"] if negative else word).lstrip(MARKS_BEFORE).rstrip(MARKS_BEHIND)
    return f"-{number}" if negative else number


def are_codes(words: Iterable[str], others: Iterable[str]) -> bool:
    """Whether several words are codes such as 136A, in a column whose other words are whole numbers."""
    return all(map(CODE.fullmatch, words)) and all(map(WHOLE.fullmatch, others))


def are_padded_codes(words: Iterable[str]) -> bool:
    """Whether words are codes of digits, all as long as each other, with zeros before some of them.

    >>> are_padded_codes(["02138", "10115"]), are_padded_codes(["01", "12"]), are_padded_codes(["007", "15"])
    (True, False, False)
    """
    numbers = [word for word in words if PLAIN.grammar.fullmatch(word)]
    is_even = len({len(word) for word in numbers}) == 1 and all(map(WHOLE.fullmatch, numbers))
    return is_even and any(map(PADDED.fullmatch, numbers))


def is_infinite(word: str) -> bool:
    """Whether a word is an infinite number, or one beyond what a float holds, as 1e999."""
    try:
        return math.isinf(float(word))
    except ValueError:
        return False


def styles_of(words: Sequence[str]) -> list[NumberStyle]:
    """The styles in which all of these words are numbers, without their common sign."""
    sign = _common_sign(words)
    bare = [word.replace(sign, "").strip() for word in words] if sign else list(words)
    fitting = [style for style in STYLES if all(style.grammar.fullmatch(word) for word in bare)]
    return [replace(style, sign=sign) for style in fitting] if sign else fitting


def best_style(words: Sequence[str], decimal: str) -> NumberStyle | None:
    """The style of a column of numbers; None where they are none.

    >>> best_style(["31,770", "1,234,567"], decimal=",").name
    'commas between thousands'
    >>> best_style(["31,770", "5"], decimal=",").name
    'decimal commas'

    Args:
        words: Its distinct words.
        decimal: The decimal sign of the file's other columns, or the one that its layout suggests.
    """
    fitting = styles_of(words)
    if not fitting:
        return None
    if decimal == "," and _is_grouped_by_points(words):
        preferred = [style for style in fitting if style.decimal == ","]
        return _told_apart(preferred[0], words) if preferred else fitting[0]
    if fitting[0].name == "":
        return fitting[0]
    by_sign = [style for style in fitting if style.decimal == decimal]
    has_long = any(re.fullmatch(r"[+-]?\d{4,}(\.\d*)?", word) for word in words)
    if has_long and any(style.name == DECIMAL_COMMA.name for style in fitting):
        commas = next(style for style in fitting if style.name == DECIMAL_COMMA.name)  # 1,234 beside 12000
        return _told_apart(commas, words)
    return _told_apart((by_sign or fitting)[0], words)


def _told_apart(style: NumberStyle, words: Sequence[str]) -> NumberStyle:
    """A style with decimal commas, named after the signs that the words have."""
    if style.name != DECIMAL_COMMA.name or not any("." in word for word in words):
        return style
    has_commas = any("," in word for word in words)
    return replace(style, name=f"{POINTS} and {DECIMAL_COMMA.name}" if has_commas else POINTS)


def most_numbers(words: Iterable[str]) -> NumberStyle:
    """The style in which most words are numbers, for a column in which not all of them are."""
    words = list(words)[:MOST_WORDS]
    bare = [unmarked(word) for word in words]
    marked = [replace(style, has_marks=True) for style in STYLES]
    return max(
        (*STYLES, *marked),  # the first of those that read as many
        key=lambda style: sum(
            bool(style.grammar.fullmatch(word)) for word in (bare if style.has_marks else words)
        ),
    )


def decimal_of(columns: Iterable[Sequence[str]]) -> str:
    """The decimal sign that columns of words settle between them; empty where they do not."""
    found = {sign for words in columns for sign in [_sure_decimal(words)] if sign}
    return found.pop() if len(found) == 1 else ""


def _sure_decimal(words: Sequence[str]) -> str:
    """The decimal sign that a column of numbers can only have; empty where there is doubt."""
    fitting = styles_of(words)
    signs = {style.decimal for style in fitting}
    if len(signs) != 1:
        return ""
    return next(iter(signs)) if any("," in word or "." in word for word in words) else ""


def _is_grouped_by_points(words: Sequence[str]) -> bool:
    """Whether all points stand before three digits, as between thousands."""
    pointed = [word for word in words if "." in word]
    return bool(pointed) and all(DECIMAL_COMMA.grammar.fullmatch(word) for word in words)


def _common_sign(words: Sequence[str]) -> str:
    """The one currency sign of these words, or the unit that each of them ends in; empty without one.

    >>> _common_sign(["$5", "1"]), _common_sign(["12 kg", "7.5 kg"]), _common_sign(["5%", "6"])
    ('$', 'kg', '')
    """
    found = {char for word in words for char in word if char in CURRENCIES}
    if len(found) == 1:
        sign = found.pop()
        return sign if all(_is_at_an_end(sign, word) for word in words) else ""
    if not words or words[0][-1:].isdigit():
        return ""
    units = {unit[1] if (unit := UNIT.fullmatch(word)) else "" for word in words}
    return units.pop() if len(units) == 1 else ""


def _is_at_an_end(sign: str, word: str) -> bool:
    """Whether a sign stands before a number or behind it, at most once, or not at all."""
    bare = word.lstrip("+-")
    return sign not in word or (word.count(sign) == 1 and sign in (bare[:1], bare[-1:]))
