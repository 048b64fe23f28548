"""Gradient descent and nothing else: full batches, a fixed step, no noise [mild-memorisation, section 5]."""

import math
from dataclasses import asdict, dataclass
from typing import ClassVar

import torch
from torch import Tensor

from widenet.memorise.methods.adam import initial_std
from widenet.memorise.methods.method import (
    RECORD_EVERY,
    Clock,
    MethodPlan,
    Route,
    State,
    Targeted,
    begun,
    copied,
    form_operations,
    generator_at,
)
from widenet.memorise.methods.steps import ConstantSteps
from widenet.memorise.problem import SquaresProblem
from widenet.networks.quadratic import choose_gradient, loss
from widenet.study.speed import Speed

PIECE = 500  # steps of one advance


@dataclass(frozen=True)
class PlainDescent(Targeted):
    """W − η∇f(W) in float64, from Gaussian weights of variance 1/(3k), as `AdamRecipe` starts.

    The paper says that "simple gradient descent" memorises its small synthetic example, and is silent on the
    start and the step. At W = 0 the gradient is 0, and nothing but noise would move W.

    Attributes:
        eta: Step size η.
        max_steps: Steps after which it stops in any case.
        target: f at which it stops; it looks after every `PIECE` steps.
    """

    name: ClassVar[str] = "gd"
    eta: float
    max_steps: int = 20_000
    target: float = 1e-20

    @classmethod
    def num_bytes(cls, n: int, k: int, r: int) -> int:
        return 8 * n * k + 4 * 8 * k * r

    @classmethod
    def seconds(cls, n: int, k: int, r: int, speed: Speed) -> float:
        return cls.max_steps * (2 * form_operations(n, k) + 4 * k**2 * r) / speed.double

    def plan(self, problem: SquaresProblem) -> MethodPlan:
        way = choose_gradient(problem.n, problem.k, problem.r)
        route = {"form": Route.FORM, "neurons": Route.NEURONS}[way]
        return MethodPlan(self.name, route, {"initial_std": initial_std(problem.k), **asdict(self)})

    def start(self, problem: SquaresProblem) -> State:
        k = problem.k
        W = torch.randn(k, problem.r, generator=generator_at(problem.seed, 0), dtype=torch.float64)
        W = (initial_std(k) * W).to(problem.Z.device)
        f = loss(ConstantSteps(problem.Z, problem.y, self.eta, 0.0).at(W).delta)
        none = torch.empty(0, dtype=torch.float64)
        return begun(f, W=W, step=0, finished=False, recorded=none)

    def advance(self, problem: SquaresProblem, state: State) -> State:
        """At most `PIECE` steps; it ends for good where the loss is no number any more."""
        state, clock = copied(state), Clock(state)
        steps = ConstantSteps(problem.Z, problem.y, self.eta, 0.0)
        here, first, recorded = steps.at(state["W"]), int(state["step"]), []
        last = min(first + PIECE, self.max_steps)
        for step in range(first + 1, last + 1):
            if step % RECORD_EVERY == 0:
                recorded.append(here.value)
            here, _ = steps.step(here, here.W)
        clock.record(last, here.value)
        new = torch.tensor(recorded, dtype=torch.float64)
        return state | clock.stop(
            W=here.W,
            step=last,
            finished=not math.isfinite(here.value),
            recorded=torch.cat([state["recorded"], new]),
        )

    def weights(self, problem: SquaresProblem, state: State) -> Tensor:
        return state["W"]
