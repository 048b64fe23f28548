"""Kernels by the names that the command line takes."""

import math
import re
from collections.abc import Callable, Iterable

from widenet.base.errors import InputError
from widenet.base.options import parse_options
from widenet.base.wording import no_such, shown
from widenet.kernels.classical import Arcsin, Gaussian, Laplacian, Polynomial, Recursive
from widenet.kernels.kernel import Kernel
from widenet.kernels.layers import Dense, Erf, Layer, Relu
from widenet.kernels.networks import ResNet3, Serial, Trained

MAX_DEPTH = 256
MODES: dict[str, tuple[Trained, str]] = {
    "all": ("all", "all layers trained"),
    "hidden": ("hidden", "all layers but the last trained"),
    "last": ("last", "only the last layer trained"),
}
# Name: the layer, 1 / E σ(u)² for a standard normal u, and how people write it. Middle layers whose weight_var
# is the second keep the scale of unit rows.
ACTIVATIONS: dict[str, tuple[Layer, float, str]] = {
    "relu": (Relu(), 2.0, "ReLU"),
    "erf": (Erf(), math.pi / (2 * math.asin(2 / 3)), "erf"),
}
# Name: the kernel's class, the types of its options, and what it is.
CLASSICAL: dict[str, tuple[Callable[..., Kernel], dict[str, type], str]] = {
    "gaussian": (Gaussian, {"h": float}, "exp(−‖x−z‖²/h); h=1 by default, otherwise as in gaussian:h=0.5"),
    "laplacian": (Laplacian, {"h": float}, "exp(−‖x−z‖/h); h=1 by default"),
    "arcsin": (Arcsin, {}, "arcsin of the cosine between x and z"),
    "recursive": (Recursive, {"depth": int}, "⟨x,z⟩, then depth times K ← 1/(2−K); depth=2 by default"),
    "polynomial": (
        Polynomial,
        {"degree": int, "offset": float},
        "(⟨x,z⟩ + offset)^degree; degree=3 and offset=1 by default",
    ),
}


def fully_connected(activation: str, depth: int, trained: Trained) -> Serial:
    """The kernel of `depth` Dense layers with an activation between each two, without biases."""
    layer, gain, _ = ACTIVATIONS[activation]
    middle = (Dense(weight_var=gain), layer) * (depth - 2)
    return Serial(Dense(), layer, *middle, Dense(), trained=trained, name=f"{activation}{depth}-{trained}")


def with_biases(activation: str, depth: int, trained: Trained) -> Serial:
    """The same with biases of variance 1 in all layers but the last, and weights of variance 1 in each.

    For ReLU it is the limit at large width of the two-layer and three-layer networks of `widenet.networks` as
    they are initialised (`widenet.networks.tangent`).
    """
    hidden = (Dense(bias_var=1.0), ACTIVATIONS[activation][0]) * (depth - 1)
    return Serial(*hidden, Dense(), trained=trained, name=f"{activation}{depth}-bias-{trained}")


def kernel_names() -> dict[str, str]:
    """Every name of a kernel with one line about it; the depths 2 and 3 stand for any from 2 to 256."""
    described = {}
    for activation, (_, _, spelled) in ACTIVATIONS.items():
        for bias, biases in (("", ""), ("-bias", " and biases")):
            for depth in (2, 3):
                for mode, (_, meaning) in MODES.items():
                    network = f"{depth} layers with {spelled}{biases}"
                    described[f"{activation}{depth}{bias}-{mode}"] = f"NTK of {network}, {meaning}"
    described["relu2-hidden"] += ": H∞"
    for mode, meaning in (("all", "W, V and A"), ("hidden", "W and V"), ("last", "A")):
        described[f"resnet3-{mode}"] = f"NTK of the three-layer ResNet, {meaning} trained"
    return described | {name: text for name, (_, _, text) in CLASSICAL.items()}


def kernel_by_name(name: str) -> Kernel:
    """The kernel of that name.

    >>> kernel_by_name("relu2-hidden"), kernel_by_name("gaussian:h=0.5")
    (relu2-hidden, Gaussian(h=0.5))

    Raises:
        InputError: if there is none; the message has the names that come near, and all of them.
    """
    base, _, options = name.partition(":")
    if base in CLASSICAL:
        build, types, _ = CLASSICAL[base]
        return build(**parse_options(f"Kernel {shown(base)}", options, types))
    if match := re.fullmatch(rf"({_any(ACTIVATIONS)})([0-9]{{1,6}})(-bias)?-({_any(MODES)})", name):
        activation, depth, mode = match[1], int(match[2]), MODES[match[4]][0]
        if not 2 <= depth <= MAX_DEPTH:
            raise InputError(f"Kernel {shown(name)} has {depth} layers; choose from 2 to {MAX_DEPTH}.")
        return (with_biases if match[3] else fully_connected)(activation, depth, mode)
    if match := re.fullmatch(rf"resnet3-({_any(MODES)})", name):
        return ResNet3(MODES[match[1]][0])
    raise InputError(no_such("kernel", name, tuple(kernel_names())))


def _any(names: Iterable[str]) -> str:
    """A regular expression for one of the names."""
    return "|".join(map(re.escape, names))
