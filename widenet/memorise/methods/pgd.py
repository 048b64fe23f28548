"""Perturbed descent in the style of Algorithm 1 [mild-memorisation], from the saddle point W = 0.

Where the gradient is small and no noise was added for t_thres steps, noise from a ball is added. If t_thres
steps later the loss is not lower by f_thres, the point before the noise is the answer.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from widenet.memorise.methods.method import (
    Clock,
    MethodPlan,
    Route,
    State,
    Stepwise,
    Targeted,
    begun,
    copied,
    form_operations,
    generator_at,
)
from widenet.memorise.methods.steps import ConstantSteps, Iterate, LineSearch, Steps
from widenet.memorise.methods.whitening import whitening
from widenet.memorise.problem import SquaresProblem
from widenet.networks.quadratic import choose_gradient, curvature, loss
from widenet.study.speed import Speed
from widenet.theory.mild_memorisation.descent import C_PGD, pgd_parameters, pgd_thresholds, theorem4

UNIT_FLOPS = 5e10  # of one advance, a second or so
FEWEST, MOST = 10, 500  # steps of one advance
TYPICAL_STEPS = 1500  # in all, for a forecast
EVERY_STEP, THINNED = 1000, 100  # the history has every step at first, later one of so many
NEVER = -1  # the step of the last noise when there was none
PATIENCE = 30  # t_thres in practice: steps to the minimum on a line within which noise has to show


@dataclass(frozen=True)
class PerturbedDescent(Targeted):
    """Perturbed descent in the style of Algorithm 1: when noise is added, and when it ends, is as there.

    The rest is not: it has no regulariser, steps go along conjugate directions to the minimum on a line, the
    thresholds follow from the loss that is asked for, and W has coordinates in which the inputs' second
    moments are the identity (see `whitening`).

    Attributes:
        target: f at which it stops.
        max_steps: Steps after which it stops in any case.
    """

    name: ClassVar[str] = "pgd"
    target: float = 1e-12
    max_steps: int = 20_000

    @classmethod
    def num_bytes(cls, n: int, k: int, r: int) -> int:
        return 3 * 8 * n * k + 10 * 8 * k * r

    @classmethod
    def seconds(cls, n: int, k: int, r: int, speed: Speed) -> float:
        return TYPICAL_STEPS * (3 * form_operations(n, k) + 4 * k**2 * r) / speed.double

    def plan(self, problem: SquaresProblem) -> MethodPlan:
        return MethodPlan(self.name, Route.FORM, {"target": self.target})

    def start(self, problem: SquaresProblem) -> State:
        T = whitening(problem.Z)
        W = T.new_zeros(T.shape[1], problem.r)
        thresholds = practical_thresholds(problem.Z @ T, problem.y, self.target)
        return _start(problem, W, thresholds) | {"T": T}

    def advance(self, problem: SquaresProblem, state: State) -> State:
        steps = LineSearch(problem.Z @ state["T"], problem.y)
        return _advance(problem, state, steps, self.max_steps, reached=lambda here: here.value <= self.target)

    def weights(self, problem: SquaresProblem, state: State) -> Tensor:
        return state["T"] @ state["W"]


@dataclass(frozen=True)
class TheoremDescent(Stepwise):
    """Algorithm 1 with every number of Theorem 4 but c, which the paper leaves open, on g = f + γ/2 ‖W‖_F².

    Attributes:
        sigma: Smallest singular value of [z_j^{⊗2}], or a lower bound of it.
        epsilon: ε, the loss that the theorem promises.
        delta: Probability with which the promise may fail.
        c: The absolute constant.
        max_steps: Steps after which it stops in any case; the theorem's own number is seldom in reach.
    """

    name: ClassVar[str] = "pgd"
    sigma: float
    epsilon: float = 1e-2
    delta: float = 0.1
    c: float = C_PGD
    max_steps: int = 100_000

    @classmethod
    def num_bytes(cls, n: int, k: int, r: int) -> int:
        return 8 * n * k + 10 * 8 * k * r

    @classmethod
    def seconds(cls, n: int, k: int, r: int, speed: Speed) -> float:
        return cls.max_steps * (2 * form_operations(n, k) + 4 * k**2 * r) / speed.double

    def plan(self, problem: SquaresProblem) -> MethodPlan:
        n, k, r = problem.n, problem.k, problem.r
        B, Y = _bounds(problem)
        promise = theorem4(n, k, r, B, Y, self.sigma, loss(problem.y), self.epsilon, self.delta, self.c)
        route = {"form": Route.FORM, "neurons": Route.NEURONS}[choose_gradient(n, k, r)]
        numbers = {"epsilon": self.epsilon, "delta": self.delta, "max_steps": self.max_steps}
        return MethodPlan(self.name, route, numbers, promise)

    def start(self, problem: SquaresProblem) -> State:
        B, Y = _bounds(problem)
        chosen = pgd_parameters(problem.n, problem.k, B, Y, self.sigma, loss(problem.y), self.epsilon)
        W = problem.Z.new_zeros(problem.k, problem.r)
        found = pgd_thresholds(
            W.numel(), chosen.ell, chosen.rho, chosen.epsilon, self.c, self.delta, chosen.delta_f
        )
        thresholds = _numbers(found.radius, found.g_thres, found.f_thres, math.ceil(found.t_thres))
        return _start(problem, W, thresholds) | {"constants": _numbers(found.eta, float(chosen.gamma))}

    def advance(self, problem: SquaresProblem, state: State) -> State:
        eta, gamma = state["constants"].tolist()
        steps = ConstantSteps(problem.Z, problem.y, eta, gamma)
        return _advance(problem, state, steps, self.max_steps, reached=lambda here: False)

    def done(self, state: State) -> bool:
        return bool(state["finished"]) or self.steps(state) >= self.max_steps

    def weights(self, problem: SquaresProblem, state: State) -> Tensor:
        return state["W"]


def practical_thresholds(Z: Tensor, y: Tensor, target: float) -> Tensor:
    """The numbers radius, g_thres, f_thres and t_thres for whitened inputs Z (n, q), shape (4,).

    Whitened inputs have E (w^T z)² = ‖w‖², so weights of ‖W‖_F² = √(4f(0)), the labels' root mean square,
    make outputs of the labels' size. Residuals of the size of the target make M smaller than at W = 0 by
    √(target / f(0)), and the gradient M W A with it: a hundredth of that is a small gradient. Noise of that
    share of the weights changes f by about the target.
    """
    f0 = loss(y)
    share = math.sqrt(min(1.0, target / f0)) if f0 > 0 else 1.0
    size = (4 * f0) ** 0.25
    steepness = float(curvature(Z, y).norm()) * size
    return _numbers(share * size, 0.01 * share * steepness, target / 10, PATIENCE)


def _start(problem: SquaresProblem, W: Tensor, thresholds: Tensor) -> State:
    f0, zeros = loss(problem.y), torch.zeros_like(W)
    last: dict[str, Tensor | float] = {"before": zeros, "before_value": f0, "t_noise": NEVER}
    return begun(f0, W=W, direction=zeros.clone(), thresholds=thresholds, step=0, finished=False, **last)


def _advance(
    problem: SquaresProblem, state: State, steps: Steps, max_steps: int, reached: Callable[[Iterate], bool]
) -> State:
    """Some steps, with noise as in Algorithm 1; a line without a lower point counts as a small gradient."""
    state, clock = copied(state), Clock(state)
    radius, g_thres, f_thres, t_thres = state["thresholds"].tolist()
    t, t_noise = int(state["step"]), int(state["t_noise"])
    before, before_value = state["before"], float(state["before_value"])
    here, direction = steps.at(state["W"]), state["direction"]
    finished = stuck = False
    for left in reversed(range(min(_unit(problem.n, *here.W.shape), max_steps - t))):
        waited = t_noise == NEVER or t - t_noise > t_thres
        if waited and (stuck or float(here.gradient.norm()) <= g_thres):
            before, before_value, t_noise = here.W, here.value, t
            noise = ball(radius, here.W.shape, generator=generator_at(problem.seed, t)).to(here.W.device)
            here, direction = steps.at(here.W + noise), torch.zeros_like(noise)
        if t_noise != NEVER and t - t_noise == t_thres and here.value - before_value > -f_thres:
            here, finished = steps.at(before), True
            clock.record(t, loss(here.delta))
            break
        there, direction = steps.step(here, direction)
        stuck, here, t = steps.to_minimum and not there.value < here.value, there, t + 1
        over = left == 0 or reached(here)
        if over or t <= EVERY_STEP or t % THINNED == 0:
            clock.record(t, loss(here.delta))
        if over:
            break
    last: dict[str, Tensor | float] = {"before": before, "before_value": before_value, "t_noise": t_noise}
    return state | clock.stop(W=here.W, direction=direction, step=t, finished=finished, **last)


def ball(radius: float, shape: torch.Size, *, generator: torch.Generator) -> Tensor:
    """A point drawn uniformly from the ball of this radius around 0, float64."""
    point = torch.randn(shape, generator=generator, dtype=torch.float64)
    depth = torch.rand((), generator=generator, dtype=torch.float64) ** (1 / point.numel())
    return point.mul_(radius * depth / point.norm())


def _unit(n: int, k: int, r: int) -> int:
    """Steps of one advance: a second or so, the same number every time."""
    return max(FEWEST, min(MOST, int(UNIT_FLOPS / (6 * k**2 * (n + r)))))


def _bounds(problem: SquaresProblem) -> tuple[float, float]:
    """B and Y of Theorem 4: the largest ‖z_j‖ and |y_j|."""
    return float(problem.Z.norm(dim=1).max()), float(problem.y.abs().max())


def _numbers(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)
