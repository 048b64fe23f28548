"""Where rows came from, so that they can be loaded again."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Origin:
    """The arguments of `load`, and what it read.

    Attributes:
        source: Built-in name or file, as it was given.
        target: Column to predict, as it was given.
        prepare: Map of the rows that was used, of `Preparation`.
        drop: Columns to leave out, as they were given.
        keep: Columns to use whatever they look like, as they were given.
        categorical: Columns of codes, as they were given.
        file_sha256: Hash of the file, every bit of it; None if it was not a file.
        task: Whether targets are classes or numbers, as it was given.
    """

    source: str
    target: str | None
    prepare: str
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    file_sha256: str | None = None
    task: str | None = None
