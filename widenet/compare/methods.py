"""Every method of the comparison by the name that the command line takes."""

import difflib
from collections.abc import Iterable

from widenet.base.errors import InputError
from widenet.base.wording import shown
from widenet.compare.baselines import BoostingMethod, ForestMethod, RidgeMethod
from widenet.compare.kernels import classical, of_network, random_features, with_option
from widenet.compare.networks import NetworkMethod
from widenet.compare.tuning import Family, Method

NETWORKS = ("2layer-all", "2layer-hidden", "3layer-all", "3layer-hidden", "3resnet-all", "3resnet-hidden")
# The NTK of each architecture, and its conjugate kernel: only the last layer trained.
NETWORK_KERNELS = ("relu2-all", "relu2-last", "relu3-all", "relu3-last", "resnet3-all", "resnet3-last")
GROUPS: dict[str, Family] = {"networks": "network", "kernels": "kernel", "baselines": "baseline"}


def all_methods(width: int, epochs: int) -> dict[str, Method]:
    """All methods by name, networks of this width trained for so many epochs."""
    methods: list[Method] = [
        *(NetworkMethod(name, width, epochs) for name in NETWORKS),
        *(of_network(name) for name in NETWORK_KERNELS),
        with_option("gaussian", "h", (0.05, 0.2, 0.8, 3.2)),
        with_option("laplacian", "h", (0.25, 1.0, 4.0)),
        classical("arcsin"),
        with_option("recursive", "depth", (1, 3)),
        with_option("polynomial", "degree", (2, 3, 4)),
        random_features(),
        RidgeMethod(),
        ForestMethod(),
        BoostingMethod(),
    ]
    return {method.name: method for method in methods}


def methods_by_name(names: Iterable[str], width: int, epochs: int) -> tuple[Method, ...]:
    """The methods of these names, once each; a group's name stands for all of its members.

    Args:
        names: Names of methods, or `networks`, `kernels`, `baselines`; none for all methods.
        width: Neurons of the networks' hidden layers.
        epochs: Epochs of their training.

    Raises:
        InputError: if there is no such method; the message has the near names, and all of them.
    """
    known = all_methods(width, epochs)
    chosen: dict[str, Method] = {}
    for name in names:
        if name in GROUPS:
            chosen |= {each: method for each, method in known.items() if method.family == GROUPS[name]}
        elif name in known:
            chosen[name] = known[name]
        else:
            near = difflib.get_close_matches(name.casefold(), [*known, *GROUPS], n=3, cutoff=0.5)
            suggestion = f"did you mean {' or '.join(near)}? " if near else ""
            raise InputError(
                f"There is no method {shown(name)}; {suggestion}Methods: {', '.join(known)}; groups: "
                f"{', '.join(GROUPS)}."
            )
    return tuple((chosen or known).values())
