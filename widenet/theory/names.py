"""Everything that can be computed, by name and by paper."""

from collections.abc import Sequence
from types import ModuleType

from widenet.base.errors import InputError
from widenet.base.wording import near_names, shown
from widenet.theory import named_concepts
from widenet.theory.beyond_two_layers import (
    choices,
    coupling as layers_coupling,
    existence,
    hermite,
    intervals,
    optimisation,
    rademacher as layers_rademacher,
    theorems as beyond_two_layers,
)
from widenet.theory.entry import Entry
from widenet.theory.fine_grained import (
    auxiliary,
    bounds,
    descent as wide_descent,
    learnable,
    movement,
    nondegenerate,
    target_bound,
)
from widenet.theory.mild_memorisation import (
    descent as perturbed_descent,
    landscape,
    leave_one_out,
    random_layer,
    symmetric_tensors,
    three_layers,
)
from widenet.theory.resnet_beyond_kernels import (
    concentration,
    coupling as resnet_coupling,
    existential,
    general,
    indicator,
    lower_bound,
    rademacher as resnet_rademacher,
    table,
    theorems as resnet_beyond_kernels,
)
from widenet.theory.smooth import complexity

TITLES = {
    "resnet-beyond-kernels": "What can ResNet learn efficiently, going beyond kernels?",
    "beyond-two-layers": "Learning and generalization in overparameterized neural networks, going beyond "
    "two layers",
    "fine-grained": "Fine-grained analysis of optimization and generalization for overparameterized "
    "two-layer neural networks",
    "mild-memorisation": "Mildly overparametrized neural nets can memorize training data efficiently",
}
BOTH = "resnet-beyond-kernels and beyond-two-layers"
MODULES: dict[str, tuple[ModuleType, ...]] = {  # by paper: each lists what it computes as QUANTITIES
    BOTH: (complexity, named_concepts),
    "resnet-beyond-kernels": (
        resnet_beyond_kernels,
        table,
        lower_bound,
        general,
        concentration,
        resnet_coupling,
        indicator,
        existential,
        resnet_rademacher,
    ),
    "beyond-two-layers": (
        beyond_two_layers,
        hermite,
        intervals,
        existence,
        layers_coupling,
        choices,
        optimisation,
        layers_rademacher,
    ),
    "fine-grained": (
        wide_descent,
        movement,
        auxiliary,
        bounds,
        nondegenerate,
        learnable,
        target_bound,
    ),
    "mild-memorisation": (
        landscape,
        perturbed_descent,
        symmetric_tensors,
        leave_one_out,
        random_layer,
        three_layers,
    ),
}


def quantity_groups() -> dict[str, tuple[Entry, ...]]:
    """What can be computed, by paper."""
    return {
        paper: tuple(entry for module in modules for entry in module.QUANTITIES)
        for paper, modules in MODULES.items()
    }


def entry_by_name(name: str, commands: Sequence[str] = ()) -> Entry:
    """The quantity of this name, in any case.

    >>> entry_by_name("C-S").summary
    'C_s(φ,R): how many samples it takes to learn φ'

    Args:
        name: As typed.
        commands: Other names that may have been meant.
    """
    entries = {entry.name: entry for group in quantity_groups().values() for entry in group}
    found = entries.get(name.casefold())
    if found is None:
        near = near_names(name, (*entries, *commands))
        raise InputError(f"There is no quantity {shown(name)}: {near} `widenet theory` lists them all.")
    return found
