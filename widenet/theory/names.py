"""Everything that can be computed, by name and by paper."""

from collections.abc import Mapping

from widenet.base.errors import InputError
from widenet.base.wording import near_names, shown
from widenet.theory import named_concepts
from widenet.theory.beyond_two_layers import hermite
from widenet.theory.beyond_two_layers import theorems as beyond_two_layers
from widenet.theory.entry import Entry
from widenet.theory.fine_grained import bounds, learnable, movement
from widenet.theory.fine_grained import descent as wide_descent
from widenet.theory.mild_memorisation import descent as perturbed_descent
from widenet.theory.mild_memorisation import landscape, random_layer, three_layers
from widenet.theory.resnet_beyond_kernels import lower_bound, table
from widenet.theory.resnet_beyond_kernels import theorems as resnet_beyond_kernels
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
GROUPS: Mapping[str, tuple[Entry, ...]] = {
    BOTH: (*complexity.QUANTITIES, *named_concepts.QUANTITIES),
    "resnet-beyond-kernels": (
        *resnet_beyond_kernels.QUANTITIES,
        *table.QUANTITIES,
        *lower_bound.QUANTITIES,
    ),
    "beyond-two-layers": (*beyond_two_layers.QUANTITIES, *hermite.QUANTITIES),
    "fine-grained": (
        *wide_descent.QUANTITIES,
        *movement.QUANTITIES,
        *bounds.QUANTITIES,
        *learnable.QUANTITIES,
    ),
    "mild-memorisation": (
        *landscape.QUANTITIES,
        *perturbed_descent.QUANTITIES,
        *random_layer.QUANTITIES,
        *three_layers.QUANTITIES,
    ),
}
COMMANDS = {
    "inside": "Is my network inside the theorems? --data DATA --width m --eta η --kappa κ",
    "separation": "What a ResNet learns and no kernel does: measured, and drawn into --out DIR",
}


def entry_by_name(name: str) -> Entry:
    """The quantity of this name, in any case."""
    entries = {entry.name: entry for group in GROUPS.values() for entry in group}
    found = entries.get(name.casefold())
    if found is None:
        near = near_names(name, (*entries, *COMMANDS))
        raise InputError(f"There is no quantity {shown(name)}: {near} `widenet theory` lists them all.")
    return found
