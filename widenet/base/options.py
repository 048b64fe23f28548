"""Options behind a name, as in `gaussian:h=0.5` or `resnet-cube:n=1000,seed=1`."""

import math
from collections.abc import Mapping

from widenet.base.errors import InputError
from widenet.base.wording import near_names, shown


def parse_options(owner: str, text: str, types: Mapping[str, type]) -> dict[str, float]:
    """The numbers of `key=value,key=value`, each finite and of its type; an empty text has none.

    >>> parse_options("Kernel 'polynomial'", "degree=2,offset=0.5", {"degree": int, "offset": float})
    {'degree': 2, 'offset': 0.5}

    Args:
        owner: Whose options they are, as the subject of the sentence that refuses one.
        text: What stands behind the colon of a name.
        types: The type of each option, `int` or `float`, by its key.
    """
    parsed: dict[str, float] = {}
    for option in filter(None, text.split(",")):
        key, _, value = option.partition("=")
        if key not in types:
            known = near_names(key, tuple(types)) if types else "it has none."
            raise InputError(f"{owner} has no option {shown(key)}: {known}")
        if key in parsed:
            raise InputError(f"{owner} is given {key} more than once: keep one.")
        parsed[key] = _finite(owner, key, value, types[key])
    return parsed


def _finite(owner: str, key: str, value: str, kind: type) -> float:
    try:
        number: float = kind(value)
        if math.isfinite(number):
            return number
    except (ValueError, OverflowError):  # no number, or one too large to be a float
        pass
    wanted = "a whole number" if kind is int else "a finite number"
    raise InputError(f"{owner} needs {wanted} after {key}=, not {shown(value)}.")
