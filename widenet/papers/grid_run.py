"""One run of a grid of settings: what was tried, and its errors."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class GridRun:
    """One run of a grid.

    Attributes:
        tried: The setting, by the names of what the grid varies.
        test: Test errors on the way; empty where the run diverged.
        validation: Validation errors at the same places.
    """

    tried: Mapping[str, float]
    test: tuple[float, ...]
    validation: tuple[float, ...]
