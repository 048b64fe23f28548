"""Kernels by the names that the command line takes."""

import difflib
import math
import re
from collections.abc import Callable

from widenet.base.errors import InputError
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
# 1 / E σ(u)² for a standard normal u: middle layers of this weight_var keep the scale of unit rows.
ACTIVATIONS: dict[str, tuple[Layer, float]] = {
    "relu": (Relu(), 2.0),
    "erf": (Erf(), math.pi / (2 * math.asin(2 / 3))),
}
CLASSICAL: dict[str, tuple[Callable[..., Kernel], dict[str, type], str]] = {
    "gaussian": (Gaussian, {"h": float}, "exp(−‖x−z‖²/h); h=1 unless given, as in gaussian:h=0.5"),
    "laplacian": (Laplacian, {"h": float}, "exp(−‖x−z‖/h); h=1 unless given"),
    "arcsin": (Arcsin, {}, "arcsin of the cosine between x and z"),
    "recursive": (Recursive, {"depth": int}, "⟨x,z⟩, then depth times K ← 1/(2−K); depth=2 unless given"),
    "polynomial": (
        Polynomial,
        {"degree": int, "offset": float},
        "(⟨x,z⟩ + offset)^degree; degree=3 and offset=1 unless given",
    ),
}


def fully_connected(activation: str, depth: int, trained: Trained) -> Serial:
    """The kernel of `depth` Dense layers with an activation between each two, without biases."""
    layer, gain = ACTIVATIONS[activation]
    layers: list[Layer] = [Dense(), layer]
    for _ in range(depth - 2):
        layers += [Dense(weight_var=gain), layer]
    return Serial(*layers, Dense(), trained=trained, name=f"{activation}{depth}-{trained}")


def kernel_names() -> dict[str, str]:
    """Every name of a kernel with one line about it; the depths 2 and 3 stand for any from 2 to 256."""
    described = {}
    for activation, spelled in (("relu", "ReLU"), ("erf", "erf")):
        for depth in (2, 3):
            for mode, (_, meaning) in MODES.items():
                described[f"{activation}{depth}-{mode}"] = f"NTK of {depth} layers with {spelled}, {meaning}"
    described["relu2-hidden"] += ": H∞"
    for mode, meaning in (("all", "W, V and A"), ("hidden", "W and V"), ("last", "A")):
        described[f"resnet3-{mode}"] = f"NTK of the three-layer ResNet, {meaning} trained"
    return described | {name: text for name, (_, _, text) in CLASSICAL.items()}


def kernel_by_name(name: str) -> Kernel:
    """The kernel of that name.

    Raises:
        InputError: if there is none; the message has the names that come near, and all of them.
    """
    base, _, options = name.partition(":")
    if base in CLASSICAL:
        build, types, _ = CLASSICAL[base]
        return build(**_parse_options(name, options, types))
    if match := re.fullmatch(r"(relu|erf)([0-9]{1,6})-(all|hidden|last)", name):
        activation, depth, mode = match[1], int(match[2]), match[3]
        if not 2 <= depth <= MAX_DEPTH:
            raise InputError(f"Kernel {name!r} has {depth} layers; choose from 2 to {MAX_DEPTH}.")
        return fully_connected(activation, depth, MODES[mode][0])
    if match := re.fullmatch(r"resnet3-(all|hidden|last)", name):
        return ResNet3(MODES[match[1]][0])
    near = difflib.get_close_matches(name, kernel_names(), n=3, cutoff=0.6)
    suggestion = f" Did you mean {' or '.join(near)}?" if near else ""
    raise InputError(f"There is no kernel {name!r}.{suggestion} Kernels: {', '.join(kernel_names())}.")


def _parse_options(name: str, options: str, types: dict[str, type]) -> dict[str, float]:
    """Values of `key=value,key=value`."""
    parsed: dict[str, float] = {}
    for option in filter(None, options.split(",")):
        key, _, text = option.partition("=")
        if key not in types:
            known = ", ".join(types) or "none"
            raise InputError(f"Kernel {name!r} has no option {key!r}; its options: {known}.")
        try:
            parsed[key] = types[key](text)
        except ValueError:
            kind = "a whole number" if types[key] is int else "a number"
            raise InputError(f"Kernel {name!r} needs {kind} after {key}=, not {text!r}.") from None
    return parsed
