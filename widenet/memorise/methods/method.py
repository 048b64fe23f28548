"""What every method of memorising has in common: a state of tensors, and one function that moves it on."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar, Protocol

import numpy as np
import torch
from torch import Tensor

from widenet.memorise.problem import SquaresProblem
from widenet.study.speed import Speed
from widenet.theory.quantity import Quantity

RECORD_EVERY = 5  # steps from one record of the loss to the next [mild-memorisation, Appendix A.2]
SYMMETRIC = 0.7  # share of a product of rows with themselves that symmetry leaves to be computed

State = dict[str, Tensor]
"""All that is needed to go on, counters and history included, so that a file of tensors can hold it.

The methods of the paper's experiments keep an entry `recorded`: the loss f = Σ δ_j² / (4b) on the b rows of
every `RECORD_EVERY`th step, as it was before the step, float64. The mean squared error is 4f.

Two entries are for showing alone, and differ from run to run: `seconds` and the second column of `history`.
"""


class Route(Enum):
    """What the bulk of a method's work goes through."""

    FORM = "the form Q and the matrix M"
    NEURONS = "the neurons"
    CHOLESKY = "a Cholesky factor"
    CONJUGATE_GRADIENTS = "conjugate gradients"


@dataclass(frozen=True)
class MethodPlan:
    """What a method will do, known before it starts.

    Attributes:
        method: Its name.
        route: What the bulk of its work goes through.
        numbers: Its settings by name, such as the loss at which it stops.
        promise: The steps that Theorem 4 promises; None where it is about another method.
    """

    method: str
    route: Route
    numbers: Mapping[str, float] = field(default_factory=dict)
    promise: Quantity | None = None


class FittingMethod(Protocol):
    """A way to weights W with a small f(W).

    Attributes:
        name: By which settings know it.
    """

    name: ClassVar[str]

    @classmethod
    def num_bytes(cls, n: int, k: int, r: int) -> int:
        """Memory that it takes for n rows of k numbers and r neurons, beside those themselves."""

    @classmethod
    def seconds(cls, n: int, k: int, r: int, speed: Speed) -> float:
        """Time that it takes; that of descent is a guess, since nobody knows its number of steps."""

    def plan(self, problem: SquaresProblem) -> MethodPlan:
        """What will be done."""

    def start(self, problem: SquaresProblem) -> State:
        """The state before the first step."""

    def advance(self, problem: SquaresProblem, state: State) -> State:
        """The state some seconds of work later, which depends on the problem and `state` alone.

        So a run that goes on from a stored state ends bit for bit as one that was never interrupted. `state`
        is left as it is.
        """

    def done(self, state: State) -> bool:
        """Whether there is nothing left to do."""

    def weights(self, problem: SquaresProblem, state: State) -> Tensor:
        """W, float64, shape (k, r)."""

    def steps(self, state: State) -> int:
        """Steps so far: of descent, of Adam, or iterations of a linear solve."""


class Stepwise:
    """A method that counts its steps in the entry `step` of its state."""

    def steps(self, state: State) -> int:
        """Steps so far."""
        return int(state["step"])


class Targeted(Stepwise):
    """One that stops at a loss, after so many steps, or where it finds that nothing helps any more."""

    target: float
    max_steps: int

    def done(self, state: State) -> bool:
        """Whether one of these has come."""
        reached = last_loss(state) <= self.target or self.steps(state) >= self.max_steps
        return bool(state["finished"]) or reached


def form_operations(n: int, k: int) -> float:
    """Operations of z_jᵀQz_j for n rows of k numbers, or of Σ_j v_j z_j z_jᵀ, symmetry used."""
    return SYMMETRIC * 2 * n * k**2


def begun(f: float, **entries: Tensor | float) -> State:
    """The state at step 0, where the loss is `f`."""
    history = torch.tensor([[0.0, 0.0, f]], dtype=torch.float64)
    return {"history": history, **tensors(seconds=0.0, **entries)}


def tensors(**entries: Tensor | float) -> State:
    """Entries of a state: truth values, whole numbers and float64 become tensors."""
    return {
        name: torch.tensor(entry, dtype=torch.float64) if type(entry) is float else torch.as_tensor(entry)
        for name, entry in entries.items()
    }


def copied(state: State) -> State:
    """A copy to work on, each tensor in memory of its own, row by row.

    What was read from a file need not be aligned as torch aligns it, and has lost the order of its strides;
    the rounding of a matrix product can depend on both, and so can the bits of everything after it.
    """
    return {name: tensor.clone(memory_format=torch.contiguous_format) for name, tensor in state.items()}


def moved_to(device: torch.device, state: State) -> State:
    """The state on a device, but for what is recorded of the way."""
    return {
        name: tensor if name in ("history", "recorded") else tensor.to(device)
        for name, tensor in state.items()
    }


class Clock:
    """Collects rows (step, seconds, f) of a state's history while the state is advanced."""

    def __init__(self, state: State) -> None:
        self._state, self._start = state, time.perf_counter()
        self._rows: list[tuple[float, float, float]] = []

    def record(self, step: int, f: float) -> None:
        self._rows.append((step, self._seconds(), f))

    def stop(self, **entries: Tensor | float) -> State:
        """These entries, the history with the new rows, and the seconds of all work so far."""
        rows = torch.tensor(self._rows, dtype=torch.float64).reshape(-1, 3)
        history = torch.cat([self._state["history"], rows])
        return tensors(history=history, seconds=self._seconds(), **entries)

    def _seconds(self) -> float:
        return float(self._state["seconds"]) + time.perf_counter() - self._start


def last_loss(state: State) -> float:
    """The loss f after the last step."""
    return float(state["history"][-1, 2])


def generator_at(seed: int, step: int) -> torch.Generator:
    """The randomness of one step of the run with this seed."""
    words = np.random.SeedSequence([seed, step]).generate_state(2)
    return torch.Generator().manual_seed(int(words[0]) << 31 | int(words[1]) >> 1)
