"""What is run, and what comes of it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from widenet.runs.records import pack_json, unpack_json

Record = Mapping[str, Any]  # numbers and words, as `pack_json` takes them
Arrays = Mapping[str, np.ndarray]  # named arrays of numbers, such as weights


@dataclass(frozen=True)
class Trial:
    """One computation, told by everything that its result depends on.

    Attributes:
        settings: What to compute, as `pack_json` takes it.
        code: Version of the code that computes it, from `widenet.runs.code`.
        data: Hash of the data that it is computed from, from `data_hash`.
    """

    settings: Record
    code: str
    data: str

    @cached_property
    def identity(self) -> bytes:
        """Canonical JSON: two trials with the same text have the same result."""
        parts = {"settings": self.settings, "code": self.code, "data": self.data}
        return pack_json(parts, sort_keys=True).encode()

    @cached_property
    def key(self) -> str:
        """SHA-256 of the identity."""
        return hashlib.sha256(self.identity).hexdigest()

    def stage(self, name: str, piece: int | None = None) -> "Trial":
        """A stage of it that is kept by itself, or a piece of one, as a trial of its own."""
        return replace(self, settings={**self.settings, "stage": name, "piece": piece})


def whole_of(identity: bytes) -> bytes:
    """The identity of the trial that a stage belongs to; that of any other trial as it is."""
    if b'"piece":' not in identity or b'"stage":' not in identity:
        return identity
    parts = unpack_json(identity)
    if not {"stage", "piece"} <= parts["settings"].keys():
        return identity
    settings = {name: each for name, each in parts["settings"].items() if name not in ("stage", "piece")}
    return Trial(settings, parts["code"], parts["data"]).identity


@dataclass(frozen=True)
class TrialResult:
    """What a trial found.

    Attributes:
        record: Numbers and words.
        arrays: Arrays of numbers.
    """

    record: Record
    arrays: Arrays = field(default_factory=dict)


@dataclass(frozen=True)
class Failure:
    """A trial that has no result, because the group that it was run in raised an error.

    Attributes:
        trial: The trial.
        error: What was raised.
    """

    trial: Trial
    error: Exception


def data_hash(*arrays: ArrayLike) -> str:
    """A hash of values, dtypes and shapes of arrays or CPU tensors, in the order given."""
    digest = hashlib.sha256()
    for array in map(np.asarray, arrays):
        digest.update(f"{array.dtype.str} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
