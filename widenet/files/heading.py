"""Where the names of columns stand among the first records of a table: below titles, or nowhere."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from widenet.files.words import MISSING

NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", re.ASCII)
WHOLE = re.compile(r"\d{1,9}", re.ASCII)
YEARS = (1500, 2200)  # two numbers in a line of names are these, or follow each other
LEAST_STEPS = 4  # decimals that increase from name to name, as wavelengths and bins do
MOST_ABOVE = 10  # records that a sparse title may stand above the names
LEAST_BELOW = 5  # records that are needed to see that a line of words is one of them
MOST_EXPLAINING = 3  # lines of units, types and the like below the names
REMARKS = ("#", "%")  # what lines of comments begin with
TYPES = {"c", "d", "s", "t", "continuous", "discrete", "string", "time"}  # of a .tab file, in its second line
SETTING = re.compile(r"\w+=\S+")
FLAGS = {"class", "meta", "ignore", "weight"}  # ... and in its third

Record = Sequence[str]


@dataclass(frozen=True)
class Heading:
    """What stands above the rows of a table.

    Attributes:
        names: A name for each column, as the file has it; made up where it has none.
        is_given: Whether the file has names.
        num_titles: Records above the names.
        num_records: Records above the first row.
    """

    names: tuple[str, ...]
    is_given: bool
    num_titles: int
    num_records: int

    @property
    def notes(self) -> tuple[str, ...]:
        """What is told of a heading that is not one line of names."""
        if not self.is_given:
            return (
                "The file has no line of column names: its columns were called 'column 1' to "
                f"'column {len(self.names)}'.",
            )
        if self.num_records > self.num_titles + 1:
            return ("What stands below the column names, units or the like, was skipped.",)
        return ()


def find_heading(records: Sequence[Record]) -> Heading:
    """The heading of a table, given its first records, none of them blank."""
    place = _place_of_names(records)
    if place is None:
        return Heading(tuple(records[0]) if records else ("",), True, 0, 1)
    if _counts_rows(records[place], records[place + 1 :]):
        place += 1
    first, below = records[place], records[place + 1 :]
    if is_row(first, below):
        width = max(Counter(map(len, records[place:])).items(), key=lambda item: item[1])[0]
        return Heading(tuple(f"column {k + 1}" for k in range(width)), False, place, place)
    return Heading(tuple(first), True, place, place + 1 + _num_explaining(below))


def _counts_rows(record: Record, below: Sequence[Record]) -> bool:
    """Whether a line says how many rows and features there are, and the next is a row.

    So scikit-learn has it: `150,4,setosa,versicolor,virginica`.
    """
    if len(record) < 2 or not below or not all(map(WHOLE.fullmatch, record[:2])):
        return False
    return int(record[1]) == len(below[0]) - 1 and not is_row(record, below) and is_row(below[0], below[1:])


def _place_of_names(records: Sequence[Record]) -> int | None:
    """The first record with several filled fields that is no sparse title above the names."""
    width = Counter(len(record) for record in records if len(record) > 1).most_common(1)
    several = [
        place
        for place, record in enumerate(records)
        if any(cell.strip() for cell in record[1:])
        and not (_is_remark(record) and len(record) != width[0][0])
    ]
    if not several:
        return None
    below_settings = _below_settings(records, several)
    if below_settings is not None:
        return below_settings
    place = _below_gap(records, several)
    for later in [each for each in several if place < each < several[0] + MOST_ABOVE]:
        record = records[later]
        is_fuller = 2 * _num_filled(record) >= len(record) and _num_filled(record) > 2 * _num_filled(
            records[place]
        )
        if is_fuller and not any(map(is_number, record)):
            return later
    return place


def _below_settings(records: Sequence[Record], several: Sequence[int]) -> int | None:
    """The names of a table below lines of another length than all of its rows, which have settings.

    Names right above rows that are one field longer are no settings: R gives the names of rows no name.
    """
    lengths = [len(record) for record in records]
    first = several[0]
    are_names = lengths[first] + 1 == lengths[-1] and not any(map(is_number, records[first]))
    for place in several[1:MOST_ABOVE]:
        is_alone = lengths[place] not in lengths[:place] and set(lengths[place:]) == {lengths[place]}
        is_first_row = are_names and place == first + 1
        if is_alone and not is_first_row and not any(map(is_number, records[place])):
            return place if _is_second_line(records[place:], least_words=1) else None
    return None


def _below_gap(records: Sequence[Record], several: Sequence[int]) -> int:
    """The first record with several filled fields, or the names below a record without any: titles end there.

    These have a word in each field, no number above them, and numbers below them.
    """
    for place in reversed(several[1:MOST_ABOVE]):
        record, below = records[place], records[place + 1 :]
        is_below_gap = not any(cell.strip() for cell in records[place - 1])
        has_numbers = any(is_number(cell) for line in records[: place + 1] for cell in line)
        if is_below_gap and not has_numbers and _num_filled(record) == len(record):
            return place if _is_second_line([record, *below], least_words=1) else several[0]
    return several[0]


def _num_filled(record: Record) -> int:
    return sum(bool(cell.strip()) for cell in record)


def _is_remark(record: Record) -> bool:
    return record[0].lstrip().startswith(REMARKS)


def is_number(cell: str) -> bool:
    """Whether a cell looks like a number, whatever its decimal sign."""
    return bool(NUMBER.fullmatch(cell.strip()))


def holds_values(names: Record) -> bool:
    """Whether a first line looks like a row of data: numbers, unless they increase as years and bins do.

    >>> holds_values(["5.1", "3.5", "setosa"]), holds_values(["country", "1990", "1995"])
    (True, False)
    >>> holds_values(["He", "3200", "3900"])
    True
    """
    numbers = [name.strip() for name in names if is_number(name)]
    if not numbers:
        return False
    values = [float(number.replace(",", ".")) for number in numbers]
    increases = all(later > earlier for earlier, later in pairwise(values))
    are_years = all(YEARS[0] <= value <= YEARS[1] for value in values)
    are_counted = len(values) > 2 or are_years or values[-1] - values[0] == len(values) - 1
    are_steps = (all(map(WHOLE.fullmatch, numbers)) and are_counted) or len(numbers) >= LEAST_STEPS
    return not (increases and are_steps)


def is_row(first: Record, below: Sequence[Record]) -> bool:
    """Whether a first line is a row like those below it, so that the file has no names.

    Its numbers stand where theirs do; or its words are found again in most of their columns, which names are
    not.
    """
    below = [record for record in below if record != first]  # names that are repeated are names
    columns = [
        [cell for record in below for cell in record[k : k + 1] if _is_given(cell)] for k in range(len(first))
    ]
    filled = [
        (cell, column) for cell, column in zip(first, columns, strict=True) if _is_given(cell) and column
    ]
    if holds_values(first):
        return bool(filled) and all(is_number(cell) == _holds_numbers(column) for cell, column in filled)
    repeated = [cell for cell, column in filled if not is_number(cell) and cell in column]
    return len(below) >= LEAST_BELOW and 2 * len(repeated) >= max(4, len(first))


def _num_explaining(below: Sequence[Record]) -> int:
    """Records below the names that explain these: units, or types and flags of a `.tab` file."""
    if len(below) > 1 and _are_types_and_flags(below[0], below[1]):
        return 2
    num_lines = 0
    while num_lines < MOST_EXPLAINING and _is_second_line(below[num_lines:]):
        num_lines += 1
    return num_lines


def _are_types_and_flags(types: Record, flags: Record) -> bool:
    """Whether these are the second and third line of a `.tab` file, as Orange writes it.

    In place of a type there may be the values that a column takes. A line of flags alone is sure, each of
    them a word or a setting such as `include=True`; where there are none, the other line must have types
    alone.
    """
    given = {cell.strip() for cell in types} - {""}, {word for cell in flags for word in cell.split()}
    if given[1]:
        are_flags = all(word in FLAGS or SETTING.fullmatch(word) for word in given[1])
        return are_flags and not FLAGS.isdisjoint(given[1])
    return bool(given[0]) and given[0] <= TYPES


def _is_second_line(records: Sequence[Record], least_words: int = 2) -> bool:
    """Whether the first record has words wherever those below it have numbers, as a line of units has."""
    if len(records) <= LEAST_BELOW:
        return False
    record, *below = records
    numeric = [
        k
        for k in range(len(record))
        if _holds_numbers([line[k] for line in below if k < len(line) and _is_given(line[k])], share=0.9)
    ]
    words = [record[k] for k in numeric if _is_given(record[k])]
    return len(words) >= least_words and not any(is_number(word) for word in words)


def _holds_numbers(cells: Sequence[str], share: float = 0.5) -> bool:
    return bool(cells) and sum(map(is_number, cells)) >= share * len(cells)


def _is_given(cell: str) -> bool:
    return cell.strip() not in MISSING
