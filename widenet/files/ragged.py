"""Records of another length than the column names have: what is told of them, and notes below the rows."""

from collections import Counter

from widenet.base.wording import counted
from widenet.files.heading import is_number

MOST_RAGGED = 5  # lines of a wrong length that are told one by one
MOST_BELOW = 20  # lines of sources and footnotes that may stand below the rows


class Seen:
    """What the records of a table were like, seen one by one.

    Attributes:
        width: Fields that a row should have.
        lengths: How many records have how many fields.
        ragged: Line, number and length of the first that have another number of fields.
        num_ragged: How many have.
        is_spare: Whether the last field is always empty.
        below: Lengths of the lines without values behind the last row.
        stop: Characters up to the end of that row.
        last_filled: Fields with something in them of the last record.
        last_length: All fields of that record.
        is_open: Whether the last field of a row that has all of them is empty at times.
        is_broken: Whether two lines in a row may be the parts of one.
    """

    def __init__(self, width: int) -> None:
        self.width, self.is_spare = width, True
        self.lengths, self.ragged, self.num_ragged = Counter[int](), list[tuple[int, int, int]](), 0
        self.below, self.stop, self.last_filled = Counter[int](), 0, 0
        self.last_length, self.is_open, self.is_broken = width, False, False

    def add(self, line: int, end: int, record: list[str]) -> None:
        """Take a record into account, with the line and the characters that it ends after."""
        self.lengths[len(record)] += 1
        self.last_filled = sum(bool(cell.strip()) for cell in record)
        self.is_spare = self.is_spare and not record[-1].strip()
        self.is_open = self.is_open or (len(record) == self.width and not record[-1].strip())
        if (
            max(len(record), self.last_length)
            < self.width
            <= len(record) + self.last_length
            <= self.width + 1
        ):
            self.is_broken = True
        self.last_length = len(record)
        if len(record) != self.width:
            self.num_ragged += 1
            if len(self.ragged) < MOST_RAGGED:
                self.ragged.append((line, self.lengths.total(), len(record)))
        if self._is_note(record):
            self.below[len(record)] += 1
        else:
            self.below, self.stop = Counter(), end

    def _is_note(self, record: list[str]) -> bool:
        """Whether a line may be a source or a footnote: words, in at most half the fields of a row."""
        filled = [cell for cell in record if cell.strip()]
        is_short = len(record) < self.width and 2 * len(filled) <= self.width
        return is_short and not any(map(is_number, filled))

    @property
    def num_below(self) -> int:
        """Lines of notes below the rows; 0 where other lines have a wrong length too, or there are many.

        A single line with several fields is a row that was cut.
        """
        num_below = self.below.total()
        if num_below == 1 and self.last_filled > 1:
            return 0
        is_all = num_below == self.num_ragged <= min(MOST_BELOW, self.lengths.total() - 2)
        return num_below if is_all else 0

    def num_short(self, *, is_cut: bool) -> int:
        """Rows that end early and lack nothing: spreadsheets leave out separators before empty cells.

        0 where some rows are too long, no other row ends with an empty field, or a line may have been broken.

        Args:
            is_cut: Whether the text ends within a line.
        """
        are_all = self.num_ragged == sum(
            count for length, count in self.lengths.items() if length < self.width
        )
        is_last_cut = is_cut and self.last_length < self.width
        return self.num_ragged if are_all and self.is_open and not (self.is_broken or is_last_cut) else 0


def ragged_sentences(seen: Seen, file_name: str) -> list[str]:
    """What is wrong with records of another length: each of the first, or that most of them have it."""
    num_records = seen.lengths.total()
    if 2 * seen.num_ragged > num_records > MOST_RAGGED:
        return [
            f"{seen.num_ragged:,} of {num_records:,} lines of {file_name} have another number of fields than "
            f"the {seen.width} of its column names: remove what stands above and below the table, or save it "
            "as .csv in the program that wrote it."
        ]
    told = [
        f"Line {line} of {file_name} (row {row}) has {counted(length, 'field')} and the header has "
        f"{seen.width}: correct that line."
        for line, row, length in seen.ragged
    ]
    if seen.num_ragged > MOST_RAGGED:
        more = counted(seen.num_ragged - MOST_RAGGED, "more line")
        told.append(f"{more} have another number of fields, too.")
    return told
