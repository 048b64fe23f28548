"""Networks by the names that the command line takes."""

import re
from collections.abc import Callable

from widenet.base.errors import InputError
from widenet.base.wording import no_such
from widenet.kernels.networks import Trained
from widenet.networks.bias_free import BiasFreeTwoLayers
from widenet.networks.fully_connected import ThreeLayers, TwoLayers
from widenet.networks.network import Network
from widenet.networks.resnet import GeneralResNet, ResNet

ARCHITECTURES: dict[str, Callable[[int, Trained], Network]] = {
    kind.architecture: kind for kind in (TwoLayers, BiasFreeTwoLayers, ThreeLayers, ResNet, GeneralResNet)
}
TRAINED: tuple[Trained, ...] = ("all", "hidden", "last")


def network_names() -> tuple[str, ...]:
    """Every name that `network_by_name` takes."""
    return tuple(f"{architecture}-{trained}" for architecture in ARCHITECTURES for trained in TRAINED)


def network_by_name(name: str, width: int) -> Network:
    """The network of that name and width, such as `3resnet-all`.

    >>> network = network_by_name("3resnet-hidden", 100)
    >>> network.moved, network.shapes(d=20, k=1)["W"]
    (('W', 'V'), (100, 21))

    Raises:
        InputError: if there is none, or the width is not positive.
    """
    match = re.fullmatch(r"(.+)-(all|hidden|last)", name)
    if match and match[1] in ARCHITECTURES:
        trained: dict[str, Trained] = {each: each for each in TRAINED}
        return ARCHITECTURES[match[1]](width, trained[match[2]])
    raise InputError(no_such("network", name, network_names()))
