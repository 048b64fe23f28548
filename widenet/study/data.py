"""The rows that a study was about, in numbers and names."""

from dataclasses import dataclass, field

import torch

from widenet.data.dataset import Dataset, UsedColumns
from widenet.data.leaks import Leak, LeakKind

__all__ = ["DataSummary", "Leak", "LeakKind", "UsedColumns", "data_summary"]  # these are parts of a summary


@dataclass(frozen=True)
class DataSummary:
    """What every result tells of its data.

    Attributes:
        name: Built-in name or file name.
        n: Number of rows.
        d: Number of columns after encoding and preparation.
        outputs: Columns of the target.
        classes: Class names; empty for regression.
        class_counts: Rows of each class.
        task: binary, multiclass or regression.
        prepare: The map that was used, of `Preparation`.
        provenance: Sentences on what was read and which encodings were made.
        leaks: Columns that give the target away.
        columns: What became of the columns that a person sees in the data; `to_dict` has it beside `data`.
        target: Name of the target's column; empty where it has none.
        target_scale: What 1 in the targets of a regression is in the units that were given.
        drawn_from: Rows that these were drawn from at random; None where they are all.
        without_target: Rows that were left out because their target is missing.
    """

    name: str
    n: int
    d: int
    outputs: int
    classes: tuple[str, ...]
    class_counts: tuple[int, ...]
    task: str
    prepare: str
    provenance: tuple[str, ...]
    leaks: tuple[Leak, ...] = ()
    columns: UsedColumns = field(default_factory=UsedColumns)
    target: str = ""
    target_scale: float = 1.0
    drawn_from: int | None = None
    without_target: int = 0

    @property
    def num_features(self) -> int:
        """Features as a person counts them: a category or a column with gaps is one, whatever it becomes."""
        return len(self.columns.used) or self.d


def data_summary(dataset: Dataset) -> DataSummary:
    """The summary of a data set."""
    counts = () if dataset.labels is None else torch.bincount(dataset.labels, minlength=len(dataset.classes))
    return DataSummary(
        name=dataset.name,
        n=dataset.n,
        d=dataset.d,
        outputs=dataset.Y.shape[1],
        classes=dataset.classes,
        class_counts=tuple(int(count) for count in counts),
        task=dataset.task,
        prepare=dataset.preparation.kind,
        provenance=dataset.provenance,
        leaks=dataset.leaks,
        columns=dataset.columns,
        target=dataset.target,
        target_scale=float(dataset.target_scale.scale.max()) if dataset.task == "regression" else 1.0,
        drawn_from=dataset.drawn_from,
        without_target=dataset.without_target,
    )
