"""All that is wrong with one thing, told at once."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from widenet.base.errors import InputError

MOST_TOLD = 20  # problems that one message lists

T = TypeVar("T")


class Problems:
    """Collects what is wrong, so that nobody has to correct a file one error at a time."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, *sentences: str) -> None:
        """Something is wrong: a sentence that says what, where, and what to do."""
        self.found += sentences

    def attempt(self, make: Callable[[], T]) -> T | None:
        """What is made, or None where it is refused; the refusal is kept."""
        try:
            return make()
        except InputError as error:
            self.add(str(error))
            return None

    def refuse(self, subject: str) -> None:
        """Raise where anything is wrong: a single problem as it is, several as a list under the subject."""
        if self.found:
            raise InputError(listed_problems(subject, self.found))


def listed_problems(subject: str, problems: Sequence[str]) -> str:
    """The message that lists problems, a line each.

    >>> print(listed_problems("'a.csv'", ["Row 3 is short.", "Column 'b' is odd."]))
    'a.csv' has 2 problems:
    - Row 3 is short.
    - Column 'b' is odd.
    """
    if len(problems) == 1:
        return problems[0]
    more = [f"and {len(problems) - MOST_TOLD:,} more."] if len(problems) > MOST_TOLD else []
    lines = "\n".join(f"- {problem}" for problem in (*problems[:MOST_TOLD], *more))
    return f"{subject} has {len(problems):,} problems:\n{lines}"
