"""Checkpoints of long linear algebra in a store: seldom enough to cost little, yet little is lost."""

import time
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from math import inf

from widenet.base.checkpoint import Arrays, Checkpoint, Saved, StageNotKept, StageResumed
from widenet.base.errors import WidenetError
from widenet.base.progress import SILENT, Progress
from widenet.runs.differences import note_differences
from widenet.runs.store import Store
from widenet.runs.trial import Trial

EVERY = 30.0  # seconds between two savings, at least
MOST_SHARE = 0.05  # of the time goes into them, at most
STEP_SHARE = 0.5  # the same where a step is the work of many machines: one of them may be lost, not two
SHORT = 5.0  # seconds that anybody may lose: a stage that ends sooner is not kept


class Checkpoints:
    """The checkpoints of one computation, a stage each; none of them keeps anything where there is no store.

    Args:
        store: Where states are kept.
        trial: Makes what tells the computation from others; not asked before there is something to keep.
        progress: Told what is resumed, and what cannot be.
        each_step: Whether each step is worth a saving, unless that takes longer than half a step.
    """

    def __init__(
        self,
        store: Store | None,
        trial: Callable[[], Trial],
        progress: Progress = SILENT,
        *,
        each_step: bool = False,
    ) -> None:
        self._store, self._make_trial, self._progress = store, trial, progress
        self._each_step = each_step

    @cached_property
    def trial(self) -> Trial:
        """What tells the computation from others."""
        return self._make_trial()

    def note_differences(self) -> None:
        """Tell what keeps the computation from going on from a store that holds other work."""
        if self._store is not None and not self._store.is_empty():
            note_differences(self._store, [self.trial], self._progress)

    def stage(self, name: str) -> Checkpoint:
        """The checkpoint of a stage, whose time begins now."""
        if self._store is None:
            return Checkpoint()
        return StoredCheckpoint(self._store, lambda: self.trial, name, self._progress, self._each_step)


class StoredCheckpoint(Checkpoint):
    """The state of one stage: a head, and a piece for all that had joined by each saving."""

    def __init__(
        self, store: Store, trial: Callable[[], Trial], stage: str, progress: Progress, each_step: bool
    ) -> None:
        self._store, self._trial, self._stage, self._progress = store, trial, stage, progress
        limits = (0.0, 0.0, STEP_SHARE) if each_step else (EVERY, SHORT, MOST_SHARE)
        self._every, self._short, self._share = limits
        self._num_pieces, self._is_kept = 0, False
        self._begin = time.monotonic()
        self._due = self._begin + self._every

    def load(self) -> Saved | None:
        if self._store.is_empty():
            return None
        head = self._store.load_state(self._part())
        if head is None:
            return None
        pieces = self._load_pieces(head.notes.get("num_pieces"))
        if pieces is None:
            self._progress.note(StageNotKept(self._stage, "what an earlier run kept of it is damaged"))
            return None
        self._num_pieces, self._is_kept = len(pieces), True
        self._progress.note(StageResumed(self._stage))
        return Saved(head.arrays, tuple(pieces))

    def _load_pieces(self, num_pieces: object) -> list[Arrays] | None:
        """The pieces that a head counts; None where one is missing, or that is no count."""
        if type(num_pieces) is not int or num_pieces < 0:
            return None
        pieces: list[Arrays] = []
        while len(pieces) < num_pieces:
            piece = self._store.load_state(self._part(len(pieces)))
            if piece is None:
                return None
            pieces.append(piece.arrays)
        return pieces

    def is_due(self) -> bool:
        return time.monotonic() >= self._due

    def save(self, arrays: Arrays, grown: Arrays | None = None) -> None:
        self._write(arrays, grown)

    def _write(self, arrays: Arrays, grown: Arrays | None = None, *, finished: bool = False) -> bool:
        """Whether the state could be kept; the end takes the place of all pieces."""
        begin = time.monotonic()
        try:
            if grown is not None:
                # Before the head that counts it: a piece that no head counts is replaced by the next.
                self._store.save_state(self._part(self._num_pieces), grown, {}, finished=True)
                self._num_pieces += 1
            notes = {"num_pieces": 0 if finished else self._num_pieces}
            self._store.save_state(self._part(), arrays, notes, finished=finished)
        except WidenetError as error:  # a full disk takes the way back, but not the result
            self._progress.note(StageNotKept(self._stage, str(error)))
            self._due = inf
            return False
        self._is_kept = True
        end = time.monotonic()
        self._due = end + max(self._every, (end - begin) / self._share)
        return True

    def finish(self, arrays: Arrays) -> None:
        if self._due == inf or not (self._is_kept or time.monotonic() - self._begin >= self._short):
            return
        if self._write(arrays, finished=True):  # else the state before counts the pieces still
            with suppress(WidenetError):  # too much is kept, and that is all
                self._drop_pieces()

    def drop(self) -> None:
        with suppress(WidenetError):
            if not self._store.is_empty():
                self._store.drop_state(self._part())
                self._drop_pieces()

    def _drop_pieces(self) -> None:
        for piece in range(self._num_pieces):
            self._store.drop_state(self._part(piece))
        self._num_pieces = 0

    def _part(self, piece: int | None = None) -> Trial:
        """The head as a trial of the store, or a piece."""
        return self._trial().stage(self._stage, piece)
