"""What is run, and what comes of it."""

import hashlib
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from widenet.runs.records import checksum, to_json


@dataclass(frozen=True)
class Trial:
    """One computation, told by everything that its result depends on.

    Attributes:
        settings: What to compute, as `to_json` takes it.
        code: Version of the code that computes it, from `code_version`.
        data: Hash of the data that it is computed from, from `data_hash`.
    """

    settings: Mapping[str, Any]
    code: str
    data: str

    @cached_property
    def identity(self) -> bytes:
        """Canonical JSON: two trials with the same text have the same result."""
        parts = {"settings": self.settings, "code": self.code, "data": self.data}
        return to_json(parts, sort_keys=True).encode()

    @cached_property
    def key(self) -> str:
        """SHA-256 of the identity."""
        return hashlib.sha256(self.identity).hexdigest()


@dataclass(frozen=True)
class Result:
    """What a trial found.

    Attributes:
        record: Numbers and words, as `to_json` takes them.
        arrays: Named arrays of numbers, such as weights.
    """

    record: Mapping[str, Any]
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class Failure:
    """A trial that has no result, because the group that it was run in raised an error.

    Attributes:
        trial: The trial.
        error: What was raised.
    """

    trial: Trial
    error: Exception


def code_version(modules: Iterable[ModuleType]) -> str:
    """The version of widenet and a hash of the source of the modules that compute."""
    sources = sorted((module.__name__, inspect.getsource(module)) for module in modules)
    parts = (text.encode() for named_source in sources for text in named_source)
    return f"{version('widenet')} {checksum(*parts).hex()}"


def data_hash(*arrays: ArrayLike) -> str:
    """A hash of values, dtypes and shapes of arrays or CPU tensors, in the order given."""
    digest = hashlib.sha256()
    for array in map(np.asarray, arrays):
        digest.update(f"{array.dtype.str} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
