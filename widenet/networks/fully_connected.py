"""Fully connected networks of two and three layers [beyond-two-layers, sections 3 and 4]."""

from dataclasses import dataclass

import torch
from torch import Tensor

from widenet.networks.network import (
    Layered,
    OuterProduct,
    Parameters,
    Tape,
    add_outer,
    hidden_values,
    output_slopes,
    shared,
    with_constant,
    with_ones,
)
from widenet.networks.relu import active_slopes, pass_slopes, relu_


@dataclass(frozen=True)
class FullyConnected(Layered):
    """f = A h, where h ← σ(W(h, 1)) from h = x on for the weights W of each hidden layer in turn.

    With `fixed_biases` the last columns of these, the biases, stay as they were drawn, as in Algorithms 1, 2
    and 3.
    """

    fixed_biases: bool = False

    def forward(self, params: Parameters, X: Tensor, tape: Tape) -> Tensor:
        A = params["A"]
        below = shared(X, len(A))
        for name, layer in zip(self.inner, self.hidden, strict=True):
            relu_(torch.bmm(below, params[name].mT, out=tape[layer][..., : self.width]))
            below = tape[layer]
        torch.bmm(A, below.mT, out=tape["out.T"])
        return tape["out"]

    def backward(
        self, params: Parameters, X: Tensor, tape: Tape, slopes: Tensor, sums: Parameters, keep: float
    ) -> None:
        above = params["A"]
        values = [tape[layer] for layer in self.hidden]
        if "A" in sums:
            sums["A"].baddbmm_(slopes.mT, values[-1], beta=keep)
        if "W" not in sums:
            return
        inputs = [shared(X, len(above)), *values[:-1]]
        for name, layer, below in reversed(list(zip(self.inner, self.hidden, inputs, strict=True))):
            slopes = torch.bmm(slopes, above, out=tape[f"{layer} slopes"])
            pass_slopes(slopes, tape[layer][..., : self.width])
            add_outer(sums[name], slopes, below.mT, keep)
            if self.fixed_biases:
                sums[name][..., -1] = 0
            above = params[name][..., :-1]

    def gradient_factors(self, params: Parameters, X: Tensor) -> dict[str, tuple[OuterProduct, ...]]:
        above, bias = params["A"][0], 0.0 if self.fixed_biases else 1.0
        values = [part[0] for part in hidden_values(self, params, with_ones(X)).values()]
        slopes = output_slopes(above, len(X))
        factors: dict[str, tuple[OuterProduct, ...]] = {"A": (OuterProduct(slopes, values[-1]),)}
        for name, here, below in reversed(list(zip(self.inner, values, [X, *values[:-1]], strict=True))):
            slopes = active_slopes(slopes @ above, here)
            factors[name] = (OuterProduct(slopes, with_constant(below, bias)),)
            above = params[name][0][:, :-1]
        return factors


class TwoLayers(FullyConnected):
    """f = A σ(W(x, 1)) with W (m, d + 1), A (k, m) [beyond-two-layers, section 3]."""

    architecture = "2layer"
    inner = ("W",)
    hidden = ("first",)


class ThreeLayers(FullyConnected):
    """f = A σ(V(h, 1)) with h = σ(W(x, 1)) [beyond-two-layers, section 4].

    Parameters of each copy: W (m, d + 1), V (m, m + 1), A (k, m).
    """

    architecture = "3layer"
    inner = ("W", "V")
    hidden = ("first", "second")
