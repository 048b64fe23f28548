"""Ways to lie about a certificate: claims, weights, the random layer, the data, and the form of it all.

Each takes what there is to lie about and a generator, changes it in place, and returns what it did in words.
"""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors, save as save_tensors

from fuzz.oracle import Data, inputs_hash

CLAIMS = ("loss", "max_residual", "curvature_norm", "tolerance", "bound", "value", "lower")
SPECIAL = (0.0, -0.0, 5e-324, 1e-320, 2.3e-308, 1e-160, 1e-30, 0.5, 1.0, 1e30, 1e160, 1.7e308, -1e-9, -1.0)
NO_NUMBERS: tuple[Any, ...] = (None, "0", True, 0, 10**400, [], {}, float("nan"), float("inf"), "\ud800")
ALIKE = str.maketrans({"a": "а", "e": "е", "o": "о", "s": "ѕ", "c": "с"})  # Cyrillic


@dataclass
class Lie:
    """A certificate on its way to become a false one.

    Attributes:
        record: Its fields.
        tensors: Its weights.
        data: What it is about.
        well_formed: Whether every field is there, of its type, and sizes agree.
        file: The file of weights, where it is not the usual one of these tensors.
    """

    record: dict[str, Any]
    tensors: dict[str, np.ndarray]
    data: Data
    well_formed: bool = True
    file: bytes | None = None

    def packed(self) -> bytes:
        """The file of weights, whose hash the certificate has from now on."""
        content = save_tensors(self.tensors) if self.file is None else self.file
        if isinstance(self.record["network"].get("weights_sha256"), str):
            self.record["network"]["weights_sha256"] = sha256(content).hexdigest()
        return content

    def set_claim(self, name: str, value: Any) -> None:
        """Change a claim; `lambda_min` goes with the curvature that it follows from."""
        place = self.record["sigma_min"] if name in ("value", "lower") else self.record
        place[name] = value
        if name == "curvature_norm" and type(value) is float:
            self.record["lambda_min"] = -value

    def claim(self, name: str) -> Any:
        place = self.record["sigma_min"] if name in ("value", "lower") else self.record
        return place[name]

    def remeasure(self) -> None:
        """Claim what the weights really do, as far as float64 tells: an honest certificate of bad weights."""
        record, W = self.record, self.tensors["W"]
        X = self.data.inputs(record["data"]["noise"], record["data"]["seed"])
        record["data"]["inputs_sha256"] = inputs_hash(X)
        Z = X
        if "R" in self.tensors:
            Z = record["network"]["scale"] * (X @ self.tensors["R"].T) ** record["network"]["power"]
        half = W.shape[1] // 2
        squares = (Z @ W) ** 2
        delta = squares[:, :half].sum(1) - squares[:, half:].sum(1) - self.data.y
        M = (Z.T * delta) @ Z / len(Z)
        if not np.isfinite(M).all() or not np.isfinite(delta).all():
            return
        self.set_claim("loss", float((delta**2).sum() / (4 * len(Z))))
        self.set_claim("max_residual", float(np.abs(delta).max()))
        self.set_claim("curvature_norm", float(np.abs(np.linalg.eigvalsh(M)).max()))
        self.rebound()

    def rebound(self) -> None:
        """Let Lemma 4's bound follow from what is claimed."""
        lower, norm = self.claim("lower"), self.claim("curvature_norm")
        if type(lower) is not float or type(norm) is not float:
            return
        if lower <= 0:
            self.record["bound"] = self.record["holds"] = None
            return
        with np.errstate(all="ignore"):
            bound = float(self.record["n"] * self.record["k"] * np.float64(norm / lower) ** 2 / 4)
        self.record["bound"], self.record["holds"] = bound, bool(self.record["loss"] <= bound)


Mutation = Callable[[Lie, np.random.Generator], str]


def nudged_claim(lie: Lie, rng: np.random.Generator) -> str:
    """A claim a little or much larger or smaller; others may follow from it."""
    name, factor = str(rng.choice(CLAIMS)), 1 + rng.choice((-1, 1)) * 10.0 ** rng.uniform(-12, 0)
    if not isinstance(lie.claim(name), float):
        return "nothing"
    lie.set_claim(name, float(lie.claim(name) * factor))
    if rng.random() < 0.5:
        lie.rebound()
    return f"{name} times {factor!r}"


def special_claim(lie: Lie, rng: np.random.Generator) -> str:
    """A claim at the edge of what floats hold."""
    name, value = str(rng.choice(CLAIMS)), float(rng.choice(SPECIAL))
    lie.set_claim(name, value)
    if rng.random() < 0.7 and value >= 0:
        lie.rebound()
    return f"{name} is {value!r}"


def perfect_fit(lie: Lie, rng: np.random.Generator) -> str:
    """Nothing is left to fit, says the certificate."""
    for name in ("loss", "max_residual", "curvature_norm"):
        lie.set_claim(name, 0.0)
    lie.rebound()
    return "a perfect fit"


def bold_sigma(lie: Lie, rng: np.random.Generator) -> str:
    """A larger or smaller σ_min, with bounds that follow from it."""
    factor = 10.0 ** rng.uniform(-3, 3) if rng.random() < 0.5 else 1 + rng.uniform(-0.02, 0.02)
    for name in ("value", "lower"):
        lie.set_claim(name, float(lie.claim(name) * factor))
    lie.rebound()
    return f"sigma_min times {factor!r}"


def no_sigma(lie: Lie, rng: np.random.Generator) -> str:
    """Nothing is claimed of σ_min; true of any weights."""
    lie.set_claim("value", 0.0)
    lie.set_claim("lower", 0.0)
    lie.rebound()
    return "no sigma_min"


def moved_weight(lie: Lie, rng: np.random.Generator) -> str:
    """One weight moved, or all of them scaled."""
    W = lie.tensors["W"]
    size = float(rng.choice((-1, 1)) * 10.0 ** rng.uniform(-16, 3))
    if rng.random() < 0.3:
        W *= 1 + size
        return f"weights times {1 + size!r}"
    W[tuple(rng.integers(W.shape))] += size
    return f"a weight moved by {size!r}"


def cancelling_neurons(lie: Lie, rng: np.random.Generator) -> str:
    """A huge neuron in both halves: no output changes by it, if it replaces neurons of no size."""
    W, size = lie.tensors["W"], 10.0 ** rng.uniform(0, 160 if rng.random() < 0.1 else 12)
    direction = rng.standard_normal(len(W))
    W[:, 0] = W[:, -1] = size * direction / np.linalg.norm(direction)
    return f"neurons of size {size!r} that cancel"


def same_network(lie: Lie, rng: np.random.Generator) -> str:
    """Neurons of one sign in another order, and turned around: nothing changes."""
    W = lie.tensors["W"]
    half = W.shape[1] // 2
    order = np.concatenate([rng.permutation(half), half + rng.permutation(half)])
    W[:] = W[:, order] * rng.choice((-1.0, 1.0), W.shape[1])
    return "neurons in another order"


def swapped_signs(lie: Lie, rng: np.random.Generator) -> str:
    """Both halves of the neurons in each other's place."""
    half = lie.tensors["W"].shape[1] // 2
    lie.tensors["W"][:] = np.roll(lie.tensors["W"], half, axis=1)
    return "signs swapped"


def special_weight(lie: Lie, rng: np.random.Generator) -> str:
    """A weight that is subnormal, enormous or no number."""
    tensor = lie.tensors[str(rng.choice(sorted(lie.tensors)))]
    value = float(rng.choice((0.0, 5e-324, 1e-310, 1e154, 1e300, np.nan, np.inf)))
    tensor[tuple(rng.integers(tensor.shape))] = value
    return f"a weight is {value!r}"


def other_layer(lie: Lie, rng: np.random.Generator) -> str:
    """The random layer with repeated directions, moved, or with another power or scale."""
    if "R" not in lie.tensors:
        return "nothing"
    R, network = lie.tensors["R"], lie.record["network"]
    match int(rng.integers(5)):
        case 0:
            R[:] = R[0]
            return "one direction"
        case 1:
            R[int(rng.integers(1, len(R)))] = R[0]
            return "a direction twice"
        case 2:
            R[tuple(rng.integers(R.shape))] += 10.0 ** rng.uniform(-16, 1)
            return "a direction moved"
        case 3:
            network["power"] = int(rng.integers(1, 9))
            return f"power {network['power']}"
    network["scale"] = float(network["scale"] * 10.0 ** rng.uniform(-9, 9))
    return f"scale {network['scale']!r}"


def other_data(lie: Lie, rng: np.random.Generator) -> str:
    """Other noise, with the hash of the rows that it makes."""
    data = lie.record["data"]
    if rng.random() < 0.5:
        data["noise"] = float(10.0 ** rng.uniform(-18, 1)) if rng.random() < 0.8 else 0.0
    else:
        data["seed"] = int(rng.integers(2**62))
    X = lie.data.inputs(data["noise"], data["seed"])
    data["inputs_sha256"] = inputs_hash(X)
    return f"noise {data['noise']!r} from {data['seed']}"


def honest_measures(lie: Lie, rng: np.random.Generator) -> str:
    """The truth, as float64 has it, about what the weights have become."""
    lie.remeasure()
    return "measured anew"


def other_count(lie: Lie, rng: np.random.Generator) -> str:
    """A size that is not so; or one distinct row more or less, which is well-formed."""
    name = str(rng.choice(("n", "d", "k", "r", "points", "parameters", "layers")))
    lie.record[name] += int(rng.choice((-2, -1, 1, 2)))
    lie.well_formed &= name == "points" and lie.record["points"] >= 1
    return f"{name} is {lie.record[name]}"


def other_form(lie: Lie, rng: np.random.Generator) -> str:
    """A field that is gone, of another type, under a name that looks the same, or one too many."""
    places = [lie.record, lie.record["data"], lie.record["network"], lie.record["sigma_min"]]
    place = places[int(rng.integers(len(places)))]
    name = str(rng.choice([key for key in sorted(place) if key not in ("digest", "data", "network")]))
    lie.well_formed = False
    match int(rng.integers(4)):
        case 0:
            del place[name]
            return f"no {name}"
        case 1:
            place[name] = {"none of": "these"}
            return f"{name} is an object"
        case 2:
            other = name.translate(ALIKE) if name.translate(ALIKE) != name else name + "\u200b"
            place[other] = place.pop(name)
            return f"{name} under another name"
    place["extra"] = NO_NUMBERS[int(rng.integers(7))]
    return "a field more"


def no_number(lie: Lie, rng: np.random.Generator) -> str:
    """A claim that is no number at all."""
    name, value = str(rng.choice(CLAIMS)), NO_NUMBERS[int(rng.integers(len(NO_NUMBERS)))]
    lie.set_claim(name, value)
    lie.well_formed = False
    return f"{name} is {value!r:.40}"


def damaged_file(lie: Lie, rng: np.random.Generator) -> str:
    """A file of weights with a bit turned, cut off, or with more at its end."""
    content = bytearray(save_tensors(lie.tensors))
    position = int(rng.integers(len(content)))
    match int(rng.integers(6)):
        case 0:
            content, told = content[:position], f"cut off at {position}"
        case 1:
            content, told = content + bytes(position), f"{position} bytes more"
        case _:
            content[position] ^= 1 << int(rng.integers(8))
            told = f"another bit at {position}"
    lie.file = bytes(content)
    lie.well_formed = _same_shapes(lie)
    return f"weights {told}"


def _same_shapes(lie: Lie) -> bool:
    """Whether the file still holds tensors of these names, shapes and types; the lie is then about those."""
    try:
        tensors = load_tensors(lie.file or b"")
    except (SafetensorError, ValueError, KeyError, AttributeError, TypeError):
        return False
    before, lie.tensors = lie.tensors, tensors
    return {name: (each.shape, each.dtype) for name, each in tensors.items()} == {
        name: (each.shape, each.dtype) for name, each in before.items()
    }


CLAIMING: tuple[Mutation, ...] = (
    nudged_claim,
    nudged_claim,
    special_claim,
    perfect_fit,
    bold_sigma,
    no_sigma,
)
CHANGING: tuple[Mutation, ...] = (
    moved_weight,
    cancelling_neurons,
    same_network,
    swapped_signs,
    special_weight,
    other_layer,
    other_data,
)
SHAPING: tuple[Mutation, ...] = (other_count, other_form, no_number, damaged_file)
