"""How the data of a study is read, as fields like those of its settings."""

from dataclasses import dataclass

from widenet.study.settings import Settings, setting


@dataclass(frozen=True)
class Reading(Settings):
    """The arguments of `widenet.load`, besides the data."""

    target: str | None = setting(
        None,
        "Column to predict.",
        otherwise="found by its name, else the last that can be learned",
        metavar="COL",
    )
    task: str | None = setting(
        None,
        "Whether the target is classes or numbers.",
        choices=("classification", "regression"),
        otherwise="read off its values",
    )
    prepare: str | None = setting(
        None,
        "Map of the rows to the unit sphere.",
        choices=("unit", "standard"),
        otherwise="unit for images, standard for tables",
    )
    drop: tuple[str, ...] = setting((), "Columns to leave out.", metavar="COL,COL,...")
    keep: tuple[str, ...] = setting(
        (), "Columns to use although they look like identifiers or text.", metavar="COL,COL,..."
    )
    categorical: tuple[str, ...] = setting(
        (), "Columns whose numbers are codes of categories.", metavar="COL,COL,..."
    )
