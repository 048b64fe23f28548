"""How far long work has come, for whoever listens."""

from collections.abc import Callable

from widenet.base.wording import counted


class Progress:
    """Is told of long work as it goes on; this one keeps it to itself, others override its methods."""

    def __call__(
        self, stage: str, done: int | None = None, total: int | None = None, detail: str = ""
    ) -> None:
        """A stage begins, or has come further.

        Args:
            stage: What is being done, in a few words; the same words as long as the stage lasts.
            done: Pieces of work that are done.
            total: How many there are; None where nobody knows.
            detail: How far it is in other words, such as the loss so far.
        """

    def note(self, fact: object) -> None:
        """Something is known before the result: the forecast, or what a study found on its way."""


SILENT = Progress()


class _After(Progress):
    """Tells another one, with pieces that were done before."""

    def __init__(self, progress: Progress, before: int) -> None:
        self._progress, self._before = progress, before

    def __call__(
        self, stage: str, done: int | None = None, total: int | None = None, detail: str = ""
    ) -> None:
        so_far, whole = (None if each is None else self._before + each for each in (done, total))
        self._progress(stage, so_far, whole, detail)

    def note(self, fact: object) -> None:
        self._progress.note(fact)


def after(progress: Progress, before: int) -> Progress:
    """The progress of work that goes on where other work has ended, after so many pieces."""
    return _After(progress, before) if before else progress


class _NotesAlone(Progress):
    """Tells another one what is noted, and keeps the rest to itself."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def note(self, fact: object) -> None:
        self._progress.note(fact)


def notes_alone(progress: Progress) -> Progress:
    """The progress of work whose pieces somebody else counts."""
    return _NotesAlone(progress)


class _OnWorkers(Progress):
    """Tells another one, with how many workers there are."""

    def __init__(self, progress: Progress, num_workers: Callable[[], int]) -> None:
        self._progress, self._num_workers = progress, num_workers

    def __call__(
        self, stage: str, done: int | None = None, total: int | None = None, detail: str = ""
    ) -> None:
        self._progress(stage, done, total, f"{detail} on {counted(self._num_workers(), 'worker')}".lstrip())

    def note(self, fact: object) -> None:
        self._progress.note(fact)


def on_workers(progress: Progress, num_workers: Callable[[], int]) -> Progress:
    """The progress of work on other machines, told with how many there are: they come and go."""
    return _OnWorkers(progress, num_workers)
