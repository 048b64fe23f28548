"""Which columns of a table are used, and as what: numbers, dates, categories, or not at all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from widenet.base.errors import InputError
from widenet.base.problems import Problems
from widenet.base.wording import counted, listed, natural_key, shown
from widenet.data.columns import (
    FEW,
    ROWS_PER_CODE,
    CategoricalColumn,
    Column,
    NumericColumn,
    missing,
    placeholders,
    texts,
    without_infinities,
)
from widenet.data.dates import (
    DURATION,
    DateStyle,
    date_style,
    is_day_first,
    most_dates,
    packed_dates,
    padded_dates,
)
from widenet.data.identifiers import COUNTS, LEAST_ROWS, UNNAMED, is_key_name, why_number_identifies
from widenet.data.text import TextColumn, fit_text
from widenet.data.written import (
    PLAIN,
    NumberStyle,
    are_codes,
    are_padded_codes,
    best_style,
    decimal_of,
    is_infinite,
    most_numbers,
    plain_numbers,
)
from widenet.files.table import Table

if TYPE_CHECKING:
    import pandas as pd

TWO_ORDERS = re.compile(r"\d{1,2}[/.-]\d{1,2}[/.-]\d{2}")  # how dates begin whose month may come second
SHARE_ODD = 0.25  # of many different values that are not numbers, from which all are taken for codes
SHARE_WORDS = 0.1  # of different values that are words, beyond which they are no gaps among numbers
LEAST_WORDS = 4  # that a text has on average where it is called free
MOST_CODES = 100  # distinct values, numbers and others, that are taken for codes
MAX_CATEGORIES = 1000  # one-hot columns that one raw column may become
LEAST_UNNAMED = 3  # rows whose texts, in a column without a name, are the names of rows
ALWAYS_CATEGORIES = 10  # so few distinct texts are categories even where most rows have their own


Wanted = Literal["classification", "regression"]


@dataclass(frozen=True)
class Choice:
    """What people decide about columns themselves, by name.

    Attributes:
        drop: Columns to leave out.
        keep: Columns to use although they look like identifiers or free text.
        categorical: Columns whose numbers are codes of categories.
        task: Whether the target is classes or numbers; None where its values decide.
    """

    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    task: Wanted | None = None


@dataclass(frozen=True)
class Habits:
    """How the people who wrote a table write numbers and dates, where a column alone does not tell.

    Attributes:
        decimal: The decimal sign.
        day_first: Whether 01/02/2020 is the first of February.
    """

    decimal: str = "."
    day_first: bool = False


@dataclass(frozen=True)
class LeftOut:
    """A column that is not used.

    Attributes:
        name: Its name.
        why: The reason, as the end of a sentence about the column.
    """

    name: str
    why: str


@dataclass
class Decisions:
    """What became of each column.

    Attributes:
        columns: Those that are used.
        left_out: Those that are not.
        texts: Those of the latter whose text hardly repeats, and which are not called identifiers.
        problems: What is wrong with some of them.
    """

    columns: list[Column] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)

    def with_columns(self, more: Mapping[str, Column], order: list[str]) -> Decisions:
        """The decisions with columns that were left out, by name, used after all, in the order of a table."""
        columns = sorted([*self.columns, *more.values()], key=lambda column: order.index(column.name))
        left_out = [each for each in self.left_out if each.name not in more]
        return replace(self, columns=columns, left_out=left_out)


class LeaveOutError(Exception):
    """A column is not to be used; the message is the reason."""


class HardlyRepeatsError(LeaveOutError):
    """A column is not to be used because its text makes no categories."""


def decide_columns(table: Table, choice: Choice, habits: Habits) -> Decisions:
    """Decide on every column of a table; all that is wrong with them is collected.

    Its text is used where no other column has several values and is filled in half of the rows; what numbers
    its rows, as in a series, where nothing else varies.
    """
    found = _decide(table, choice, habits)
    others = [table.features[column.name] for column in found.columns]
    if found.problems.found or any(map(_tells, others)):
        return found
    telling = [values for name in found.texts if _tells(values := table.features[name])]
    read = {column.name: column for column in map(_fitted_text, telling) if column is not None}
    if read:
        return found.with_columns(read, list(table.features.columns))
    if any(values.nunique(dropna=False) > 1 for values in others):
        return found
    counting = tuple(each.name for each in found.left_out if each.why in (COUNTS, UNNAMED))
    return _decide(table, replace(choice, keep=(*choice.keep, *counting)), habits) if counting else found


def _tells(values: pd.Series) -> bool:
    """Whether a column has several values, and one in half of the rows at least."""
    given = values[~missing(values)]
    return 2 * len(given) >= len(values) and given.nunique() > 1


def _fitted_text(values: pd.Series) -> TextColumn | None:
    """A text by its terms; None where rows share none, so that it tells nothing about other rows."""
    distinct = {str(word) for word in texts(values)[~missing(values)]}
    return fit_text(values, has_words=_is_free(distinct))


def _decide(table: Table, choice: Choice, habits: Habits) -> Decisions:
    found = Decisions(left_out=[LeftOut(name, why) for name, why in table.left_out.items()])
    for name in table.features.columns:
        values = table.features[name]
        if name in choice.drop:
            found.left_out.append(LeftOut(name, "was dropped as requested"))
            continue
        try:
            found.columns.append(_decided(values, habits, choice, is_unnamed=name in table.unnamed))
        except LeaveOutError as reason:
            found.left_out.append(LeftOut(name, str(reason)))
            if isinstance(reason, HardlyRepeatsError) and not is_key_name(name):
                found.texts.append(name)
        except InputError as error:
            found.problems.add(str(error))
    return found


def file_habits(table: Table) -> Habits:
    """The signs and the order of a table's numbers and dates, as its columns settle them between them.

    Where no column does, the layout suggests the decimal sign, and a comma goes with days before months.
    """
    columns = [*(table.features[name] for name in table.features.columns), table.target]
    words = [some for values in columns if is_text(values) for some in [_some_words(values)] if some]
    decimal = table.decimal
    if decimal == "," or any("," in word for some in words for word in some):
        decimal = decimal_of(words) or decimal
    day_first = is_day_first(some for some in words if TWO_ORDERS.match(some[0]))
    return Habits(decimal, decimal == "," if day_first is None else day_first)


def is_text(values: pd.Series) -> bool:
    """Whether a column holds text."""
    import pandas as pd

    return bool(pd.api.types.is_string_dtype(values.dtype)) and not isinstance(
        values.dtype, pd.CategoricalDtype
    )


def fit_column(values: pd.Series) -> Column:
    """How a column becomes numbers, where nothing else is known of it."""
    return _decided(values, Habits(), Choice(keep=(str(values.name),)), is_unnamed=False)


def _some_words(values: pd.Series) -> list[str]:
    words = [str(word) for word in values.dropna().unique()[:1000]]
    return [word for word in words if any(map(str.isdigit, word))]


def _decided(values: pd.Series, habits: Habits, choice: Choice, *, is_unnamed: bool) -> Column:
    import pandas as pd

    name = str(values.name)
    is_kept = name in choice.keep
    if missing(values).all():
        raise LeaveOutError("has no value in any row")
    if name in choice.categorical or isinstance(values.dtype, pd.CategoricalDtype):
        is_coded = name in choice.categorical
        return _categories(values, is_kept=is_kept, is_unnamed=is_unnamed, is_coded=is_coded)
    if values.dtype.kind == "m":
        values = (values / pd.Timedelta(days=1)).rename(name)
    packed = None if is_key_name(name) else packed_dates(values[~placeholders(values)])
    if packed is not None:
        return _filled(values, packed)
    style = number_style(values, habits.decimal)
    if style is None:
        dates = column_dates(values, day_first=habits.day_first)
        if dates is None:
            return _categories(values, is_kept=is_kept, is_unnamed=is_unnamed)
        return _filled(values, dates)
    column = _filled(values, style)
    given = values[~placeholders(values)]
    if not is_kept and (len(given) == len(values) or is_key_name(name)):  # what counts rows has no gaps
        why = why_number_identifies(given, style.numbers(given), is_unnamed=is_unnamed)
        if why:
            raise LeaveOutError(why)
    return column


def _filled(values: pd.Series, style: NumberStyle | DateStyle) -> NumericColumn:
    parsed = without_infinities(style.numbers(values))
    gaps = np.isnan(parsed)
    if gaps.all():
        raise LeaveOutError("has no value in any row")
    words = values[gaps & ~placeholders(values)].unique()
    fill = float(np.nanmedian(parsed)) if gaps.any() else None
    return NumericColumn(str(values.name), fill, style, tuple(map(str, words)))


def number_style(values: pd.Series, decimal: str) -> NumberStyle | None:
    """How the numbers of a column are written; None where it holds none, or codes.

    Words among numbers are not read by the style. Codes such as 0, 1, 2, 3+ or 135, 136A are no numbers.

    Args:
        values: The column, its index the numbers of the rows.
        decimal: The decimal sign of the file.
    """
    if values.dtype.kind in "biuf":
        return PLAIN
    if values.dtype.kind in "mM":
        return None
    if not is_text(values):  # Python's own whole numbers
        return PLAIN if not np.isnan(plain_numbers(values))[~missing(values)].any() else None
    gaps = placeholders(values)
    given = values[~gaps]
    if _have_padding(given) and are_padded_codes(map(str, given.unique())):
        return None
    if decimal == "." and len(given) and np.isfinite(plain_numbers(given)).all():
        return PLAIN
    words = [word for word in map(str, given.unique()) if not is_infinite(word)]  # which is told later
    style = best_style(words, decimal) if words else None
    if style is not None or not any(character.isdigit() for word in words for character in word):
        return style
    return _style_of_most(given, words)


def _have_padding(given: pd.Series) -> bool:
    """Whether a word begins as a code may, which is far quicker than to look at every word: 0.5 does not."""
    return bool(given.str.match("0[0-9]").any())


def _style_of_most(given: pd.Series, words: list[str]) -> NumberStyle | None:
    """The style of a column in which most values are numbers; None where fewer are, or these are codes."""
    style = most_numbers(words)
    odd = np.isnan(replace(style, has_marks=False).numbers(given))
    unread = given[np.isnan(style.numbers(given))]
    has_digits = any(character.isdigit() for word in given[odd].unique() for character in word)
    num_codes = MOST_CODES if has_digits else FEW
    is_coded = len(words) <= num_codes and len(words) * ROWS_PER_CODE <= len(given)
    counts = given[odd].value_counts()
    is_odd_often = len(words) <= FEW or SHARE_ODD * len(words) <= len(
        counts
    )  # years, of which one is "in print"
    are_repeated = 2 * int((counts > 1).sum()) > len(counts)  # a word that occurs once may be a slip
    if is_coded and is_odd_often and are_repeated:
        return None
    if 2 * len(unread) > len(given):
        return None
    if unread.nunique() > max(FEW, SHARE_WORDS * len(words)):
        return None  # numbers of tickets and models, some of which have letters
    if len(unread) > 1 and are_codes(unread.unique(), given[~odd].unique()):
        return None
    return style


def column_dates(values: pd.Series, *, day_first: bool = False) -> DateStyle | None:
    """How the dates of a column are written; None where fewer than half of its values are dates."""
    if values.dtype.kind == "M":
        return date_style(values)
    if not is_text(values):
        return None
    given = values[~placeholders(values)]
    if len(given) and _have_padding(given) and are_padded_codes(map(str, given.unique())):
        return padded_dates(given)
    return date_style(given, day_first=day_first) or most_dates(given, day_first=day_first)


def _categories(values: pd.Series, *, is_kept: bool, is_unnamed: bool, is_coded: bool = False) -> Column:
    """Categories; or the terms of a text that makes none and is kept.

    Args:
        values: The column.
        is_kept: Whether it is used although its text hardly repeats.
        is_unnamed: Whether the file gave it no name.
        is_coded: Whether people say that its values are categories.
    """
    name, gaps = str(values.name), missing(values)
    words = texts(values)[~gaps]
    distinct = {str(word) for word in words}
    why = "" if is_coded else _why_no_categories(distinct, len(words), is_unnamed=is_unnamed)
    if why and not is_kept:
        raise HardlyRepeatsError(why)
    text = _fitted_text(values) if why else None
    if text is not None:
        return text
    if len(distinct) > MAX_CATEGORIES:
        raise InputError(
            f"Column {shown(name)} has {len(distinct):,} different values, but at most {MAX_CATEGORIES:,} "
            "can be categories: leave it out with `drop`."
        )
    return CategoricalColumn(name, tuple(sorted(distinct, key=natural_key)), bool(gaps.any()))


def _why_no_categories(distinct: set[str], num_rows: int, *, is_unnamed: bool) -> str:
    """Why texts are no categories, as the end of a sentence on their column; empty where they are."""
    num_distinct = len(distinct)
    if num_distinct == num_rows >= (LEAST_UNNAMED if is_unnamed else LEAST_ROWS):
        text = "is free text, different in every row, which `keep` uses"
        return text if _is_free(distinct) else "has a different text in every row"
    if num_distinct > max(ALWAYS_CATEGORIES, num_rows / 2) or num_distinct > MAX_CATEGORIES:
        told = f"{num_distinct:,} different values in {counted(num_rows, 'row')}"
        text, codes = f"is free text, with {told}, which `keep` uses", f"has {told}, too many for categories"
        return text if _is_free(distinct) else codes
    return ""


def _is_free(distinct: set[str]) -> bool:
    return sum(len(word.split()) for word in distinct) >= LEAST_WORDS * len(distinct)


def reading_notes(columns: tuple[Column, ...]) -> tuple[str, ...]:
    """Sentences on columns that were not simply numbers: styles, dates, categories, missing values."""
    numeric = [column for column in columns if isinstance(column, NumericColumn)]
    one_hot = [column for column in columns if isinstance(column, CategoricalColumn)]
    notes = []
    styles = dict.fromkeys(column.style for column in numeric if isinstance(column.style, NumberStyle))
    for style in styles:
        names = [column.name for column in numeric if column.style == style]
        notes += style_notes(style, names)
    notes += _date_notes(numeric)
    for column in numeric:
        infinite = [word for word in column.words if is_infinite(word)]
        words = [word for word in column.words if word not in infinite]
        for what, some in (("Words among the", words), ("Infinite", infinite)):
            if some:
                told = listed(some)
                notes.append(f"{what} values of {shown(column.name)} were taken as missing: {told}.")
    padded = [column.name for column in one_hot if are_padded_codes(column.categories)]
    if padded:
        notes.append(
            f"Digits with zeros before them are codes, and were taken as categories: {listed(padded)}."
        )
    notes += [_text_note(column) for column in columns if isinstance(column, TextColumn)]
    if one_hot:
        width = sum(len(column.names) for column in one_hot)
        notes.append(f"One-hot encoded into {width:,} columns: {listed(column.name for column in one_hot)}.")
    return (*notes, *gap_notes(columns))


def _text_note(column: TextColumn) -> str:
    kind = "words" if column.has_words else "runs of two or three characters"
    num_terms = f"{len(column.terms):,} of them"
    return (
        f"Text was read by the {kind} that several rows share ({num_terms}), weighted by tf-idf: "
        f"{shown(column.name)}."
    )


def style_notes(style: NumberStyle | DateStyle, names: list[str]) -> list[str]:
    """Sentences on how the numbers or durations of some columns are written."""
    if isinstance(style, DateStyle):
        return [f"Durations became {'days' if style.format == DURATION else 'hours'}: {listed(names)}."]
    notes = []
    if style.name:
        notes.append(f"Numbers were read with {style.name}: {listed(names)}.")
    if style.sign:
        notes.append(f"{shown(style.sign)} was taken off the numbers of {listed(names)}.")
    if style.has_marks:
        notes.append(f"Signs such as < or * were taken off numbers, and (5) is -5: {listed(names)}.")
    return notes


def _date_notes(numeric: list[NumericColumn]) -> list[str]:
    notes = []
    for column in numeric:
        if isinstance(column.style, DateStyle) and column.style.is_clock:
            notes.append(f"Times became hours since midnight: {shown(column.name)}.")
        elif isinstance(column.style, DateStyle) and column.style.is_duration:
            notes += style_notes(column.style, [column.name])
        elif isinstance(column.style, DateStyle):
            start = column.style.start.removesuffix("T00:00:00").replace("T", " ")
            orders = {"%m/%d": " (month first)", "%m.%d": " (month first)", "%d/%m": " (day first)"}
            order = orders.get(column.style.format[:5], "")
            notes.append(f"Dates became days since {start}{order}: {shown(column.name)}.")
    return notes


def gap_notes(columns: tuple[Column, ...]) -> tuple[str, ...]:
    """Sentences on missing values."""
    filled = [
        column.name for column in columns if isinstance(column, NumericColumn) and column.fill is not None
    ]
    marked = [column.name for column in columns if isinstance(column, CategoricalColumn) and column.has_gaps]
    notes = []
    if filled:
        notes.append(
            "Missing values were replaced by the median of their column, with a further column that marks "
            f"them: {listed(filled)}."
        )
    if marked:
        notes.append(f"Missing values became a category of their own: {listed(marked)}.")
    return tuple(notes)
