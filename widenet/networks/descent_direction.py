"""The second-order descent direction, measured [beyond-two-layers, lemma 6.7].

The objective is L'(λ, W, V) = E L(λF(x; W⁽⁰⁾ + Wᵖ + W, V⁽⁰⁾ + Vᵖ + V), y) + λ_v‖√λV‖_F² + λ_w‖√λW‖_{2,4}⁴,
the mean over rows and over the Gaussian noise Wᵖ, Vᵖ. With W⋇, V⋇ of `constructed_pair`, built for the target
over λ, a step √η(ΣW⋇, V⋇Σ) changes λF by ηF* to second order; what is of first order has mean 0 over the
signs Σ. The lemma says that this step or the decay λ → (1 − η)λ brings L' below (1 − ηγ/4)L'.
L is √(1 + ‖·‖²) − 1 of the difference: convex, 1-Lipschitz and 1-smooth, as the theorems have it.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.networks.coupling_sizes import noisy_weights
from widenet.networks.network import Parameters
from widenet.networks.pseudo import with_signs
from widenet.networks.two_widths import random_signs, real_outputs
from widenet.theory.beyond_two_layers.optimisation import LARGEST_GAMMA, descent_factor


@dataclass(frozen=True)
class Objective:
    """What L' depends on besides the weights.

    Attributes:
        start: W⁽⁰⁾, V⁽⁰⁾ and A, as `draw_two_widths` draws them.
        X: Inputs, shape (n, d).
        Y: Targets, shape (n, k).
        sigma_w, sigma_v: σ_w and σ_v.
        lambda_w, lambda_v: λ_w and λ_v.
    """

    start: Parameters
    X: Tensor
    Y: Tensor
    sigma_w: float
    sigma_v: float
    lambda_w: float = 0.0
    lambda_v: float = 0.0

    def value(self, noisy: Parameters, step: Parameters, scale: float) -> Tensor:
        """L' at λ = scale for one draw of noise and steps W, V of s copies, shape (s,)."""
        there = {"W": noisy["W"] + step["W"], "V": noisy["V"] + step["V"], "A": noisy["A"]}
        losses = smooth_loss(scale * real_outputs(there, self.X), self.Y).mean(-1)
        rows = step["W"].square().sum(-1)
        return (
            losses
            + self.lambda_v * scale * step["V"].square().sum((-2, -1))
            + self.lambda_w * scale**2 * rows.square().sum(-1)
        )


@dataclass(frozen=True)
class DescentMeasurement:
    """L' before and after, with standard errors of the differences from `now` over the draws of noise."""

    now: float  # L'(λ, W, V)
    stepped: float  # E_Σ L'(λ, W + √ηΣW⋇, V + √ηV⋇Σ)
    decayed: float  # L'((1 − η)λ, W, V)
    promised: float  # (1 − ηγ/4)·now, which the smaller of the two is below according to the lemma
    step_error: float
    decay_error: float


def smooth_loss(outputs: Tensor, Y: Tensor) -> Tensor:
    """√(1 + ‖out − y‖²) − 1 of each row, shape (..., n)."""
    return (1 + (outputs - Y).square().sum(-1)).sqrt() - 1


def measure_descent(
    objective: Objective,
    step: Parameters,
    direction: Parameters,
    *,
    scale: float,
    eta: float,
    num_draws: int,
    gamma: float = LARGEST_GAMMA,
    generator: torch.Generator,
) -> DescentMeasurement:
    """Compare the objective before and after the second-order step, and after a decay.

    All three see the same noise. The signs come as Σ and −Σ, of which what is of first order cancels.

    Args:
        objective: L'.
        step: W and V now, shapes (1, …).
        direction: W⋇ and V⋇, shapes (1, …).
        scale: λ.
        eta: η.
        num_draws: Draws of the noise, each with a Σ of its own.
        gamma: γ.
        generator: Where noise and signs come from.
    """
    found = []
    for _ in range(num_draws):
        noisy = noisy_weights(objective.start, objective.sigma_w, objective.sigma_v, generator=generator)
        sigma = random_signs(1, direction["W"].shape[1], generator=generator)
        signed = with_signs(direction, torch.cat([sigma, -sigma]))
        moved = {name: step[name] + eta**0.5 * signed[name] for name in ("W", "V")}
        now = float(objective.value(noisy, step, scale))
        stepped = float(objective.value(noisy, moved, scale).mean())
        found.append((now, stepped - now, float(objective.value(noisy, step, (1 - eta) * scale)) - now))
    values = torch.tensor(found, dtype=torch.float64)
    now, stepped, decayed = values.mean(0).tolist()
    errors = (values.std(0) / num_draws**0.5).tolist()
    return DescentMeasurement(
        now,
        now + stepped,
        now + decayed,
        float(descent_factor(eta, gamma)) * now,
        errors[1],
        errors[2],
    )
