"""Data: a name or a file becomes a `Dataset` on the unit sphere."""

from widenet.data.builtin import Description, builtin_names, describe
from widenet.data.dataset import Dataset, Task
from widenet.data.duplicates import Duplicates, find_duplicates
from widenet.data.loading import held_out, load
from widenet.data.memory import available_bytes, require_memory
from widenet.data.noise import flip_labels, redraw_labels, subset, with_labels
from widenet.data.prepare import Preparation

__all__ = [
    "Dataset",
    "Description",
    "Duplicates",
    "Preparation",
    "Task",
    "available_bytes",
    "builtin_names",
    "describe",
    "find_duplicates",
    "flip_labels",
    "held_out",
    "load",
    "redraw_labels",
    "require_memory",
    "subset",
    "with_labels",
]
