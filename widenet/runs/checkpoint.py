"""A run's state on disk, so that one that was killed goes on where it was."""

import contextlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from widenet.base.errors import InputError, WidenetError

EVERY = 10.0  # seconds between two writings
IDENTITY = "identity"


@dataclass(frozen=True)
class Saved:
    """What a checkpoint holds.

    Attributes:
        state: Tensors by name.
        notes: Texts by name.
    """

    state: dict[str, Tensor]
    notes: dict[str, str]


def checkpoint_path(out: Path) -> Path:
    """The file beside a result's folder that holds the state until the folder is written."""
    place = out.resolve()
    return place.with_name(f"{place.name}.checkpoint.safetensors")


class Checkpoint:
    """The file in which a run keeps its state; it is there whole or not at all.

    Args:
        path: The file.
        identity: Hash of everything that the run's end depends on.

    Attributes:
        kept: Whether the file holds the state of this very run.
    """

    def __init__(self, path: Path, identity: str) -> None:
        self.path, self.identity = path, identity
        self.kept = False
        self._due = time.monotonic() + EVERY

    def load(self, *, restart: bool = False) -> Saved | None:
        """What an earlier run with the same identity left; None where there is nothing.

        Args:
            restart: Whether a file that belongs to another run or is damaged is passed over, to be replaced
                by this run's, instead of refused. A file of the same run is taken up in any case.
        """
        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                notes = dict(file.metadata() or {})
                names = file.keys() if notes.pop(IDENTITY, None) == self.identity else None
                # Each tensor in memory of its own: what torch computes can depend on where a file put it.
                state = None if names is None else {name: file.get_tensor(name).clone() for name in names}
        except (OSError, SafetensorError) as error:
            if restart:
                return None
            raise InputError(
                f"{self.path} cannot be read, or is damaged: delete it, or drop it with --force."
            ) from error
        if state is not None:
            self.kept = True
            return Saved(state, notes)
        if restart:
            return None
        raise InputError(
            f"{self.path} is of a run with other data or settings, or of another version: repeat its command "
            "to go on with it, choose another --out, or drop it with --force."
        )

    def save_if_due(self, state: Mapping[str, Tensor], notes: Mapping[str, str]) -> None:
        """Write the state, unless that was done a moment ago."""
        if time.monotonic() >= self._due:
            self.save(state, notes)

    def save(self, state: Mapping[str, Tensor], notes: Mapping[str, str]) -> None:
        """Write the state to a file beside, and only then give it the checkpoint's name."""
        fresh = self.path.with_name(f".{self.path.name}.new")  # one name: what a kill left is written over
        # Copies: two names of a state may share their memory, which the format does not have, nor strides.
        copies = {name: tensor.clone(memory_format=torch.contiguous_format) for name, tensor in state.items()}
        content = save(copies, {**notes, IDENTITY: self.identity})
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with fresh.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.path)
        except OSError as error:
            raise WidenetError(
                f"The state of the run cannot be written to {self.path} ({error.strerror}): make room there "
                "and repeat the command, or choose another --out."
            ) from error
        finally:
            with contextlib.suppress(OSError):
                fresh.unlink(missing_ok=True)
        self.kept = True
        self._due = time.monotonic() + EVERY

    def remove(self) -> None:
        with contextlib.suppress(OSError):  # the result is written, and a file too many does no harm
            self.path.unlink(missing_ok=True)
