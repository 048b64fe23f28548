"""A network: two layers without an activation, f = A W(x, 1)."""

import torch
from torch import Tensor

from widenet.networks.network import Layered, Parameters, Tape, add_outer, aligned, room, shared, with_ones
from widenet.networks.tangent import OuterProduct


class LinearLayers(Layered):
    """f = A W(x, 1) with W (m, d + 1) and A (k, m)."""

    architecture = "2linear"
    inner = ("W",)
    hidden = ("first",)

    def shapes(self, d: int, k: int) -> dict[str, tuple[int, int]]:
        return {"W": (self.width, d + 1), "A": (k, self.width)}

    def tape(self, params: Parameters, b: int) -> Tape:
        s, k, m = params["A"].shape
        tape = {name: aligned(params["A"], s, b, m) for name in ("first", "slopes")}
        tape["out.T"], tape["out"] = room(params["A"], s, b, k)
        return tape

    def forward(self, params: Parameters, X: Tensor, tape: Tape) -> Tensor:
        A = params["A"]
        torch.bmm(shared(X, len(A)), params["W"].mT, out=tape["first"])
        torch.bmm(A, tape["first"].mT, out=tape["out.T"])
        return tape["out"]

    def backward(
        self, params: Parameters, X: Tensor, tape: Tape, slopes: Tensor, sums: Parameters, keep: float
    ) -> None:
        A = params["A"]
        if "A" in sums:
            sums["A"].baddbmm_(slopes.mT, tape["first"], beta=keep)
        if "W" in sums:
            add_outer(sums["W"], torch.bmm(slopes, A, out=tape["slopes"]), shared(X, len(A)).mT, keep)

    def gradient_factors(self, params: Parameters, X: Tensor) -> dict[str, tuple[OuterProduct, ...]]:
        """∂f by W is A ⊗ (x, 1), and by A it is I ⊗ W(x, 1)."""
        A, W, rows = params["A"][0], params["W"][0], with_ones(X)
        identity = torch.eye(len(A), dtype=A.dtype).expand(len(X), -1, -1)
        return {
            "W": (OuterProduct(A.expand(len(X), -1, -1), rows),),
            "A": (OuterProduct(identity, rows @ W.T),),
        }
