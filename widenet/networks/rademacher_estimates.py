"""Rademacher complexities from below, by maximising over weights [beyond-two-layers, lemmas 6.10 and 6.12].

For each draw of signs ξ the supremum of Σ_j ξ_j f(x_j)/N over ‖W'‖_{2,4} ≤ τ_w, ‖V'‖_F ≤ τ_v is sought by
taking, again and again, the weights that are best for the gradient at the present ones. Whatever is found is
attained, so that the mean over draws is below the complexity, up to the error of that mean.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.networks.network import Parameters, with_constant
from widenet.networks.two_widths import (
    SignPattern,
    layer_inputs,
    random_signs,
    real_outputs,
    sign_pattern,
)


@dataclass(frozen=True)
class RademacherEstimate:
    """A lower estimate of a Rademacher complexity."""

    value: float  # mean over the draws of signs
    error: float  # standard error of that mean


def best_two_four(gradient: Tensor, tau: float) -> Tensor:
    """The W' with ‖W'‖_{2,4} ≤ τ and the largest ⟨W', G⟩, for G (m, d): rows along g_i, like ‖g_i‖^{1/3}."""
    sizes = gradient.norm(dim=1)
    total = sizes.pow(4 / 3).sum() ** 0.25
    directions = gradient / sizes.clamp_min(torch.finfo(gradient.dtype).tiny)[:, None]
    return tau * directions * (sizes.pow(1 / 3) / total.clamp_min(1e-300))[:, None]


def best_frobenius(gradient: Tensor, tau: float) -> Tensor:
    """The V' with ‖V'‖_F ≤ τ that has the largest ⟨V', G⟩."""
    return tau * gradient / gradient.norm().clamp_min(1e-300)


def bilinear_estimate(
    start: Parameters,
    X: Tensor,
    *,
    tau_w: float,
    tau_v: float,
    num_draws: int,
    num_steps: int,
    generator: torch.Generator,
) -> RademacherEstimate:
    """Of the pseudo networks A_1 D_v V' D_w W'x, the class that lemma 6.12 reduces its own to.

    Either matrix has a best value for the other one; they take turns, from a random W'.
    """
    signs, a = sign_pattern(start, X), start["A"][0, 0]
    found = []
    for _ in range(num_draws):
        xi = random_signs(1, len(X), generator=generator)[0]
        left, first = xi[:, None] * a * signs.second[0], signs.first[0]  # (N, m2), (N, m1)
        W = torch.randn(first.shape[1], X.shape[1], generator=generator, dtype=X.dtype)
        W = best_two_four(W, tau_w)
        for _ in range(num_steps):
            inner = (X @ W.T) * first
            V = best_frobenius(left.T @ inner, tau_v)
            W = best_two_four(((left @ V) * first).T @ X, tau_w)
        found.append(float((left @ V * first * (X @ W.T)).sum()) / len(X))
    return _estimate(found)


def network_estimate(
    start: Parameters,
    X: Tensor,
    *,
    tau_w: float,
    tau_v: float,
    num_draws: int,
    num_steps: int,
    generator: torch.Generator,
) -> RademacherEstimate:
    """Of the real networks around `start`, one output, without random signs [lemma 6.10].

    What the network at `start` has of it has mean 0 over ξ, and is left out.
    """
    A = start["A"][:, :1]
    at_start = real_outputs({**start, "A": A}, X)[0, :, 0]
    found = []
    for _ in range(num_draws):
        xi, best = random_signs(1, len(X), generator=generator)[0], 0.0
        params = {**start, "A": A}
        for _ in range(num_steps):
            slopes_w, slopes_v = _slopes(sign_pattern(params, X), params, X, xi)
            params = {
                "W": start["W"] + _without_bias(best_two_four(slopes_w, tau_w)),
                "V": start["V"] + _without_bias(best_frobenius(slopes_v, tau_v)),
                "A": A,
            }
            out = real_outputs(params, X)[0, :, 0]
            best = max(best, float(xi @ (out - at_start)) / len(X))
        found.append(best)
    return _estimate(found)


def _slopes(signs: SignPattern, params: Parameters, X: Tensor, xi: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of Σ_j ξ_j f(x_j) in W (m1, d) and V (m2, m1), without biases."""
    first = layer_inputs(params, X)[0].relu()[0]
    second = xi[:, None] * params["A"][0, 0] * signs.second[0]
    below = (second @ params["V"][0, :, :-1]) * signs.first[0]
    return below.T @ X, second.T @ first


def _without_bias(step: Tensor) -> Tensor:
    return with_constant(step, 0.0)[None]


def _estimate(found: list[float]) -> RademacherEstimate:
    values = torch.tensor(found, dtype=torch.float64)
    return RademacherEstimate(float(values.mean()), float(values.std() / len(found) ** 0.5))
