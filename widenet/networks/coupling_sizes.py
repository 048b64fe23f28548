"""What the coupling lemmas bound, measured on a drawn network [beyond-two-layers, lemmas 6.5, 6.9 and 6.11].

The bounds are `lemma_6_5`, `lemma_6_9` and `lemma_6_11` of `widenet.theory.beyond_two_layers.coupling`.
Weights are those of `draw_two_widths`; steps W', V' have last columns, those of the biases, of 0.
"""

import torch
from torch import Tensor

from widenet.networks.network import Parameters
from widenet.networks.pseudo import with_signs
from widenet.networks.two_widths import (
    layer_inputs,
    outputs_with_signs,
    random_signs,
    real_outputs,
    sign_pattern,
)


def most_sign_changes(values: Tensor, budget: float, power: float) -> int:
    """How many entries of values (m,) a change δ with (Σ|δ_i|^p)^{1/p} ≤ budget can give the other sign.

    To turn an entry takes its own size, so the smallest ones come first.
    """
    costs = values.abs().sort().values.pow(power).cumsum(0)
    return int((costs <= budget**power).sum())


def most_changes(params: Parameters, x: Tensor, tau_w: float, tau_v: float) -> tuple[int, int]:
    """The most signs that a ‖W'‖_{2,4} ≤ τ_w turns in the first layer, and a ‖V'‖_F ≤ τ_v in the second.

    Both are attained, by rows of W' along x and by rows of V' along σ(Wx + b), for x (d,) of norm 1. The
    second is for W' = 0.
    """
    first, second = (inputs[0, 0] for inputs in layer_inputs(params, x[None]))
    below = float(first.relu().norm())
    return most_sign_changes(first, tau_w, 4), most_sign_changes(second / below, tau_v, 2)


def sign_changes_at(start: Parameters, params: Parameters, X: Tensor) -> tuple[Tensor, Tensor]:
    """‖D'_w‖_0 and ‖D'_v‖_0 between two weights, for every row, shapes (n,)."""
    here, there = sign_pattern(start, X), sign_pattern(params, X)
    return (there.first != here.first).sum(-1)[0], (there.second != here.second).sum(-1)[0]


def spread_step(start: Parameters, tau_w: float, tau_v: float, *, generator: torch.Generator) -> Parameters:
    """A random step with rows of W' of one norm: ‖W'‖_{2,4} = τ_w, ‖V'‖_F = τ_v."""
    step = {
        name: torch.randn(start[name].shape, generator=generator, dtype=torch.float64) for name in ("W", "V")
    }
    for part in step.values():
        part[..., -1] = 0
    W, V = step["W"], step["V"]
    rows = tau_w / W.shape[1] ** 0.25
    return {"W": rows * W / W.norm(dim=-1, keepdim=True), "V": tau_v * V / V.norm()}


def cross_terms(params: Parameters, step: Parameters, sigma: Tensor, X: Tensor) -> Tensor:
    """The g' of lemma 6.5 at η = 1, with the signs at `params`, for diagonals Σ (s, m1), shape (s, n, k)."""
    signs, signed = sign_pattern(params, X), with_signs(step, sigma)
    A = params["A"]
    there = {"W": params["W"] + signed["W"], "V": params["V"] + signed["V"], "A": A}
    return (
        outputs_with_signs(signs, there, X)
        - outputs_with_signs(signs, params, X)
        - outputs_with_signs(signs, {**signed, "A": A}, X, "bias-free")
    )


def coupling_error(start: Parameters, step: Parameters, sigma: Tensor, X: Tensor) -> Tensor:
    """f(W⁽⁰⁾ + ΣW', V⁽⁰⁾ + V'Σ) − f(W⁽⁰⁾, V⁽⁰⁾) − A D_v V' D_w W'x [lemma 6.11], shape (s, n, k)."""
    signed, A = with_signs(step, sigma), start["A"]
    there = {"W": start["W"] + signed["W"], "V": start["V"] + signed["V"], "A": A}
    bilinear = outputs_with_signs(sign_pattern(start, X), {**step, "A": A}, X, "bias-free")
    return real_outputs(there, X) - real_outputs(start, X) - bilinear


def smoothed_gap(
    params: Parameters,
    step: Parameters,
    X: Tensor,
    *,
    eta: float,
    sigma_w: float,
    sigma_v: float,
    num_draws: int,
    generator: torch.Generator,
) -> float:
    """E|P − P'|/η² over noise and signs, its mean over rows and outputs [lemma 6.9].

    P is the real network at (W + Wᵖ + ηΣW'', V + Vᵖ + ηV''Σ), P' the one with the signs at (W + Wᵖ, V + Vᵖ).
    """
    total = 0.0
    for _ in range(num_draws):
        noisy = noisy_weights(params, sigma_w, sigma_v, generator=generator)
        signed = with_signs(step, random_signs(1, params["W"].shape[1], generator=generator))
        there = {**noisy, "W": noisy["W"] + eta * signed["W"], "V": noisy["V"] + eta * signed["V"]}
        gap = real_outputs(there, X) - outputs_with_signs(sign_pattern(noisy, X), there, X)
        total += float(gap.abs().mean())
    return total / (num_draws * eta**2)


def noisy_weights(
    params: Parameters, sigma_w: float, sigma_v: float, *, generator: torch.Generator
) -> Parameters:
    """W + Wᵖ and V + Vᵖ, biases without noise, and A."""
    moved = dict(params)
    for name, deviation in (("W", sigma_w), ("V", sigma_v)):
        noise = torch.randn(params[name].shape, generator=generator, dtype=torch.float64).mul_(deviation)
        noise[..., -1] = 0
        moved[name] = params[name] + noise
    return moved
