"""Where a long computation leaves how far it has come, so that one that was killed goes on from there."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

Arrays = Mapping[str, "np.ndarray"]


@dataclass(frozen=True)
class Saved:
    """What was kept.

    Attributes:
        arrays: The state as it was last.
        grown: What had joined by each saving, in order.
    """

    arrays: Arrays
    grown: tuple[Arrays, ...] = ()


@dataclass(frozen=True)
class StageResumed:
    """A stage goes on where an earlier run left it."""

    stage: str


@dataclass(frozen=True)
class StageNotKept:
    """A stage begins anew, because what was kept is damaged, or goes on without being kept.

    Attributes:
        stage: The stage.
        reason: Why, as a sentence.
    """

    stage: str
    reason: str


class Checkpoint:
    """Is offered the state of long work as it goes on; this one keeps nothing, others override it."""

    def load(self) -> Saved | None:
        """What an earlier run left; None where this one begins."""
        return None

    def is_due(self) -> bool:
        """Whether the state should be saved now."""
        return False

    def save(self, arrays: Arrays, grown: Arrays | None = None) -> None:
        """Keep the state in place of the one before.

        Args:
            arrays: The state.
            grown: What has joined it since the last saving and will not change; it is kept besides what
                joined before, so that a state that gets ever larger is written only once.
        """

    def finish(self, arrays: Arrays) -> None:
        """Keep the end in place of all that was kept, unless it was reached so soon that it can be again."""

    def drop(self) -> None:
        """Forget what was kept."""


NOWHERE = Checkpoint()
