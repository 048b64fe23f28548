"""Everything that can be computed, by name and by paper."""

from collections.abc import Mapping, Sequence
from importlib import import_module

from widenet.base.errors import InputError
from widenet.base.wording import near_names, shown
from widenet.theory.entry import Entry

TITLES = {
    "resnet-beyond-kernels": "What can ResNet learn efficiently, going beyond kernels?",
    "beyond-two-layers": "Learning and generalization in overparameterized neural networks, going beyond "
    "two layers",
    "fine-grained": "Fine-grained analysis of optimization and generalization for overparameterized "
    "two-layer neural networks",
    "mild-memorisation": "Mildly overparametrized neural nets can memorize training data efficiently",
}
BOTH = "resnet-beyond-kernels and beyond-two-layers"
MODULES = {  # by paper: what computes its quantities, and lists them as QUANTITIES
    BOTH: ("smooth.complexity", "named_concepts"),
    "resnet-beyond-kernels": (
        "resnet_beyond_kernels.theorems",
        "resnet_beyond_kernels.table",
        "resnet_beyond_kernels.lower_bound",
    ),
    "beyond-two-layers": ("beyond_two_layers.theorems", "beyond_two_layers.hermite"),
    "fine-grained": (
        "fine_grained.descent",
        "fine_grained.movement",
        "fine_grained.bounds",
        "fine_grained.learnable",
    ),
    "mild-memorisation": (
        "mild_memorisation.landscape",
        "mild_memorisation.descent",
        "mild_memorisation.random_layer",
        "mild_memorisation.three_layers",
    ),
}
GROUPS: Mapping[str, tuple[Entry, ...]] = {
    paper: tuple(entry for name in names for entry in import_module(f"widenet.theory.{name}").QUANTITIES)
    for paper, names in MODULES.items()
}


def entry_by_name(name: str, commands: Sequence[str] = ()) -> Entry:
    """The quantity of this name, in any case.

    >>> entry_by_name("C-S").summary
    'C_s(φ,R): how many samples it takes to learn φ'

    Args:
        name: As typed.
        commands: Other names that may have been meant.
    """
    entries = {entry.name: entry for group in GROUPS.values() for entry in group}
    found = entries.get(name.casefold())
    if found is None:
        near = near_names(name, (*entries, *commands))
        raise InputError(f"There is no quantity {shown(name)}: {near} `widenet theory` lists them all.")
    return found
