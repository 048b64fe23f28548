"""Where rows came from, so that they can be loaded again."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Origin:
    """The arguments of `load`, and what it read.

    Attributes:
        source: Built-in name or file, as it was given.
        target: Column to predict, as it was given.
        prepare: Map of the rows that was used, of `Preparation`.
        impute: Whether missing values were filled in.
        file_sha256: Hash of the file, every bit of it; None if it was not a file.
    """

    source: str
    target: str | None
    prepare: str
    impute: bool
    file_sha256: str | None = None
