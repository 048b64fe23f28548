"""Every method of the comparison by the name that the command line takes."""

from collections.abc import Callable, Iterable
from functools import partial

from widenet.base.errors import InputError
from widenet.base.wording import no_such
from widenet.compare.baselines import BoostingMethod, ForestMethod, RidgeMethod
from widenet.compare.kernels import classical, of_network, random_features
from widenet.compare.networks import NetworkMethod
from widenet.compare.tuning import FAMILY_GROUPS, CompareMethod

MethodMaker = Callable[[int, int], CompareMethod]  # from the width and the epochs of networks

NETWORKS = ("2layer-all", "2layer-hidden", "3layer-all", "3layer-hidden", "3resnet-all", "3resnet-hidden")
# The NTK of each architecture, and its conjugate kernel: only the last layer trained.
ARCHITECTURES = ("relu2-bias", "relu3-bias", "resnet3")
NETWORK_KERNELS = tuple(f"{each}-{trained}" for each in ARCHITECTURES for trained in ("all", "last"))
CLASSICAL_KERNELS = ("gaussian", "laplacian", "arcsin", "recursive", "polynomial")


def always(method: CompareMethod) -> MethodMaker:
    """The maker of a method that width and epochs do not concern."""
    return lambda width, epochs: method


METHODS: dict[str, MethodMaker] = {
    **{name: partial(NetworkMethod, name) for name in NETWORKS},
    **{name: always(of_network(name)) for name in NETWORK_KERNELS},
    **{name: always(classical(name)) for name in CLASSICAL_KERNELS},
    "random-features": always(random_features()),
    "ridge": always(RidgeMethod()),
    "forest": always(ForestMethod()),
    "boosting": always(BoostingMethod()),
}


def methods_by_name(names: Iterable[str], width: int, epochs: int) -> tuple[CompareMethod, ...]:
    """The methods of these names, once each; a group's name stands for all of its members.

    Args:
        names: Names of methods, or `networks`, `kernels`, `baselines`; none for all methods.
        width: Neurons of the networks' hidden layers.
        epochs: Epochs of their training.

    Raises:
        InputError: if there is no such method; the message has the near names, and all of them.
    """
    known = {name: make(width, epochs) for name, make in METHODS.items()}
    members = {
        group: {name: method for name, method in known.items() if method.family == family}
        for family, group in FAMILY_GROUPS.items()
    }
    chosen: dict[str, CompareMethod] = {}
    for name in names:
        if name not in known and name not in members:
            raise InputError(no_such("method", name, (*known, *members)))
        chosen |= members[name] if name in members else {name: known[name]}
    return tuple((chosen or known).values())
