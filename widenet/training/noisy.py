"""Noisy SGD for three layers, with and without random signs [beyond-two-layers, Algorithms 2 and 3].

The weights are W⁽⁰⁾ + W', V⁽⁰⁾ + V'; A and the biases stay as they were drawn. Each of T rounds takes T_w
steps on

    L(λF(x; W⁽⁰⁾ + Wᵖ + ΣW', V⁽⁰⁾ + Vᵖ + V'Σ), y) + λ_v‖√λ V'‖_F² + λ_w‖√λ W'‖_{2,4}⁴       (4.2)

with fresh rows, fresh Gaussian Wᵖ, Vᵖ and a fresh diagonal Σ of signs at every step, and ends with
λ ← (1 − η)λ. At the end one Σ is drawn, and among several draws of Wᵖ, Vᵖ the best on the training rows is
kept. Algorithm 3 is the same without Σ.
"""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.networks.fully_connected import ThreeLayers
from widenet.networks.initialise import Initialisation, draw_parameters
from widenet.networks.network import Parameters, network_outputs
from widenet.networks.pseudo import with_signs
from widenet.training.losses import DIVERGED, LOSSES, LossName, check_targets
from widenet.training.rows import Rows, as_rows, measure_errors
from widenet.training.run import Moved, norms_of

Regulariser = Literal["two-four", "frobenius"]
DRAWN_ENTRIES = 2**23  # of weights that are held at a time for the choice among draws


@dataclass(frozen=True)
class NoisySettings:
    """What Algorithms 2 and 3 depend on, besides the network and the data.

    The paper's values of the last six numbers are polynomials in the widths; these are for experiments.

    Attributes:
        rate: η, the step size.
        rounds: T, after each of which λ shrinks.
        inner_steps: T_w, steps of a round.
        batch: Rows of a step, drawn with replacement; they share the noise and the signs of the step.
        signs: Whether there is a Σ (Algorithm 2) or not (Algorithm 3).
        shrink: λ ← (1 − shrink)λ after each round; None for η, as in the paper.
        sigma_w, sigma_v: σ_w and σ_v, standard deviations of the entries of Wᵖ and Vᵖ.
        gradient_noise: Standard deviation of the Gaussian noise on each entry of the gradient.
        lambda_w, lambda_v: λ_w and λ_v of the regulariser.
        num_draws: Draws of Wᵖ, Vᵖ among which the best is kept.
        regulariser: `two-four` penalises ‖√λ W'‖_{2,4}⁴, as the paper does; `frobenius` ‖√λ W'‖_F².
        loss: What is minimised, averaged over the rows of a step.
        initialisation: Where training starts.
        seed: Seed of everything that is drawn.
    """

    rate: float = 0.01
    rounds: int = 100
    inner_steps: int = 100
    batch: int = 1
    signs: bool = True
    shrink: float | None = None
    sigma_w: float = 1e-3
    sigma_v: float = 1e-3
    gradient_noise: float = 0.0
    lambda_w: float = 1e-4
    lambda_v: float = 1e-4
    num_draws: int = 10
    regulariser: Regulariser = "two-four"
    loss: LossName = "squared"
    initialisation: Initialisation = field(default_factory=lambda: Initialisation("layers"))
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("rate", "sigma_w", "sigma_v", "gradient_noise", "lambda_w", "lambda_v"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InputError(f"{name} must be finite and not negative, not {getattr(self, name):g}.")
        for name in ("rounds", "inner_steps", "batch", "num_draws"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be positive, not {getattr(self, name)}.")
        if not 0 <= self.shrink_factor < 1:
            raise InputError(f"shrink, a share, must be at least 0 and below 1, not {self.shrink_factor:g}.")
        for name, known in (("loss", LOSSES), ("regulariser", REGULARISERS)):
            if getattr(self, name) not in known:
                raise InputError(f"{name} must be one of {', '.join(known)}, not {getattr(self, name)!r}.")

    @property
    def shrink_factor(self) -> float:
        """The share of λ that a round takes away."""
        return self.rate if self.shrink is None else self.shrink


@dataclass(frozen=True)
class NoisyRun:
    """One three-layer network trained by Algorithm 2 or 3.

    Attributes:
        network: The architecture.
        settings: What it was trained with.
        final_lambda: λ_T, by which the outputs are multiplied.
        start: W⁽⁰⁾, V⁽⁰⁾ and A, shapes (1, …).
        weights: W⁽⁰⁾ + Wᵖ + ΣW', V⁽⁰⁾ + Vᵖ + V'Σ of the chosen draw, and A, shapes (1, …).
        losses: Mean loss of the rows that each round saw, without the regulariser.
        draw_losses: Mean loss over the training rows of every draw at the end.
        chosen: Which draw has the smallest.
        moved: Norms of W⁽⁰⁾ + W' and of V⁽⁰⁾ + V', and their distances from the start: ‖W'‖_{2,4} is
            `moved["W"].distance_two_four`, ‖V'‖_F is `moved["V"].distance`; empty where the run diverged.
        diverged: Whether it was stopped because a round's loss was not finite or far above the initial one.
        seconds: Wall time.
    """

    network: ThreeLayers
    settings: NoisySettings
    final_lambda: float
    start: Parameters
    weights: Parameters
    losses: tuple[float, ...]
    draw_losses: tuple[float, ...]
    chosen: int
    moved: dict[str, Moved]
    diverged: bool
    seconds: float

    def outputs(self, X: Tensor) -> Tensor:
        """λ_T F for inputs X (n, d), shape (n, k)."""
        X = X.to(self.weights["A"].dtype)
        return self.final_lambda * network_outputs(self.network, self.weights, X)[0]

    def to_dict(self) -> dict[str, Any]:
        """All but the weights as JSON values."""
        weights = ("start", "weights")
        values = {name: value for name, value in self.__dict__.items() if name not in weights}
        return {
            **values,
            "network": self.network.name,
            "width": self.network.width,
            "settings": asdict(self.settings),
            "moved": {name: asdict(moved) for name, moved in self.moved.items()},
        }


@dataclass(frozen=True)
class StepNoise:
    """What one step draws besides its rows, for s copies at once."""

    W: Tensor  # Wᵖ with a last column of 0, as biases have no noise, shape (s, m, d + 1)
    V: Tensor  # Vᵖ with a last column of 0, shape (s, m, m + 1)
    sigma: Tensor  # diagonals of Σ, shape (s, m); all 1 for Algorithm 3


@dataclass(frozen=True)
class NoisyProblem:
    """What stays as it is while W' and V' move.

    Attributes:
        network: Three layers, `hidden` and with fixed biases.
        start: W⁽⁰⁾, V⁽⁰⁾ and A, shapes (1, …).
        rows: The training rows.
        settings: What the algorithm depends on.
    """

    network: ThreeLayers
    start: Parameters
    rows: Rows
    settings: NoisySettings


def train_noisy(
    network: ThreeLayers,
    X: Tensor,
    Y: Tensor,
    settings: NoisySettings,
    *,
    progress: Callable[[int], None] = lambda done: None,
) -> NoisyRun:
    """Train by Algorithm 2, or by Algorithm 3 where `settings.signs` is False, in the dtype of X.

    Args:
        network: Three layers of which W and V are trained, and not their biases.
        X: Inputs, shape (n, d).
        Y: Targets, shape (n, k).
        settings: All else.
        progress: Called with the number of rounds done, after each.
    """
    if network.trained != "hidden" or not network.fixed_biases:
        raise InputError(
            "Algorithms 2 and 3 keep A and the biases: give ThreeLayers(width, 'hidden', fixed_biases=True)."
        )
    begin = time.perf_counter()
    d, k, law, dtype = X.shape[1], Y.shape[1], settings.initialisation, X.dtype
    generator = torch.Generator().manual_seed(settings.seed)
    start = draw_parameters(network, d, k, law, generator=generator, dtype=dtype)
    problem = NoisyProblem(network, start, as_rows(X, Y, dtype), settings)
    step = {name: torch.zeros_like(start[name]) for name in network.moved}
    check_targets(settings.loss, problem.rows.Y)
    initial = float(measure_errors(network, start, problem.rows, LOSSES[settings.loss]).loss)
    scale, losses, diverged = 1.0, [], False
    for number in range(1, settings.rounds + 1):
        losses.append(_round(problem, step, scale, generator))
        scale *= 1 - settings.shrink_factor
        diverged = not losses[-1] <= DIVERGED * initial
        if diverged:
            break
        progress(number)
    weights, draw_losses, chosen = choose_draw(problem, step, scale, generator)
    now = {} if diverged else {name: start[name] + step[name] for name in step}
    return NoisyRun(
        network=network,
        settings=settings,
        final_lambda=scale,
        start=start,
        weights=weights,
        losses=tuple(losses),
        draw_losses=draw_losses,
        chosen=chosen,
        moved={name: norms_of(part[0], start[name][0]) for name, part in now.items()},
        diverged=diverged,
        seconds=time.perf_counter() - begin,
    )


def _round(problem: NoisyProblem, step: Parameters, scale: float, generator: torch.Generator) -> float:
    """T_w steps of noisy SGD on W', V' in `step`, in place; the mean loss of the rows seen."""
    settings, total = problem.settings, 0.0
    for _ in range(settings.inner_steps):
        rows = problem.rows[torch.randint(problem.rows.n, (settings.batch,), generator=generator)]
        noise = draw_noise(problem.start, settings, generator)
        loss, gradient = noisy_gradient(problem, step, noise, scale, rows)
        for name, part in gradient.items():
            part[..., :-1] += _gaussian(part[..., :-1].shape, settings.gradient_noise, part, generator)
            step[name].sub_(part, alpha=settings.rate)
        total += float(loss)
    return total / settings.inner_steps


def noisy_gradient(
    problem: NoisyProblem, step: Parameters, noise: StepNoise, scale: float, rows: Rows
) -> tuple[Tensor, Parameters]:
    """Mean loss over the rows (a scalar) and gradient in (W', V') of the objective (4.2), for one draw.

    Args:
        problem: Its own rows are not looked at.
        step: W' and V', shapes (1, …), with last columns of 0.
        noise: One draw.
        scale: λ.
        rows: The rows of this step.
    """
    network, settings = problem.network, problem.settings
    loss, params = LOSSES[settings.loss], perturbed_weights(problem.start, step, noise, scale)
    tape = network.tape(params, rows.n)
    out = network.forward(params, rows.X, tape)
    mean = loss.values(out, rows.Y).mean()
    gradient = {name: torch.empty_like(part) for name, part in step.items()}
    network.backward(params, rows.X, tape, loss.slopes_(out, rows.Y).div_(rows.n), gradient, 0.0)
    gradient = with_signs(gradient, noise.sigma)
    gradient["W"] += REGULARISERS[settings.regulariser](step["W"], settings.lambda_w, scale)
    gradient["V"] += frobenius_slopes(step["V"], settings.lambda_v, scale)
    return mean, gradient


def perturbed_weights(
    start: Parameters, step: Parameters, noise: StepNoise, scale: float = 1.0
) -> Parameters:
    """W⁽⁰⁾ + Wᵖ + ΣW', V⁽⁰⁾ + Vᵖ + V'Σ and λA of every draw, shapes (s, …): with λA the network is λF."""
    signed = with_signs(step, noise.sigma)
    return {
        "W": start["W"] + noise.W + signed["W"],
        "V": start["V"] + noise.V + signed["V"],
        "A": (scale * start["A"]).expand(len(noise.sigma), -1, -1),
    }


def draw_noise(
    start: Parameters,
    settings: NoisySettings,
    generator: torch.Generator,
    *,
    num_draws: int = 1,
    sigma: Tensor | None = None,
) -> StepNoise:
    """Fresh Wᵖ, Vᵖ and, unless a `sigma` (1, m) is given for all draws, fresh signs."""
    if sigma is None:
        sigma = draw_signs(num_draws, start, settings, generator)
    parts = {}
    for name, deviation in (("W", settings.sigma_w), ("V", settings.sigma_v)):
        _, m, p = start[name].shape
        weights = _gaussian((num_draws, m, p - 1), deviation, start[name], generator)
        parts[name] = torch.cat([weights, weights.new_zeros(num_draws, m, 1)], dim=-1)
    return StepNoise(W=parts["W"], V=parts["V"], sigma=sigma.expand(num_draws, -1))


def draw_signs(num: int, start: Parameters, settings: NoisySettings, generator: torch.Generator) -> Tensor:
    """Diagonals of Σ, shape (num, m): uniform on ±1, or all 1 for Algorithm 3."""
    like = start["A"]
    shape = (num, like.shape[2])
    if not settings.signs:
        return like.new_ones(shape)
    return 2 * torch.randint(2, shape, generator=generator).to(like.dtype) - 1


def choose_draw(
    problem: NoisyProblem, step: Parameters, scale: float, generator: torch.Generator
) -> tuple[Parameters, tuple[float, ...], int]:
    """The weights of the best of the draws, shapes (1, …), the losses of all, and which one it is."""
    start, settings = problem.start, problem.settings
    sigma = draw_signs(1, start, settings, generator)
    at_a_time = max(1, DRAWN_ENTRIES // start["V"].numel())
    losses: list[float] = []
    weights: Parameters = {}
    for first in range(0, settings.num_draws, at_a_time):
        num_draws = min(at_a_time, settings.num_draws - first)
        noise = draw_noise(start, settings, generator, num_draws=num_draws, sigma=sigma)
        params = perturbed_weights(start, step, noise, scale)
        seen = measure_errors(problem.network, params, problem.rows, LOSSES[settings.loss]).loss
        best = int(seen.argmin())
        if not weights or float(seen[best]) < min(losses):
            weights = {name: part[best : best + 1].clone() for name, part in params.items()}
        losses += seen.tolist()
    return {**weights, "A": start["A"]}, tuple(losses), losses.index(min(losses))


def _gaussian(shape: tuple[int, ...], deviation: float, like: Tensor, generator: torch.Generator) -> Tensor:
    """Independent N(0, deviation²); without any deviation nothing is drawn."""
    if deviation == 0:
        return like.new_zeros(shape)
    return torch.randn(shape, generator=generator, dtype=like.dtype).mul_(deviation)


def two_four_slopes(W: Tensor, weight: float, scale: float) -> Tensor:
    """Gradient of λ_w‖√λ W‖_{2,4}⁴ = λ_w λ² Σ_i ‖w_i‖⁴."""
    return 4 * weight * scale**2 * W.square().sum(-1, keepdim=True) * W


def frobenius_slopes(W: Tensor, weight: float, scale: float) -> Tensor:
    """Gradient of λ_w‖√λ W‖_F² = λ_w λ Σ_i ‖w_i‖²."""
    return 2 * weight * scale * W


REGULARISERS: dict[Regulariser, Callable[[Tensor, float, float], Tensor]] = {
    "two-four": two_four_slopes,
    "frobenius": frobenius_slopes,
}
