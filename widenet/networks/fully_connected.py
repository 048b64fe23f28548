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
    aligned,
    hidden_values,
    output_slopes,
    room,
    shared,
    with_constant,
    with_ones,
)
from widenet.networks.relu import active_slopes, pass_slopes, relu_


@dataclass(frozen=True)
class TwoLayers(Layered):
    """f = A σ(W(x, 1)) with W (m, d + 1), A (k, m) [beyond-two-layers, section 3].

    With `fixed_biases` the last column of W, the biases, stays as it was drawn, as in Algorithm 1.
    """

    architecture = "2layer"
    inner = ("W",)
    hidden = ("first",)

    fixed_biases: bool = False

    def shapes(self, d: int, k: int) -> dict[str, tuple[int, int]]:
        return {"W": (self.width, d + 1), "A": (k, self.width)}

    def tape(self, params: Parameters, b: int) -> Tape:
        A = params["A"]
        s, k, m = A.shape
        tape = {name: aligned(A, s, b, m) for name in ("first", "slopes")}
        tape["out.T"], tape["out"] = room(A, s, b, k)
        return tape

    def forward(self, params: Parameters, X: Tensor, tape: Tape) -> Tensor:
        A = params["A"]
        first = relu_(torch.bmm(shared(X, len(A)), params["W"].mT, out=tape["first"]))
        torch.bmm(A, first.mT, out=tape["out.T"])
        return tape["out"]

    def backward(
        self, params: Parameters, X: Tensor, tape: Tape, slopes: Tensor, sums: Parameters, keep: float
    ) -> None:
        A, first = params["A"], tape["first"]
        if "A" in sums:
            sums["A"].baddbmm_(slopes.mT, first, beta=keep)
        if "W" in sums:
            inner = pass_slopes(torch.bmm(slopes, A, out=tape["slopes"]), first)
            add_outer(sums["W"], inner, shared(X, len(A)).mT, keep)
            if self.fixed_biases:
                sums["W"][..., -1] = 0

    def gradient_factors(self, params: Parameters, X: Tensor) -> dict[str, tuple[OuterProduct, ...]]:
        A, bias = params["A"][0], 0.0 if self.fixed_biases else 1.0
        first = hidden_values(self, params, with_ones(X))["first"][0]
        return {
            "W": (OuterProduct(active_slopes(A, first), with_constant(X, bias)),),
            "A": (OuterProduct(output_slopes(A, len(X)), first),),
        }


@dataclass(frozen=True)
class ThreeLayers(Layered):
    """f = A σ(V(h, 1)) with h = σ(W(x, 1)) [beyond-two-layers, section 4].

    Parameters of each copy: W (m, d + 1), V (m, m + 1), A (k, m). With `fixed_biases` the last columns of W
    and V, the biases, stay as they were drawn, as in Algorithms 2 and 3.
    """

    architecture = "3layer"
    inner = ("W", "V")
    hidden = ("first", "second")

    fixed_biases: bool = False

    def shapes(self, d: int, k: int) -> dict[str, tuple[int, int]]:
        return {"W": (self.width, d + 1), "V": (self.width, self.width + 1), "A": (k, self.width)}

    def tape(self, params: Parameters, b: int) -> Tape:
        A = params["A"]
        s, k, m = A.shape
        tape = {name: aligned(A, s, b, m) for name in ("second", "slopes1", "slopes2")}
        tape["first"] = aligned(A, s, b, m + 1)  # with the column of ones that the biases of V multiply
        tape["out.T"], tape["out"] = room(A, s, b, k)
        return tape

    def forward(self, params: Parameters, X: Tensor, tape: Tape) -> Tensor:
        A = params["A"]
        relu_(torch.bmm(shared(X, len(A)), params["W"].mT, out=tape["first"][..., :-1]))
        second = relu_(torch.bmm(tape["first"], params["V"].mT, out=tape["second"]))
        torch.bmm(A, second.mT, out=tape["out.T"])
        return tape["out"]

    def backward(
        self, params: Parameters, X: Tensor, tape: Tape, slopes: Tensor, sums: Parameters, keep: float
    ) -> None:
        A, first, second = params["A"], tape["first"], tape["second"]
        if "A" in sums:
            sums["A"].baddbmm_(slopes.mT, second, beta=keep)
        if "W" not in sums:
            return
        slopes2 = pass_slopes(torch.bmm(slopes, A, out=tape["slopes2"]), second)
        add_outer(sums["V"], slopes2, first.mT, keep)
        slopes1 = torch.bmm(slopes2, params["V"][..., :-1], out=tape["slopes1"])
        add_outer(sums["W"], pass_slopes(slopes1, first[..., :-1]), shared(X, len(A)).mT, keep)
        if self.fixed_biases:
            sums["W"][..., -1] = 0
            sums["V"][..., -1] = 0

    def gradient_factors(self, params: Parameters, X: Tensor) -> dict[str, tuple[OuterProduct, ...]]:
        A, V, bias = params["A"][0], params["V"][0], 0.0 if self.fixed_biases else 1.0
        hidden = hidden_values(self, params, with_ones(X))
        first, second = hidden["first"][0], hidden["second"][0]
        slopes2 = active_slopes(A, second)
        slopes1 = active_slopes(slopes2 @ V[:, :-1], first)
        return {
            "W": (OuterProduct(slopes1, with_constant(X, bias)),),
            "V": (OuterProduct(slopes2, with_constant(first, bias)),),
            "A": (OuterProduct(output_slopes(A, len(X)), second),),
        }
