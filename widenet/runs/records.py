"""Results as bytes: JSON that gives every float back, arrays as safetensors, checksums over both."""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from safetensors.numpy import load, save

NOT_FINITE = "$float"  # strict JSON has no nan and no infinity, and a run that diverged is full of them


def pack_json(value: Any, *, sort_keys: bool = False) -> str:
    """Strict JSON on one line, floats in full; tuples become lists.

    Args:
        value: Mappings with string keys, lists, tuples, strings, numbers, booleans and None.
        sort_keys: Whether mappings that differ only in their order become the same text.
    """
    return json.dumps(_marked(value), sort_keys=sort_keys, allow_nan=False, separators=(",", ":"))


def unpack_json(text: str | bytes) -> Any:
    """What `pack_json` was given, with lists in place of tuples."""
    return json.loads(text, object_hook=_unmarked)


def _marked(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {NOT_FINITE: repr(float(value))}
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str) or key == NOT_FINITE:
                raise TypeError(f"{key!r} cannot be the name of an entry of a trial.")
        return {key: _marked(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_marked(item) for item in value]
    return value


def _unmarked(value: dict[str, Any]) -> Any:
    return float(value[NOT_FINITE]) if NOT_FINITE in value else value


def pack_arrays(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Named arrays in the safetensors format, which holds nothing that could be executed."""
    return save({name: np.asarray(array, order="C") for name, array in arrays.items()}) if arrays else b""


def unpack_arrays(packed: bytes) -> dict[str, np.ndarray]:
    """What `pack_arrays` was given."""
    return {name: np.array(array) for name, array in load(packed).items()} if packed else {}


def checksum(*parts: bytes) -> bytes:
    """SHA-256 over the parts and where each of them ends."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()
