"""Pseudo networks: what a network is while its neurons keep the signs that they had at given weights.

With the signs frozen a network is a polynomial in its weights. `Pseudo` is that polynomial, of second order
in (W, V); `Linearised` is its first-order Taylor expansion, the model of the tangent kernel, in which W and V
do not interact. Both are networks, so whatever trains or measures a network takes them; a hidden value of
theirs below 0 is that of a neuron that would have changed its sign.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from widenet.base.errors import InputError
from widenet.networks.fully_connected import ThreeLayers, TwoLayers
from widenet.networks.network import (
    Network,
    OuterProduct,
    Parameters,
    Tape,
    network_outputs,
    shared,
    with_constant,
    with_ones,
)
from widenet.networks.resnet import ResNet

Real = TwoLayers | ThreeLayers | ResNet
Biases = Literal["biased", "semi-biased", "bias-free"]

# What the biases of the first and of the second hidden layer are multiplied by.
CONSTANTS: dict[Biases, tuple[float, float]] = {
    "biased": (1.0, 1.0),
    "semi-biased": (1.0, 0.0),
    "bias-free": (0.0, 0.0),
}


@dataclass(frozen=True, eq=False)
class _Frozen:
    """What networks with frozen signs have in common.

    Attributes:
        network: The real network.
        start: Weights at which the signs are frozen: one copy for all, or one for each.
    """

    network: Real
    start: Parameters

    @property
    def width(self) -> int:
        return self.network.width

    @property
    def moved(self) -> tuple[str, ...]:
        return self.network.moved

    @property
    def hidden(self) -> tuple[str, ...]:
        return self.network.hidden

    def shapes(self, d: int, k: int) -> dict[str, tuple[int, int]]:
        return self.network.shapes(d, k)

    def tape(self, params: Parameters, b: int) -> Tape:
        return {}


@dataclass(frozen=True, eq=False)
class Pseudo(_Frozen):
    """The network with each σ(z) replaced by D z, D = I[z⁽⁰⁾ ≥ 0] the signs at `start`.

    Of three layers it is g = A D_v (V D_w (W x + b₁) + b₂); semi-biased, without b₂; bias-free,
    A D_v V D_w W x [beyond-two-layers, sections 6.2 and 6.3]. Of two layers it is A D_w (W x + b) [the same,
    appendix B]; of the ResNet it is out₁ + A D_v V(out₁, 1), out₁ = A D_w W(x, 1) [resnet-beyond-kernels,
    section 6.1]. The biases always enter the signs.
    """

    biases: Biases = "biased"

    @property
    def name(self) -> str:
        return f"{self.network.name} ({self.biases}, frozen signs)"

    def forward(self, params: Parameters, X: Tensor, tape: Tape) -> Tensor:
        constant1, constant2 = CONSTANTS[self.biases]
        A = params["A"]
        _, at_start = _pass(self.network, self.start, X)
        tape.update({f"{name} signs": _active(values) for name, values in at_start.items()})
        tape["inputs"] = with_constant(X[..., :-1], constant1)
        first = tape["first"] = (tape["inputs"] @ params["W"].mT) * tape["first signs"]
        if isinstance(self.network, TwoLayers):
            return first @ A.mT
        residual = isinstance(self.network, ResNet)
        below = first @ A.mT if residual else first
        tape["below"] = with_constant(below, constant2)
        tape["second"] = (tape["below"] @ params["V"].mT) * tape["second signs"]
        out = tape["second"] @ A.mT
        return below + out if residual else out

    def backward(
        self, params: Parameters, X: Tensor, tape: Tape, slopes: Tensor, sums: Parameters, keep: float
    ) -> None:
        A = params["A"]
        if isinstance(self.network, TwoLayers):
            _add(sums, "A", slopes, tape["first"], keep)
            slopes1 = slopes @ A
        else:
            inner = (slopes @ A) * tape["second signs"]
            _add(sums, "A", slopes, tape["second"], keep)
            _add(sums, "V", inner, tape["below"], keep)
            slopes1 = inner @ params["V"][..., :-1]
            if isinstance(self.network, ResNet):
                slopes_out1 = slopes + slopes1
                _add(sums, "A", slopes_out1, tape["first"], 1.0)
                slopes1 = slopes_out1 @ A
        _add(sums, "W", slopes1 * tape["first signs"], tape["inputs"], keep)
        _fix_biases(self.network, sums)

    def gradient_factors(self, params: Parameters, X: Tensor) -> dict[str, tuple[OuterProduct, ...]]:
        raise InputError(f"The tangent kernel of {self.name} is not implemented; take its Jacobian instead.")


@dataclass(frozen=True, eq=False)
class Linearised(_Frozen):
    """f(θ₀) + ∂f(θ₀)(θ − θ₀), the first-order Taylor expansion of the network at `start` = θ₀.

    Of three layers, with W = W₀ + W' and V = V₀ + V', and without biases as the paper writes it, it is
    f(θ₀) + A D_v V' D_w W₀x + A D_v V₀ D_w W'x [beyond-two-layers, remark 6.1]. The gradient is that of the
    real network at θ₀, wherever the weights are.
    """

    @property
    def name(self) -> str:
        return f"{self.network.name} (linearised)"

    def forward(self, params: Parameters, X: Tensor, tape: Tape) -> Tensor:
        start = self.start
        steps = {name: params[name] - start[name] for name in params}
        out, hidden = _pass(self.network, start, X)
        first, A = hidden["first"], start["A"]
        moved_first = (X @ steps["W"].mT) * _active(first)
        tape["first"] = first + moved_first
        if isinstance(self.network, TwoLayers):
            return out + moved_first @ A.mT + first @ steps["A"].mT
        below, moved_below = first, moved_first
        if isinstance(self.network, ResNet):
            below, moved_below = first @ A.mT, moved_first @ A.mT + first @ steps["A"].mT
            out = out + moved_below
        moved_inputs = with_ones(below) @ steps["V"].mT + moved_below @ start["V"][..., :-1].mT
        moved_second = moved_inputs * _active(hidden["second"])
        tape["second"] = hidden["second"] + moved_second
        return out + moved_second @ A.mT + hidden["second"] @ steps["A"].mT

    def backward(
        self, params: Parameters, X: Tensor, tape: Tape, slopes: Tensor, sums: Parameters, keep: float
    ) -> None:
        start = _expanded(self.start, slopes.shape[0])
        at_start = self.network.tape(start, X.shape[-2])
        self.network.forward(start, X, at_start)
        self.network.backward(start, X, at_start, slopes, sums, keep)

    def gradient_factors(self, params: Parameters, X: Tensor) -> dict[str, tuple[OuterProduct, ...]]:
        return self.network.gradient_factors(self.start, X)


def frozen_signs(network: Network, params: Parameters, X: Tensor) -> dict[str, Tensor]:
    """D of each hidden layer at these weights for inputs X (n, d): 0 or 1, by name, shapes (s, n, m).

    Like the gradients of the real network they take a neuron at exactly 0 for inactive.
    """
    _, hidden = _pass(network, params, with_ones(X))
    return {name: _active(values) for name, values in hidden.items()}


def distances(network: Real, start: Parameters, params: Parameters, X: Tensor) -> dict[str, Tensor]:
    """How far the real network is from those with the signs at `start`, root mean square over rows.

    Args:
        network: The real network.
        start: Weights at which the signs are frozen, shapes (1, …).
        params: Weights now, shapes (s, …).
        X: Inputs, shape (n, d).

    Returns:
        For `pseudo` and for `linearised` the distances, shape (s,).
    """
    out = network_outputs(network, params, X)
    models: dict[str, Network] = {"pseudo": Pseudo(network, start), "linearised": Linearised(network, start)}
    gaps = {name: out - network_outputs(model, params, X) for name, model in models.items()}
    return {name: gap.square().sum(-1).mean(-1).sqrt() for name, gap in gaps.items()}


def with_signs(step: Parameters, sigma: Tensor) -> Parameters:
    """(ΣW', V'Σ) for diagonals Σ of signs [beyond-two-layers, equation (4.2)].

    Args:
        step: W' (1, m, d + 1) and V' (1, m, m + 1), whose last columns, those of the biases, are 0.
        sigma: Diagonals of Σ, each ±1, shape (s, m).
    """
    columns = torch.cat([sigma, torch.ones_like(sigma[:, :1])], dim=1)
    return {"W": sigma[:, :, None] * step["W"], "V": step["V"] * columns[:, None, :]}


def cross_term(
    network: ThreeLayers, start: Parameters, params: Parameters, step: Parameters, sigma: Tensor, X: Tensor
) -> Tensor:
    """What Σ makes vanish in expectation, g' of [beyond-two-layers, lemma 6.5], shape (s, n, k).

    It is g(W + ΣW″, V + V″Σ) − g(W, V) − g⁽ᵇᵇ⁾(ΣW″, V″Σ), with g the pseudo network, biased, and g⁽ᵇᵇ⁾ the
    bias-free one: the terms of first order in Σ.

    Args:
        network: The real network.
        start: Weights at which the signs are frozen, shapes (1, …).
        params: W, V and A, shapes (1, …).
        step: W″ and V″, shapes (1, …), with last columns, those of the biases, of 0.
        sigma: Diagonals of Σ, each ±1, shape (s, m).
        X: Inputs, shape (n, d).
    """
    step, A = with_signs(step, sigma), params["A"].expand(len(sigma), -1, -1)
    there: Parameters = {"W": params["W"] + step["W"], "V": params["V"] + step["V"], "A": A}
    biased, bias_free = Pseudo(network, start), Pseudo(network, start, "bias-free")
    return (
        network_outputs(biased, there, X)
        - network_outputs(biased, params, X)
        - network_outputs(bias_free, {**step, "A": A}, X)
    )


def _pass(network: Network, params: Parameters, X: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    """Outputs, and values of the hidden layers, for rows (x, 1), shape (b, d + 1) or (s, b, d + 1)."""
    if X.dim() == 3:
        params = _expanded(params, X.shape[0])
    tape = network.tape(params, X.shape[-2])
    out = network.forward(params, X, tape)
    return out, {name: tape[name][..., : network.width] for name in network.hidden}


def _active(values: Tensor) -> Tensor:
    """Which neurons are active, 0 or 1, from their values."""
    return (values > 0).to(values.dtype)


def _expanded(params: Parameters, num_copies: int) -> Parameters:
    return {name: part.expand(num_copies, *part.shape[1:]) for name, part in params.items()}


def _add(sums: Parameters, name: str, slopes: Tensor, inputs: Tensor, keep: float) -> None:
    """Add a layer's gradient where its parameter is moved."""
    if name in sums:
        sums[name].baddbmm_(slopes.mT, shared(inputs, len(slopes)), beta=keep)


def _fix_biases(network: Real, sums: Parameters) -> None:
    if not isinstance(network, ResNet) and network.fixed_biases:
        for name in {"W", "V"} & set(sums):
            sums[name][..., -1] = 0
