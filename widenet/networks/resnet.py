"""The three-layer residual network [resnet-beyond-kernels, section 2], in both parametrisations."""

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
    with_ones,
)
from widenet.networks.relu import active_slopes, pass_slopes, relu_


@dataclass(frozen=True)
class ResNet(Layered):
    """out₁ = A σ(W(x, 1)), out = out₁ + A σ(V(out₁, 1)) [resnet-beyond-kernels, section 6].

    Parameters of each copy: W (m, d + 1), V (m, k + 1), A (k, m). The matrices W and V of the paper are the
    distances from W⁽⁰⁾ and V⁽⁰⁾; here they are the weights themselves.
    """

    architecture = "3resnet"
    inner = ("W", "V")
    hidden = ("first", "second")

    def shapes(self, d: int, k: int) -> dict[str, tuple[int, int]]:
        return {"W": (self.width, d + 1), "V": (self.width, k + 1), "A": (k, self.width)}

    def tape(self, params: Parameters, b: int) -> Tape:
        A = params["A"]
        s, k, m = A.shape
        tape = {name: aligned(A, s, b, m) for name in ("first", "second", "slopes")}
        tape |= {f"{name}.T": values.mT for name, values in tape.items()}
        tape["out1.T"], tape["out1"] = room(A, s, b, k)
        tape["out.T"], tape["out"] = room(A, s, b, k)
        tape["inputs.T"], tape["inputs"] = room(A, s, b, k + 1)  # (out₁, 1), the inputs of V
        return tape

    def forward(self, params: Parameters, X: Tensor, tape: Tape) -> Tensor:
        A, inputs_T = params["A"], tape["inputs.T"]
        relu_(torch.bmm(shared(X, len(A)), params["W"].mT, out=tape["first"]))
        out1_T = torch.bmm(A, tape["first.T"], out=tape["out1.T"])
        inputs_T[:, :-1] = out1_T
        relu_(torch.bmm(tape["inputs"], params["V"].mT, out=tape["second"]))
        torch.baddbmm(out1_T, A, tape["second.T"], out=tape["out.T"])
        return tape["out"]

    def backward(
        self, params: Parameters, X: Tensor, tape: Tape, slopes: Tensor, sums: Parameters, keep: float
    ) -> None:
        A, first, second, slopes_T = params["A"], tape["first"], tape["second"], slopes.mT
        inner = pass_slopes(torch.bmm(slopes, A, out=tape["slopes"]), second)
        V_T = params["V"].mT[:, :-1]
        slopes1_T = torch.baddbmm(slopes_T, V_T, tape["slopes.T"], out=tape["out1.T"])
        if "V" in sums:
            add_outer(sums["V"], inner, tape["inputs.T"], keep)
        if "A" in sums:
            sums["A"].baddbmm_(slopes_T, second, beta=keep).baddbmm_(slopes1_T, first)
        if "W" in sums:
            inner = pass_slopes(torch.bmm(tape["out1"], A, out=tape["slopes"]), first)
            add_outer(sums["W"], inner, shared(X, len(A)).mT, keep)

    def gradient_factors(self, params: Parameters, X: Tensor) -> dict[str, tuple[OuterProduct, ...]]:
        """The gradient by A, which is used twice, is a sum of two outer products."""
        A, V, rows = params["A"][0], params["V"][0], with_ones(X)
        hidden = hidden_values(self, params, rows)
        first, second = hidden["first"][0], hidden["second"][0]
        slopes, slopes2 = output_slopes(A, len(X)), active_slopes(A, second)
        slopes_out1 = slopes + slopes2 @ V[:, :-1]
        return {
            "W": (OuterProduct(active_slopes(slopes_out1 @ A, first), rows),),
            "V": (OuterProduct(slopes2, with_ones(first @ A.T)),),
            "A": (OuterProduct(slopes, second), OuterProduct(slopes_out1, first)),
        }


@dataclass(frozen=True)
class GeneralResNet(Layered):
    """out = A(h + σ(U h + b₂)) with h = σ(W(x, 1)) [resnet-beyond-kernels, eq. (2.1)].

    Parameters of each copy: W (m, d + 1), U (m, m + 1) with b₂ as its last column, A (k, m). `ResNet` is the
    case U = V A.
    """

    architecture = "3resnet-general"
    inner = ("W", "U")
    hidden = ("first", "second")

    def tape(self, params: Parameters, b: int) -> Tape:
        return super().tape(params, b) | {"sum": aligned(params["A"], len(params["A"]), b, self.width)}

    def forward(self, params: Parameters, X: Tensor, tape: Tape) -> Tensor:
        A, first = params["A"], tape["first"][..., :-1]
        relu_(torch.bmm(shared(X, len(A)), params["W"].mT, out=first))
        second = relu_(torch.bmm(tape["first"], params["U"].mT, out=tape["second"]))
        torch.bmm(A, torch.add(first, second, out=tape["sum"]).mT, out=tape["out.T"])
        return tape["out"]

    def backward(
        self, params: Parameters, X: Tensor, tape: Tape, slopes: Tensor, sums: Parameters, keep: float
    ) -> None:
        A, first = params["A"], tape["first"]
        if "A" in sums:
            sums["A"].baddbmm_(slopes.mT, tape["sum"], beta=keep)
        if "W" not in sums:
            return
        both = torch.bmm(slopes, A, out=tape["first slopes"])
        inner = pass_slopes(tape["second slopes"].copy_(both), tape["second"])
        add_outer(sums["U"], inner, first.mT, keep)
        both.baddbmm_(inner, params["U"][..., :-1])
        add_outer(sums["W"], pass_slopes(both, first[..., :-1]), shared(X, len(A)).mT, keep)

    def gradient_factors(self, params: Parameters, X: Tensor) -> dict[str, tuple[OuterProduct, ...]]:
        A, U, rows = params["A"][0], params["U"][0], with_ones(X)
        hidden = hidden_values(self, params, rows)
        first, second = hidden["first"][0], hidden["second"][0]
        slopes2 = active_slopes(A, second)
        slopes1 = active_slopes(A + slopes2 @ U[:, :-1], first)
        return {
            "W": (OuterProduct(slopes1, rows),),
            "U": (OuterProduct(slopes2, with_ones(first)),),
            "A": (OuterProduct(output_slopes(A, len(X)), first + second),),
        }
