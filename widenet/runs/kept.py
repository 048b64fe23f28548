"""How far a long trial has come, kept in a store every now and then, so that one that was killed goes on."""

import time

from widenet.runs.store import Store
from widenet.runs.trial import Arrays, Record, Trial

EVERY = 10.0  # seconds between two writings


class KeptState:
    """The state of one trial in a store; nothing is kept where there is no store.

    Attributes:
        earlier: What an earlier run of the same trial left; None where this one begins.
    """

    def __init__(self, store: Store | None, trial: Trial) -> None:
        self._store, self._trial = store, trial
        self.earlier = None if store is None else store.load_state(trial)
        self._is_kept = self.earlier is not None
        self._due = time.monotonic() + EVERY

    def save_if_due(self, arrays: Arrays, notes: Record) -> None:
        """Keep the state, unless that was done a moment ago; arguments as of `Store.save_state`."""
        if time.monotonic() >= self._due:
            self.save(arrays, notes)

    def save(self, arrays: Arrays, notes: Record, *, finished: bool = False) -> None:
        """Keep the state."""
        if self._store is not None:
            self._store.save_state(self._trial, arrays, notes, finished=finished)
            self._is_kept = True
            self._due = time.monotonic() + EVERY

    def finish(self, arrays: Arrays, notes: Record) -> None:
        """Keep the end of a trial of which an earlier state is kept; a short trial can be run again."""
        if self._is_kept:
            self.save(arrays, notes, finished=True)

    def drop(self) -> None:
        """Forget the state, from which nobody should go on."""
        if self._store is not None:
            self._store.drop_state(self._trial)
