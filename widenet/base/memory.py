"""How much memory there is, asked before any of it is taken, and what is done where it runs out."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from widenet.base.errors import InputError, OutOfMemoryError
from widenet.base.limits import Places, free_bytes

PLACES = Places()
BASE_BYTES = 600 * 2**20  # interpreter and libraries
USABLE_SHARE = 0.8  # of the free memory; the rest is left to the system
ASSUMED_BYTES = 8 * 2**30  # free memory, where the system does not tell
# How torch words it: on this machine's memory, in C++, on a graphics card.
OUT_OF_MEMORY = ("DefaultCPUAllocator", "can't allocate memory", "bad_alloc", "out of memory")
ADVICE = "use fewer rows, or a machine with more memory"

T = TypeVar("T")
R = TypeVar("R")


def available_bytes() -> int | None:
    """Bytes that can still be taken: without swapping, and within all limits; None where unknown."""
    return free_bytes(PLACES)


def usable_bytes() -> int:
    """Bytes that a job may plan with: a share of what is free, or of what is assumed to be."""
    available = available_bytes()
    return int(USABLE_SHARE * (ASSUMED_BYTES if available is None else available))


def require_memory(
    num_bytes: int, what: str, advice: str = "use fewer rows or columns, or a machine with more memory"
) -> None:
    """Refuse a job that needs more memory than there is.

    Args:
        num_bytes: Peak number of bytes that the job will hold.
        what: The job, as the subject of the sentence that refuses it.
        advice: What to do instead.
    """
    available = available_bytes()
    if available is not None and num_bytes > available:
        raise InputError(
            f"{what} needs about {num_bytes / 2**30:,.1f} GiB of memory, but only "
            f"{available / 2**30:,.1f} GiB is available: {advice}."
        )


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out: Python, numpy and pandas say so by `MemoryError`, torch by a `RuntimeError`."""
    told = isinstance(error, RuntimeError) and any(words in str(error) for words in OUT_OF_MEMORY)
    return told or isinstance(error, MemoryError | OutOfMemoryError)


@contextmanager
def memory_told(stage: Callable[[], str] = str) -> Iterator[None]:
    """Where memory runs out, say so in one sentence.

    Args:
        stage: Asked then: what was being done; empty where nobody knows.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, OutOfMemoryError) or not is_out_of_memory(error):
            raise
        during = f" during “{stage()}”" if stage() else ""
        raise OutOfMemoryError(f"Ran out of memory{during}: {ADVICE}.") from error


def in_halves(work: Callable[[Sequence[T]], list[R]], items: Sequence[T]) -> list[R]:
    """The results for all items at once, or where memory runs out, for the halves one after the other.

    >>> def squares(numbers):
    ...     if len(numbers) > 2:
    ...         raise MemoryError
    ...     return [number**2 for number in numbers]
    >>> in_halves(squares, range(5))
    [0, 1, 4, 9, 16]

    Raises:
        Exception: What `work` raises for one item alone, or for another reason.
    """
    try:
        return work(items)
    except Exception as error:
        if len(items) < 2 or not is_out_of_memory(error):
            raise
    middle = len(items) // 2  # outside the clause, where the error no longer holds what was allocated
    return [*in_halves(work, items[:middle]), *in_halves(work, items[middle:])]
