"""What a stage of an audit found, as arrays that a checkpoint keeps; from here on it is on the CPU."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from widenet.base.checkpoint import Arrays, Checkpoint

Found = TypeVar("Found")


def kept_stage(
    kept: Checkpoint, generator: torch.Generator, find: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """What `find` finds, or what an earlier run found and left the generator with.

    Args:
        kept: Where it is kept.
        generator: What the stage draws from.
        find: Gives named dataclasses of tensors and numbers, or None for some; with `built` they come back.
    """
    saved = kept.load()
    if saved is not None:
        generator.set_state(torch.from_numpy(saved.arrays["generator"]))
        return dict(saved.arrays)
    # Through arrays in any case, so that what is computed from it rounds alike.
    arrays = {
        f"{name} {field.name}": _array(getattr(part, field.name))
        for name, part in find().items()
        if part is not None
        for field in fields(part)
    }
    kept.finish(arrays | {"generator": generator.get_state().numpy()})
    return arrays


def built(kind: type[Found], name: str, arrays: Arrays) -> Found | None:
    """The dataclass of this name; None where there was none."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    if f"{name} {names[0]}" not in arrays:
        return None
    return kind(**{each: _value(arrays[f"{name} {each}"]) for each in names})


def _array(value: Tensor | float) -> np.ndarray:
    return np.ascontiguousarray(value.cpu().numpy()) if isinstance(value, Tensor) else np.array(value)


def _value(array: np.ndarray) -> Any:
    return torch.from_numpy(array) if array.ndim else array.item()
