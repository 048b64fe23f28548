"""The recipe of the paper's experiments: Adam in batches at a falling rate [mild-memorisation, Appendix A.1].

A step is two products of a batch with all neurons, forwards and backwards, in float32. Values are laid out
neuron by neuron, in which both products are fastest. The two halves of the neurons, which differ in the sign
of a_i, take turns with one buffer for their gradient, so that it is still in cache when the fused update
reads it.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import ClassVar

import torch
from torch import Tensor
from torch.optim.adam import adam

from widenet.memorise.methods.method import (
    RECORD_EVERY,
    Clock,
    MethodPlan,
    Route,
    State,
    Stepwise,
    begun,
    copied,
    form_operations,
    generator_at,
)
from widenet.memorise.problem import SquaresProblem
from widenet.networks.quadratic import form, form_outputs, loss, signs
from widenet.study.speed import Speed

PIECE_FLOPS = 1e10  # of one advance, a fraction of a second, so that a run can be stopped within an epoch


@dataclass(frozen=True)
class AdamRecipe(Stepwise):
    """Batches of 128, rate .003 times .3 after every 15 epochs, 80 epochs, all as in the paper.

    The paper is silent on where it starts. It cannot be W = 0, where every gradient is 0. Here it is at
    Gaussian weights of variance 1/(3k), the variance that torch.nn.Linear gives its weights.

    Attributes:
        epochs: Epochs in all.
        batch: Rows of a step.
        rate: Initial rate.
        decay: What the rate is multiplied by.
        decay_every: Epochs after which it is.
    """

    name: ClassVar[str] = "adam"
    epochs: int = 80
    batch: int = 128
    rate: float = 0.003
    decay: float = 0.3
    decay_every: int = 15

    @classmethod
    def num_bytes(cls, n: int, k: int, r: int) -> int:
        return 8 * n * k + 6 * 8 * k * r

    @classmethod
    def seconds(cls, n: int, k: int, r: int, speed: Speed) -> float:
        return cls.epochs * (4 * n * k * r / speed.single + form_operations(n, k) / speed.double)

    def plan(self, problem: SquaresProblem) -> MethodPlan:
        return MethodPlan(self.name, Route.NEURONS, {"initial_std": initial_std(problem.k), **asdict(self)})

    def start(self, problem: SquaresProblem) -> State:
        k = problem.Z.shape[1]
        W = initial_std(k) * torch.randn(problem.r, k, generator=generator_at(problem.seed, 0))
        W = W.to(problem.Z.device)
        zeros = torch.zeros_like(W)
        f = full_loss(problem.Z.to(torch.float32), problem.y, W)
        none = torch.empty(0, dtype=torch.float64)
        return begun(f, W=W, mean=zeros, square=zeros.clone(), epoch=0, step=0, recorded=none)

    def advance(self, problem: SquaresProblem, state: State) -> State:
        """An epoch, or as many of its batches as `PIECE_FLOPS` are enough for; the loss is known after it."""
        state, clock = copied(state), Clock(state)
        epoch, step = int(state["epoch"]), int(state["step"])
        order = torch.randperm(problem.n, generator=generator_at(problem.seed, epoch + 1)).split(self.batch)
        first = step - epoch * len(order)
        batches = order[first : first + _num_batches(self.batch, *state["W"].shape)]
        rows = torch.cat(batches)
        Z, y = problem.Z[rows].to(torch.float32), problem.y[rows].to(torch.float32)
        rate = self.rate * self.decay ** (epoch // self.decay_every)
        new = train_epoch(Z, y, torch.arange(len(rows)).split(self.batch), state, rate=rate)
        step += len(batches)
        if step == (epoch + 1) * len(order):
            epoch += 1
            clock.record(step, full_loss(problem.Z.to(torch.float32), problem.y, state["W"]))
        recorded = torch.cat([state["recorded"], new])
        return state | clock.stop(epoch=epoch, step=step, recorded=recorded)

    def done(self, state: State) -> bool:
        return int(state["epoch"]) >= self.epochs

    def weights(self, problem: SquaresProblem, state: State) -> Tensor:
        return state["W"].T.to(torch.float64)


def train_epoch(Z: Tensor, y: Tensor, batches: tuple[Tensor, ...], state: State, *, rate: float) -> Tensor:
    """Steps of Adam on batches of row numbers; moves W (r, k), mean and square of the state in place.

    Returns:
        The losses f on the batches that are recorded, float64; which these are depends on the state's `step`.
    """
    W, half = state["W"], len(state["W"]) // 2
    a, gradient = signs(len(W), W.dtype, W.device), W.new_empty(half, W.shape[1])
    updates = [_update(state, neurons, gradient, rate) for neurons in (slice(half), slice(half, None))]
    # Memory for every step is taken once: the system is slow to give it out again and again.
    values, squares = W.new_empty(2, len(W), len(batches[0]))
    recorded = []
    for step, rows in enumerate(batches, start=int(state["step"]) + 1):
        if len(rows) < values.shape[1]:
            values, squares = W.new_empty(2, len(W), len(rows))
        batch = Z[rows]
        torch.mm(W, batch.T, out=values)
        torch.mul(values, values, out=squares)
        delta = a @ squares - y[rows]
        if step % RECORD_EVERY == 0:
            recorded.append(loss(delta))
        values.mul_(delta / len(rows))
        for part, sign, update in zip(values.split(half), (1, -1), updates, strict=True):
            torch.addmm(gradient, part, batch, beta=0, alpha=sign, out=gradient)
            update()
    return torch.tensor(recorded, dtype=torch.float64)


def _update(state: State, neurons: slice, gradient: Tensor, rate: float) -> Callable[[], None]:
    """A step of Adam for these neurons with its usual constants, from the state's running means on."""
    W, mean, square = (state[name][neurons] for name in ("W", "mean", "square"))
    return partial(
        adam,
        params=[W],
        grads=[gradient],
        exp_avgs=[mean],
        exp_avg_sqs=[square],
        max_exp_avg_sqs=[],
        state_steps=[state["step"].to(W.device, torch.float32)],
        fused=True,
        amsgrad=False,
        beta1=0.9,
        beta2=0.999,
        lr=rate,
        weight_decay=0.0,
        eps=1e-8,
        maximize=False,
    )


def _num_batches(batch: int, r: int, k: int) -> int:
    """Batches of one advance, the same number every time."""
    return max(1, int(PIECE_FLOPS / (4 * batch * r * k)))


def initial_std(k: int) -> float:
    """Standard deviation of the weights at the start."""
    return 1 / math.sqrt(3 * k)


def full_loss(Z: Tensor, y: Tensor, W: Tensor) -> float:
    """The loss f on all rows for W (r, k), with outputs in the precision of Z."""
    Q = form(W.T.to(torch.float64)).to(Z.dtype)
    return loss(form_outputs(Z, Q) - y)
