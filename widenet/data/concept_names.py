"""Concept classes by name, with options: `resnet-cube:n=1000,alpha=0.3,seed=1`."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.base.memory import require_memory
from widenet.base.options import parse_options
from widenet.base.wording import shown
from widenet.data.concepts import Concept
from widenet.data.paper_concepts import parity6, resnet_cube, resnet_hard, three_sines, three_tanhs

NUM_HELD_OUT = 10_000
TRAIN, TEST = 0, 1  # streams of random numbers that one seed gives
LARGEST_SEED = 2**63 - 1
RESNET = "Z. Allen-Zhu, Y. Li, What can ResNet learn efficiently, going beyond kernels?, 2019"
BEYOND = (
    "Z. Allen-Zhu, Y. Li, Y. Liang, Learning and generalization in overparameterized neural networks, going "
    "beyond two layers, 2018"
)


@dataclass(frozen=True)
class NamedConcept:
    """A concept class that is known by a name."""

    description: str  # what it is, in one line
    source: str  # paper and equation
    n: int  # rows that are drawn by default
    build: Callable[..., Concept]  # makes the concept from the options
    options: dict[str, type]  # type of each option of `build`


@dataclass(frozen=True)
class Draw:
    """Rows of a concept, as a name with options stands for them.

    Attributes:
        name: Name of the class.
        options: The values that made the concept; None where one follows from the others.
        concept: The function, its inputs and its noise.
        n: Number of rows.
        seed: Seed of every random choice.
    """

    name: str
    options: Mapping[str, float | None]
    concept: Concept
    n: int
    seed: int

    def rows(self, n: int, stream: int) -> tuple[Tensor, Tensor]:
        """Inputs (n, d) and outputs (n, k); streams of one seed are independent of each other."""
        d, k = self.concept.d, self.concept.num_outputs
        require_memory(8 * n * (3 * d + 12 * k), f"A sample of {n:,} rows, {d:,} inputs and {k:,} outputs")
        seed = np.random.SeedSequence([self.seed, stream]).generate_state(1, np.uint64)[0]
        return self.concept.sample(n, generator=torch.Generator().manual_seed(int(seed)))


COMMON: dict[str, type] = {"n": int, "seed": int, "noise": float}

CONCEPTS: dict[str, NamedConcept] = {
    "resnet-cube": NamedConcept(
        "Pairs of signs multiplied, F, plus products of four of these, H = βF + αG(F), on {±1}^d.",
        f"{RESNET}, Section 8.1",
        500,
        resnet_cube,
        {"d": int, "k": int, "alpha": float, "beta": float},
    ),
    "resnet-hard": NamedConcept(
        "k signs, F, plus the product of all of them, H = F + αG(F), on {±1/√d}^d.",
        f"{RESNET}, equation (7.1)",
        1000,
        resnet_hard,
        {"d": int, "d1": int, "k": int, "alpha": float},
    ),
    "parity6": NamedConcept(
        "The product of six signs, on {±1/√d}^d.", f"{RESNET}, Section 8.2", 5000, parity6, {"d": int}
    ),
    "three-sines": NamedConcept(
        "(sin 3x1 + sin 3x2 + sin 3x3 − 2)² cos 7x4 on the unit sphere.",
        f"{BEYOND}, Figure 1",
        1000,
        three_sines,
        {},
    ),
    "three-tanhs": NamedConcept(
        "(tanh 8x1 + tanh 8x2 + tanh 8x3 − 2)² tanh 8x4 on the unit sphere.",
        f"{BEYOND}, Figure 2",
        1000,
        three_tanhs,
        {},
    ),
}


def is_concept(source: str) -> bool:
    """Whether a name, up to its colon, is that of a concept class."""
    return source.partition(":")[0] in CONCEPTS


def parse_draw(source: str) -> Draw:
    """What `NAME` or `NAME:option=value,…` stands for, where NAME is one of `CONCEPTS`."""
    name, _, text = source.partition(":")
    known = CONCEPTS[name]
    given = parse_options(shown(name), text, known.options | COMMON)
    n, seed, noise = int(given.pop("n", known.n)), int(given.pop("seed", 0)), given.pop("noise", 0.0)
    options = _defaults(known) | given
    if n < 2:
        raise InputError(f"{shown(name)} cannot have n={n} rows: at least two are needed to learn from.")
    if not 0 <= seed <= LARGEST_SEED:
        raise InputError(f"{shown(name)} cannot have seed={seed}: give a whole number from 0 to 2⁶³ − 1.")
    try:
        concept = replace(known.build(**options), noise=noise)
    except InputError as error:
        raise InputError(f"{shown(name)} cannot be drawn: {error}") from error
    return Draw(name, options, concept, n, seed)


def shown_options(name: str) -> tuple[str, ...]:
    """Options of a concept class, each with its default where that is a number."""
    known = CONCEPTS[name]
    common = (f"n={known.n}", "seed=0", "noise=0")
    own = (key if value is None else f"{key}={value:g}" for key, value in _defaults(known).items())
    return (*common, *own)


def _defaults(known: NamedConcept) -> dict[str, float | None]:
    """The options' defaults, which the function that builds the concept owns."""
    parameters = inspect.signature(known.build).parameters
    return {key: parameters[key].default for key in known.options}
